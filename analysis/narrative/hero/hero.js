// Concatenating becomes adding, in five stages: concatenate, split the matrix, tie its blocks, add, and what training
// makes of it. Everything is drawn here, in the browser, at each move of the slider.

const CELL = 17;
const WIDTH = 540; // of the drawing, in its own units
const MIDDLE = 104;
const SVG = "http://www.w3.org/2000/svg";

// Where each part stands at each stage: its left edge, columns and rows in cells, and its top edge (null: centred).
const PARTS = {
  wordBlock: [[26, 8, 6], [14, 8, 6], [8, 8, 6], [96, 8, 6], [110, 6, 6]],
  positionBlock: [[26 + 8 * CELL, 4, 6], [222, 4, 6], [222, 8, 6], [96, 8, 6], [110 + 6 * CELL, 2, 6]],
  word: [[262, 1, 8, MIDDLE - 102], [164, 1, 8], [158, 1, 8], [258, 1, 8], [276, 1, 6, MIDDLE - 68]],
  position: [[262, 1, 4, MIDDLE - 102 + 8 * CELL], [320, 1, 4], [372, 1, 8], [322, 1, 8], [276, 1, 2, MIDDLE - 68 + 6 * CELL]],
  query: [[352, 1, 6], [400, 1, 6], [440, 1, 6], [412, 1, 6], [404, 1, 6]],
};
// Signs between the parts: their place and whether they are seen, at each stage.
const SIGNS = {
  "·": [[246, 1], [150.5, 0], [144, 0], [240, 0], [260, 1]],
  "+": [[195, 0], [198, 1], [196, 1], [298, 1], [298, 0]],
  "=": [[318, 1], [366, 1], [412, 1], [378, 1], [346, 1]],
  "(": [[250, 0], [150, 0], [150, 0], [249, 1], [270, 0]],
  ")": [[300, 0], [330, 0], [400, 0], [350, 1], [330, 0]],
};
const OWN_BLOCKS = [1, 1, 0, 0, 1]; // whether each part has a block of its own

const between = (a, b, t) => a + (b - a) * t;
const eased = (t) => t * t * (3 - 2 * t);
const parts = (hex) => [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16));
const blend = (a, b, t) => {
  const [from, to] = [parts(a), parts(b)];
  return `rgb(${from.map((v, i) => Math.round(between(v, to[i], t))).join()})`;
};
// A fixed shade for every cell, so that a block looks like a matrix of numbers.
const shade = (i, j, seed) => 0.45 + 0.55 * Math.abs(Math.sin(12.9898 * i + 78.233 * j + seed));

function element(parent, name, attributes, text) {
  const made = parent.ownerDocument.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  if (text !== undefined) made.textContent = text;
  parent.appendChild(made);
  return made;
}

function cells(svg, x, y, columns, rows, fill, seed, opacity = 1) {
  for (let i = 0; i < Math.ceil(rows - 1e-6); i++)
    for (let j = 0; j < Math.ceil(columns - 1e-6); j++) {
      const width = Math.max(0, Math.min(1, columns - j) * CELL - 1.5);
      const height = Math.max(0, Math.min(1, rows - i) * CELL - 1.5);
      element(svg, "rect", {
        x: x + j * CELL + 0.75, y: y + i * CELL + 0.75, width, height, rx: 2, fill, opacity: opacity * shade(i, j, seed),
      });
    }
}

