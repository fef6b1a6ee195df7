// The board of ways to tell a position: a button a row, whose cells are drawn at true pixels, again for every width.
// A press opens a row below this part of the board; the server draws what it holds.

const SVG = "http://www.w3.org/2000/svg";
const ROW = 48; // pixels of a cell
const AXIS = 34; // pixels of an axis in the head
const LOSS = { low: -0.62, high: 0.42, ticks: [-0.4, 0, 0.4] };
const RISE = { low: 0, high: 2.8, ticks: [0, 1, 2] };
const VALUE = 52; // pixels for a printed value

const sign = (value, digits = 2) => {
  const text = Math.abs(value).toFixed(digits);
  return (Number(text) === 0 ? "" : value > 0 ? "+" : "−") + text;
};
const times = (value) => (value === null ? "" : `× ${value.toFixed(2)}`);

function html(name, attributes = {}, text) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  if (text !== undefined) made.textContent = text;
  return made;
}

function mark(parent, name, attributes, text) {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  if (text !== undefined) made.textContent = text;
  parent.append(made);
  return made;
}

function canvas(host, height) {
  const width = host.clientWidth;
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("width", width);
  svg.setAttribute("height", height);
  svg.setAttribute("aria-hidden", "true");
  host.replaceChildren(svg);
  return [svg, width];
}

const scale = ({ low, high }, width) => (value) =>
  8 + ((Math.min(high, Math.max(low, value)) - low) / (high - low)) * (width - VALUE - 16);

function grid(svg, axis, width, height) {
  const x = scale(axis, width);
  for (const tick of axis.ticks) {
    const zero = tick === axis.zero;
    mark(svg, "line", { x1: x(tick), x2: x(tick), y1: 0, y2: height, stroke: zero ? "var(--soft)" : "var(--line)" });
  }
  return x;
}

function missing(svg) {
  mark(svg, "text", { x: 8, y: ROW / 2 + 4, class: "soft" }, "not measured");
}

function dot(svg, x, ring, colour) {
  mark(svg, "circle", { cx: x, cy: ROW / 2, r: 5, fill: ring ? "var(--ground)" : colour, stroke: colour, "stroke-width": 2 });
}

function value(svg, width, text, strong) {
  mark(svg, "text", { x: width - 2, y: ROW / 2 + 4, "text-anchor": "end", class: strong ? "strong" : "soft" }, text);
}

function drawLoss(host, row) {
  const [svg, width] = canvas(host, ROW);
  if (!row.loss && !row.baseline) return missing(svg);
  const x = grid(svg, { ...LOSS, zero: 0 }, width, ROW);
  if (row.baseline) {
    mark(svg, "path", { d: `M${x(0)} ${ROW / 2 - 7}l7 7l-7 7l-7 -7z`, fill: "var(--ink)" });
    return value(svg, width, "0", true);
  }
  const { value: mean, low, high, ring } = row.loss;
  const colour = !ring && high !== null && high < 0 ? "var(--accent)" : "var(--ink)";
  if (low !== null) {
    const bar = { y1: ROW / 2, y2: ROW / 2, stroke: colour, "stroke-width": 2, opacity: 0.55 };
    mark(svg, "line", { x1: x(low), x2: x(high), ...bar });
  }
  if (mean > LOSS.high) mark(svg, "path", { d: `M${x(LOSS.high) - 8} ${ROW / 2 - 5}l8 5l-8 5z`, fill: colour });
  else dot(svg, x(mean), ring, colour);
  value(svg, width, sign(mean), !ring);
}

function drawRise(host, row) {
  const [svg, width] = canvas(host, ROW);
  if (!row.rise) return missing(svg);
  const x = grid(svg, { ...RISE, zero: 0 }, width, ROW);
  const { value: mean, ring } = row.rise;
  const line = { y1: ROW / 2, y2: ROW / 2, stroke: "var(--soft)", "stroke-width": 1.5 };
  mark(svg, "line", { x1: x(0), x2: x(mean), ...line });
  dot(svg, x(mean), ring, "var(--ink)");
  value(svg, width, sign(mean), !ring);
}

function drawCost(host, row, axis) {
  const [svg, width] = canvas(host, ROW);
  const x = grid(svg, { ...axis, zero: 1 }, width, ROW);
  const upper = ROW / 2 - 15;
  const middle = ROW / 2;
  const lower = ROW / 2 + 15;
  mark(svg, "rect", { x: x(row.parameters) - 4, y: upper - 4, width: 8, height: 8, fill: "var(--ink)" });
  mark(svg, "path", { d: `M${x(row.products)} ${middle - 5}l5 9h-10z`, fill: "var(--ink)" });
  const place = { "text-anchor": "end", class: "soft" };
  if (row.time !== null) mark(svg, "circle", { cx: x(row.time), cy: lower, r: 4, fill: "var(--soft)" });
  mark(svg, "text", { x: width - 2, y: upper + 4, ...place }, times(row.parameters));
  mark(svg, "text", { x: width - 2, y: middle + 4, ...place }, times(row.products));
  mark(svg, "text", { x: width - 2, y: lower + 4, ...place }, row.time === null ? "–" : times(row.time));
}

