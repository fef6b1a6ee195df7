// A sentence is moved to later positions, and one head's attention follows. Everything is drawn here, in the browser, at
// each move of the slider, from patterns that were computed beforehand.

const CELL = 22;
const LEFT = 74;
const TOP = 74;
const NARROW = 520; // pixels, below which the line stands under the cells
const WIDE_LINE = { left: 430, right: 624, top: 150, bottom: 300 };
const NARROW_LINE = { left: 74, right: 358, top: 460, bottom: 560 };
const SVG = "http://www.w3.org/2000/svg";

function element(parent, name, attributes, text) {
  const made = parent.ownerDocument.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  if (text !== undefined) made.textContent = text;
  parent.appendChild(made);
  return made;
}

const percent = (share) => `${(100 * share).toFixed(1)} %`;

// What does not move: the tokens' names and the axes.
function frame(svg, picture, narrow) {
  const { tokens, shifts, changes } = picture;
  svg.setAttribute("viewBox", narrow ? "0 0 366 590" : "0 0 640 404");
  svg.replaceChildren();
  tokens.forEach((token, i) => {
    const at = i * CELL + CELL / 2;
    element(svg, "text", { x: LEFT - 8, y: TOP + at + 5, "text-anchor": "end", "font-size": 14 }, token);
    element(svg, "text", {
      x: 0, y: 0, "font-size": 14, transform: `translate(${LEFT + at + 5} ${TOP - 8}) rotate(-90)`,
    }, token);
  });
  const below = TOP + tokens.length * CELL + 22;
  const hint = ["rows attend to columns;", "the stronger the colour, the more"];
  (narrow ? hint : [hint.join(" ")]).forEach((text, i) => {
    element(svg, "text", { x: LEFT, y: below + 18 * i, "font-size": 14, class: "soft" }, text);
  });
  const { left, right, top, bottom } = narrow ? NARROW_LINE : WIDE_LINE;
  const most = Math.ceil(20 * Math.max(...changes)) / 20 || 0.05;
  const x = (shift) => left + ((right - left) * shift) / shifts.at(-1);
  const y = (change) => bottom - ((bottom - top) * change) / most;
  element(svg, "path", { d: `M${left} ${top}V${bottom}H${right}`, fill: "none", class: "axis" });
  element(svg, "text", { x: left, y: top - 30, "font-size": 14 }, "attention that went");
  element(svg, "text", { x: left, y: top - 12, "font-size": 14 }, "elsewhere since shift 0");
  element(svg, "text", { x: left - 6, y: top + 5, "font-size": 14, "text-anchor": "end" }, `${Math.round(100 * most)} %`);
  element(svg, "text", { x: left - 6, y: bottom + 5, "font-size": 14, "text-anchor": "end" }, "0 %");
  element(svg, "text", { x: left, y: bottom + 20, "font-size": 14, "text-anchor": "middle" }, "0");
  element(svg, "text", { x: right, y: bottom + 20, "font-size": 14, "text-anchor": "end" }, `shift ${shifts.at(-1)}`);
  const line = changes.map((change, i) => `${i ? "L" : "M"}${x(shifts[i])} ${y(change)}`).join("");
  element(svg, "path", { d: line, fill: "none", class: "line" });
  return { x, y, dot: element(svg, "circle", { r: 5, class: "dot" }) };
}

export default function ({ data, parentElement: root }) {
  const figure = root.querySelector("figure");
  const svg = root.querySelector("svg");
  const slider = root.querySelector("input");
  const picture = JSON.parse(data.json);
  const { tokens, shifts, patterns, changes, head } = picture;
  figure.style.cssText = data.colours;
  slider.max = shifts.length - 1;
  const { x, y, dot } = frame(svg, picture, figure.clientWidth < NARROW);
  const cells = tokens.flatMap((_row, i) =>
    tokens.map((_column, j) => {
      const cell = element(svg, "rect", {
        x: LEFT + j * CELL + 1, y: TOP + i * CELL + 1, width: CELL - 2, height: CELL - 2, rx: 2, class: "cell",
      });
      element(cell, "title", {});
      return cell;
    }),
  );
  const most = Math.max(...patterns.flat()) / 1000;
  const draw = () => {
    const now = +slider.value;
    const count = tokens.length;
    cells.forEach((cell, i) => {
      const share = patterns[now][i] / 1000;
      cell.setAttribute("fill-opacity", 0.03 + 0.97 * (share / most));
      cell.firstChild.textContent = `${tokens[Math.floor(i / count)]} to ${tokens[i % count]}: ${percent(share)}`;
    });
    dot.setAttribute("cx", x(shifts[now]));
    dot.setAttribute("cy", y(changes[now]));
    const [first, last] = [shifts[now], shifts[now] + count - 1];
    root.querySelector(".stage b").textContent = `Positions ${first} to ${last}`;
    root.querySelector(".stage span").textContent = `head ${head} of the first layer`;
    root.querySelector(".says").textContent = now
      ? `The words and their order are the same; ${percent(changes[now])} of the attention goes elsewhere.`
      : "Drag the sentence to later positions. If attention knew distances alone, nothing would change.";
    slider.setAttribute("aria-valuetext", `positions ${first} to ${last}`);
    figure.dataset.shift = shifts[now];
  };
  slider.oninput = draw;
  draw();
}