function draw(root, stages, at) {
  const figure = root.querySelector("figure");
  const svg = root.querySelector("svg");
  const colour = (name) => getComputedStyle(figure).getPropertyValue(`--${name}`).trim();
  // The picture is as wide as its place; on a phone its letters would shrink with it.
  const size = Math.min(20, Math.max(13, (12.5 * WIDTH) / (svg.clientWidth || WIDTH)));
  const label = (x, y, text, fill, opacity) => {
    if (opacity > 0.02) element(svg, "text", { x, y, "text-anchor": "middle", "font-size": size, opacity, style: `fill:${fill}` }, text);
  };
  const stage = Math.min(3, Math.floor(at));
  const t = eased(at - stage);
  const value = (name, i) => between(PARTS[name][stage][i], PARTS[name][stage + 1][i], t);
  const top = (name) => {
    const one = (place) => place[3] ?? MIDDLE - (place[2] * CELL) / 2;
    return between(one(PARTS[name][stage]), one(PARTS[name][stage + 1]), t);
  };
  svg.replaceChildren();
  const own = between(OWN_BLOCKS[stage], OWN_BLOCKS[stage + 1], t);
  const blocks = MIDDLE - 3 * CELL;
  const second = stage === 2 ? 1 - t : stage === 3 ? t : 1; // the tied second block slides under the first
  cells(svg, value("wordBlock", 0), blocks, value("wordBlock", 1), 6, blend(colour("soft"), colour("word"), own), 1);
  cells(svg, value("positionBlock", 0), blocks, value("positionBlock", 1), 6,
    blend(colour("soft"), colour("position"), own), own > 0.5 ? 2 : 1, second);
  cells(svg, value("word", 0), top("word"), 1, value("word", 2), colour("word"), 3);
  cells(svg, value("position", 0), top("position"), 1, value("position", 2), colour("position"), 4);
  cells(svg, value("query", 0), blocks, 1, 6, colour("ink"), 5, 0.8);
  for (const [sign, places] of Object.entries(SIGNS)) {
    const opacity = between(places[stage][1], places[stage + 1][1], t);
    const bracket = sign === "(" || sign === ")";
    if (opacity > 0.02)
      element(svg, "text", {
        x: between(places[stage][0], places[stage + 1][0], t), y: MIDDLE + (bracket ? 10 : 7),
        "text-anchor": "middle", "font-size": bracket ? 34 : 22, opacity,
      }, sign);
  }
  const below = blocks + 6 * CELL + 4 + size;
  label(value("wordBlock", 0) + (value("wordBlock", 1) * CELL) / 2, below, own > 0.5 ? "W₁" : "W",
    colour(own > 0.5 ? "word" : "soft"), 1);
  label(value("positionBlock", 0) + (value("positionBlock", 1) * CELL) / 2, below, own > 0.5 ? "W₂" : "W",
    colour(own > 0.5 ? "position" : "soft"), second);
  const stacked = stage === 0 ? 1 - t : stage === 3 ? t : 0;
  // Stacked, the word's name stands beside its column, where there is room; else above it.
  label(value("word", 0) + CELL / 2 - stacked * 36, between(top("word") - 6, top("word") + 14, stacked), "word", colour("word"), 1);
  label(value("position", 0) + CELL / 2, between(top("position") - 6, top("position") + value("position", 2) * CELL + size + 1, stacked),
    "position", colour("position"), 1);
  const now = Math.round(at);
  const shown = stages[now];
  label(value("query", 0) + CELL / 2, below, "query", colour("soft"), 1);
  const fill = shown.note.startsWith("=") ? colour("good") : colour("ink");
  // In the last stage the position's name stands where the note would.
  label(value("query", 0) + CELL / 2, below + 6 + size * (1 + Math.max(0, at - 3)), shown.note, fill, Math.max(0, 1 - 4 * Math.abs(at - now)));
  if (figure.dataset.stage !== String(now)) {
    figure.dataset.stage = now;
    root.querySelector(".stage b").textContent = shown.name;
    root.querySelector(".stage span").textContent = `query = ${shown.formula}`;
    root.querySelector(".says").textContent = shown.says;
    root.querySelectorAll("button").forEach((button, i) => button.setAttribute("aria-pressed", i === now));
    root.querySelector("input").setAttribute("aria-valuetext", shown.name);
  }
}

export default function ({ data, parentElement: root }) {
  const figure = root.querySelector("figure");
  const slider = root.querySelector("input");
  const buttons = root.querySelector(".stages");
  const { stages } = JSON.parse(data.json);
  figure.style.cssText = data.colours;
  delete figure.dataset.stage;
  // The stage is in the address, so that a link opens it.
  const named = stages.map((stage) => stage.label.toLowerCase().replaceAll(" ", "-"));
  const keep = (stage) => {
    const address = new URL(location.href);
    address.searchParams.set("stage", named[stage]);
    history.replaceState(history.state, "", address);
  };
  const asked = named.indexOf(new URLSearchParams(location.search).get("stage"));
  if (asked > 0) slider.value = asked;
  let target = null;
  const step = () => {
    if (target === null) return;
    const left = target - slider.value;
    slider.value = Math.abs(left) < 0.012 ? target : +slider.value + Math.sign(left) * Math.min(0.03, Math.abs(left));
    if (+slider.value === target) target = null;
    draw(root, stages, +slider.value);
    requestAnimationFrame(step);
  };
  const go = (stage) => {
    keep(stage);
    if (matchMedia("(prefers-reduced-motion: reduce)").matches) {
      slider.value = stage;
      draw(root, stages, stage);
      return;
    }
    target = stage;
    requestAnimationFrame(step);
  };
  const keepHeight = (place, texts) => {
    for (const old of place.parentElement.querySelectorAll(".unseen")) old.remove();
    for (const text of texts) {
      const copy = document.createElement("p");
      copy.className = `${place.className} unseen`.replace("says", "says-size").replace("stage", "stage-size");
      copy.setAttribute("aria-hidden", "true");
      copy.append(...text);
      place.after(copy);
    }
  };
  const bold = (text) => Object.assign(document.createElement("b"), { textContent: text });
  keepHeight(root.querySelector(".stage"), stages.map((stage) => [bold(stage.name), ` query = ${stage.formula}`]));
  keepHeight(root.querySelector(".says"), stages.map((stage) => [stage.says]));
  buttons.replaceChildren(
    ...stages.map((stage, i) => {
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = stage.label;
      button.onclick = () => go(i);
      return button;
    }),
  );
  slider.oninput = () => {
    target = null;
    draw(root, stages, +slider.value);
  };
  slider.onchange = () => keep(Math.round(+slider.value));
  // With the arrow keys a reader goes from stage to stage.
  slider.onkeydown = (event) => {
    const by = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1 }[event.key];
    if (!by) return;
    event.preventDefault();
    go(Math.max(0, Math.min(stages.length - 1, Math.round(target ?? +slider.value) + by)));
  };
  draw(root, stages, +slider.value);
  return () => {
    target = null;
  };
}