function drawAxis(host, axis, label, digits) {
  const [svg, width] = canvas(host, AXIS);
  const x = scale(axis, width);
  mark(svg, "text", { x: 2, y: 12, style: "fill: var(--accent)" }, label);
  for (const tick of axis.ticks) {
    const text = axis.times ? `× ${tick}` : tick === 0 ? "0" : sign(tick, digits);
    mark(svg, "text", { x: x(tick), y: AXIS - 4, "text-anchor": "middle", class: "soft" }, text);
  }
}

function spoken(row, needs) {
  const ticks = needs.map((need, index) => `${need.title}: ${row.ticks[index] ? "yes" : "no"}`).join("; ");
  const number = (name, found) => (found ? `${name} ${sign(found.value)}, ${found.note}` : `${name} not measured`);
  const loss = row.baseline ? "the baseline of losses" : number("loss", row.loss);
  const cost = `parameters ${times(row.parameters)}, arithmetic ${times(row.products)}`;
  const time = row.time === null ? "time not measured" : `time ${times(row.time)}`;
  return `${row.title}. ${row.users}. ${ticks}. ${loss}. ${number("rise on longer texts", row.rise)}. ${cost}, ${time}.`;
}

function cells(row, needs, asked) {
  const name = html("span", { class: "name" });
  name.append(html("b", {}, row.title), html("small", {}, row.users));
  const ticks = html("span", { class: "ticks" });
  needs.forEach((need, index) => {
    const kind = `${row.ticks[index] ? "yes" : "no"}${asked.includes(need.name) ? " asked" : ""}`;
    ticks.append(html("span", { class: kind, "data-short": need.short }, row.ticks[index] ? "✓" : "–"));
  });
  const drawn = ["loss", "rise", "cost"].map((kind) => html("span", { class: kind }));
  return [name, ticks, ...drawn];
}

export default function ({ data, parentElement: root, setTriggerValue }) {
  const board = root.querySelector(".board");
  const { rows, needs, asked, open, heading, lacking, cost, contradicted } = JSON.parse(data.json);
  board.style.cssText = `${data.colours} --contradicted: ${contradicted};`;
  const parts = [];
  const redraw = [];
  if (heading) {
    const head = html("div", { class: "t head" });
    const columns = ["Loss in training, nats", "Rise at 4 × the length, nats", "Cost at your size"];
    const ticks = html("span", { class: "ticks" });
    for (const need of needs) ticks.append(html("span", { title: need.title }, need.short));
    const able = html("span");
    able.append(html("b", {}, "What it can do"), ticks);
    head.append(html("span", {}, "press a row for its pictures and its code"), able);
    const axes = columns.map((title) => {
      const column = html("span");
      const place = html("span", { style: "display: block" });
      column.append(html("b", {}, title), place);
      head.append(column);
      return place;
    });
    redraw.push(() => {
      drawAxis(axes[0], LOSS, "← better than added", 1);
      drawAxis(axes[1], RISE, "← better", 0);
      drawAxis(axes[2], { ...cost, times: true }, "■ parameters ▲ arithmetic ● time");
    });
    const small = "Left: loss in training less that of learned, added positions; right: its rise at 4 × the length. Below: parameters ■, arithmetic ▲, time ●.";
    parts.push(head, html("div", { class: "phone" }, small));
  }
  rows.forEach((row, index) => {
    if (lacking === index) parts.push(html("div", { class: "group" }, "Lack something that you ticked"));
    const expanded = row.name === open;
    const label = { type: "button", "aria-expanded": expanded, "aria-label": spoken(row, needs), "data-row": row.name };
    const button = html("button", { class: `t${row.lacks.length ? " out" : ""}`, ...label });
    const made = cells(row, needs, asked);
    button.append(...made);
    if (row.loss) made[2].title = row.loss.note;
    if (row.rise) made[3].title = row.rise.note;
    button.onclick = () => {
      button.setAttribute("aria-expanded", !expanded);
      setTriggerValue("row", expanded ? "" : row.name);
    };
    redraw.push(() => {
      drawLoss(made[2], row);
      drawRise(made[3], row);
      drawCost(made[4], row, cost);
    });
    parts.push(button);
  });
  board.replaceChildren(...parts);
  const draw = () => board.clientWidth && redraw.forEach((one) => one());
  draw();
  let width = board.clientWidth;
  const observer = new ResizeObserver(() => {
    if (board.clientWidth === width) return;
    width = board.clientWidth;
    draw();
  });
  observer.observe(board);
  return () => observer.disconnect();
}
