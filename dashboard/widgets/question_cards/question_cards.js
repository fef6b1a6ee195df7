// Cards that are a radio group: each holds a question, its answer and a small picture; the pressed one is outlined. The
// outline moves at once, and the server draws the figure.

const SVG = "http://www.w3.org/2000/svg";
const HEIGHT = 50; // pixels of a picture

function element(name, attributes = {}, text) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  if (text !== undefined) made.textContent = text;
  return made;
}

function path(points, width, closed) {
  const made = document.createElementNS(SVG, "path");
  const place = ([x, y]) => `${(x * width).toFixed(1)} ${((1 - y) * HEIGHT).toFixed(1)}`;
  const line = points.map(place).join("L");
  made.setAttribute("d", closed ? `M${place([points[0][0], 0])}L${line}L${place([points.at(-1)[0], 0])}Z` : `M${line}`);
  if (closed) made.setAttribute("class", "area");
  return made;
}

function picture(curves, width) {
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("width", width);
  svg.setAttribute("height", HEIGHT);
  svg.setAttribute("aria-hidden", "true");
  for (const { kind, filled, points } of curves) {
    const group = document.createElementNS(SVG, "g");
    group.setAttribute("class", kind);
    if (filled) group.append(path(points, width, true));
    if (!filled || kind !== "random") group.append(path(points, width, false));
    svg.append(group);
  }
  return svg;
}

export default function ({ data, parentElement: root, setStateValue }) {
  const group = root.querySelector(".cards");
  const { cards, at } = JSON.parse(data.json);
  const hadFocus = group.contains(group.getRootNode().activeElement);
  group.style.cssText = data.colours;
  const buttons = cards.map((card, index) => {
    const button = element("button", { type: "button", role: "radio", "data-part": card.part });
    button.append(
      element("span", { class: "q" }, `${index + 1} · ${card.question}`),
      element("span", { class: "a" }, card.answer),
      element("span", { class: "n" }, card.numbers),
      element("span", { class: "picture" }),
    );
    return button;
  });
  const press = (index, { focus = true, tell = true } = {}) => {
    buttons.forEach((button, other) => {
      button.setAttribute("aria-checked", other === index);
      button.tabIndex = other === index ? 0 : -1;
    });
    if (focus) buttons[index].focus();
    if (tell) setStateValue("part", cards[index].part);
  };
  buttons.forEach((button, index) => {
    button.onclick = () => press(index);
    button.onkeydown = (event) => {
      const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
      const target = step ? (index + step + cards.length) % cards.length : { Home: 0, End: cards.length - 1 }[event.key];
      if (event.key === " " || event.key === "Enter") press(index);
      else if (target === undefined) return;
      else press(target);
      event.preventDefault();
    };
  });
  group.replaceChildren(...buttons);
  press(cards.findIndex((card) => card.part === at), { focus: hadFocus, tell: false });
  const draw = () => {
    buttons.forEach((button, index) => {
      const place = button.querySelector(".picture");
      const width = place.clientWidth;
      if (width) place.replaceChildren(picture(cards[index].curves, width));
    });
  };
  draw();
  const observer = new ResizeObserver(draw);
  observer.observe(group);
  return () => observer.disconnect();
}
