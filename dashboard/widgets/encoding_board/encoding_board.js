// The board of ways to tell a position: a button a row, whose cells are drawn at true pixels, again for every width.
// A press opens a row below this part of the board; the server draws what it holds.

const ROW = 48; // pixels of a cell
const AXIS = 34; // pixels of an axis above its cells
const WORDS = 24; // pixels of a cell that holds words alone, on a narrow board
const NARROW = 860; // the width up to which a board is narrow
const VALUE = 52; // pixels for a printed value
const SPAN = 76; // pixels for a printed cost, which may be a range

const times = (value) => (value === null ? "" : `× ${value.toFixed(2)}`);

const scale = ({ low, high, room = VALUE }, width) => (value) =>
  8 + ((Math.min(high, Math.max(low, value)) - low) / (high - low)) * (width - room - 16);

function grid(svg, axis, width, height) {
  const x = scale(axis, width);
  for (const tick of axis.ticks) line(svg, x(tick), 0, x(tick), height, tick === axis.zero ? "var(--soft)" : "var(--line)", { class: "tick" });
  return x;
}

// In place of a number that the chosen recipe did not give: what there is instead.
function missing(svg, words = "not measured") {
  mark(svg, "text", { x: 8, y: +svg.getAttribute("height") / 2 + 4, class: "soft" }, words);
}

function dot(svg, x, ring, colour) {
  mark(svg, "circle", { cx: x, cy: ROW / 2, r: 5, fill: ring ? "var(--ground)" : colour, stroke: colour, "stroke-width": 2 });
}

// An interval, whose ends stand out above and below the dot, behind which a short one would hide.
function interval(svg, x, axis, low, high, colour) {
  const y = ROW / 2;
  line(svg, x(low), y, x(high), y, colour, { "stroke-width": 2, opacity: 0.55 });
  for (const end of [low, high]) {
    if (end > axis.low && end < axis.high) line(svg, x(end), y - 9, x(end), y + 9, colour, { "stroke-width": 1.5, opacity: 0.75 });
  }
}

// A triangle at an end of the axis: the value, or the end of its interval, lies beyond. inward: the way to the axis.
function beyond(svg, x, inward, colour, y = ROW / 2) {
  mark(svg, "path", { d: `M${x + 8 * inward} ${y - 5}l${-8 * inward} 5l${8 * inward} 5z`, fill: colour, class: "beyond" });
}

// A printed value; below it a line or two: the few seeds of a ring, that it is open, another recipe.
function value(svg, width, text, few = "", weight = few ? "soft" : "strong") {
  const y = ROW / 2;
  const place = { x: width - 2, "text-anchor": "end" };
  const below = few ? few.split("\n") : [];
  const first = y + 4 - 7 * below.length + (below.length === 1 ? 1 : 0);
  // No line of the grid runs through the words; all other marks stay above their ground.
  const write = (y, kind, words) => {
    const box = mark(svg, "rect", { class: "behind" });
    const { x, y: top, width, height } = mark(svg, "text", { ...place, y, class: kind }, words).getBBox();
    filled(box, { x: x - 2, y: top, width, height }, []);
    [...svg.querySelectorAll(".tick")].at(-1)?.after(box);
  };
  write(first, weight, text);
  below.forEach((line, index) => write(first + 15 * (index + 1), "soft", line));
}

function drawLoss(svg, width, row, LOSS) {
  if (!row.loss && !row.baseline) return missing(svg, untrained(row) ? "not trained" : undefined);
  if (row.loss?.elsewhere) return missing(svg, row.loss.elsewhere);
  const x = grid(svg, { ...LOSS, zero: 0 }, width, ROW);
  if (row.baseline) {
    diamond(svg, x(0), ROW / 2);
    return value(svg, width, "0");
  }
  const { value: mean, low, high, few, undecided, why, recipe } = row.loss;
  const [colour, y] = ["var(--ink)", ROW / 2];
  if (low !== null) interval(svg, x, LOSS, low, high, colour);
  if (low !== null && low < LOSS.low) beyond(svg, x(LOSS.low), 1, colour);
  const ring = few || undecided;
  const standing = few || [undecided ? why : "", row.tied ? "tied first" : ""].filter(Boolean).join("\n");
  const said = [standing, few || !recipe ? "" : "another recipe"].filter(Boolean).join("\n");
  // Words below the value reach as far as the end of the axis; the value does not.
  const level = mean > LOSS.high ? y - 7 * said.split("\n").filter(Boolean).length : y;
  if (Math.max(mean, high ?? mean) > LOSS.high) beyond(svg, x(LOSS.high), -1, colour, level);
  if (mean <= LOSS.high) dot(svg, x(mean), ring, colour);
  value(svg, width, signed(mean), said, ring ? "soft" : "strong");
}

function drawLonger(svg, width, row, axis) {
  if (!row.longer) return untrained(row) ? undefined : missing(svg);
  // The words beside it, in the column of losses, are of the whole row.
  if (row.longer.elsewhere) return row.loss?.elsewhere ? undefined : missing(svg, row.longer.elsewhere);
  const x = grid(svg, { ...axis, zero: 0 }, width, ROW);
  const { value: mean, low, high, few } = row.longer;
  if (low !== null) interval(svg, x, axis, low, high, "var(--ink)");
  if (mean > axis.high) beyond(svg, x(axis.high), -1, "var(--ink)");
  else dot(svg, x(mean), few, "var(--ink)");
  value(svg, width, signed(mean), row.untrained ? "untrained" : few, few ? "soft" : "strong");
}

const COSTS = { parameters: "parameters", products: "arithmetic" };

// The costs at the reader's size that differ from those of added positions in the digits that are printed, in words.
function costs(row) {
  if (row.baseline) return ["others are", "compared with it"];
  const differing = Object.keys(COSTS).filter((kind) => row[kind].toFixed(2) !== "1.00");
  return differing.length ? differing.map((kind) => `${times(row[kind])} ${COSTS[kind]}`) : ["as added"];
}

function drawCost(svg, width, row) {
  const said = costs(row);
  said.forEach((words, index) =>
    mark(svg, "text", { x: 2, y: ROW / 2 + 4 + 15 * (index - (said.length - 1) / 2), class: row.baseline || words === "as added" ? "soft" : "" }, words));
}

const timeInWords = (row) => (row.baseline ? "× 1" : row.times.length ? `× ${row.timed}` : "not measured");

function drawTime(svg, width, row, axis) {
  if (!row.times.length && !row.baseline) return missing(svg, "not timed");
  const x = grid(svg, { ...axis, zero: 1 }, width, ROW);
  const y = ROW / 2;
  if (row.baseline) diamond(svg, x(1), y);
  else {
    line(svg, x(Math.min(...row.times)), y, x(Math.max(...row.times)), y, "var(--ink)", { "stroke-width": 3 });
    mark(svg, "circle", { cx: x(row.times[0]), cy: y, r: 4, fill: "var(--ink)" });
  }
  mark(svg, "text", { x: width - 2, y: y + 4, "text-anchor": "end", class: "soft" }, timeInWords(row));
}

function drawTicks(svg, width, axis, digits, y) {
  const x = scale(axis, width);
  for (const tick of axis.ticks) {
    const text = axis.times ? `× ${tick}` : tick === 0 ? "0" : signed(tick, digits);
    mark(svg, "text", { x: x(tick), y, "text-anchor": "middle", class: "soft" }, text);
  }
}

// A line that says how an axis is read, above its ticks.
function drawAxis(svg, width, axis, text, digits) {
  mark(svg, "text", { x: 2, y: 12, class: "soft" }, text);
  drawTicks(svg, width, axis, digits, AXIS - 4);
}

// The costs and the time in words, for a narrow board; before them, what there is in place of a loss.
function writeCost(svg, row) {
  const size = costs(row).join(row.baseline ? " " : " · ");
  const instead = untrained(row) ? "not trained" : row.loss?.elsewhere;
  const words = [instead, size === "as added" ? "size as added" : size];
  if (!row.baseline && !(instead && !row.times.length)) words.push(`time ${timeInWords(row)}`);
  missing(svg, words.filter(Boolean).join(" · "));
}

const untrained = (row) => !row.loss && !row.longer && !row.baseline;

function spoken(row, needs) {
  const ticks = needs.map((need, index) => `${need.title}: ${row.partly[index] ? "in part" : row.ticks[index] ? "yes" : "no"}`).join("; ");
  const number = (name, found) => (found ? `${name} ${signed(found.value)}, ${found.note}` : `${name} not measured`);
  const loss = row.baseline ? "the baseline of losses" : number("loss", row.loss);
  const cost = `parameters ${times(row.parameters)}, arithmetic ${times(row.products)}`;
  const open = row.loss?.undecided ? ` By the rules: ${row.loss.why}.` : "";
  const worse = open || (row.worse ? " Learns worse than added positions." : "");
  return `${row.title}. ${row.users}. ${ticks}. ${loss}.${worse} ${number("loss on longer texts", row.longer)}. ${cost}, time ${timeInWords(row)}.`;
}

// A name in brackets at the end of a title, such as (TUPE-A), is not broken at its hyphen.
function unbroken(title) {
  const [, words, name] = /^(.*?)(\([^()]*\))?$/.exec(title);
  return name ? [words, make("span", { style: "white-space: nowrap" }, name)] : [words];
}

function cells(row, needs, asked) {
  const ticks = needs.map((need, index) => {
    const kind = `${row.ticks[index] ? "yes" : "no"}${asked.includes(need.name) ? " asked" : ""}`;
    return make("span", { class: kind, "data-short": need.short }, row.partly[index] ? "(✓)" : row.ticks[index] ? "✓" : "–");
  });
  return [
    make("span", { class: "name" }, make("b", {}, ...unbroken(row.title)), make("small", {}, row.users)),
    make("span", { class: "ticks" }, ...ticks),
    ...["loss", "longer", "cost", "time"].map((kind) => make("span", { class: kind })),
  ];
}

export default function ({ data, parentElement: root, setTriggerValue }) {
  const board = root.querySelector(".board");
  const { rows, needs, asked, open, heading, lacking, time, size, timed, trained, longer, zero, axes, contradicted } = JSON.parse(data.json);
  board.style.cssText = `${data.colours} --contradicted: ${contradicted};`;
  const parts = [];
  const drawings = [];
  const narrow = () => board.clientWidth <= NARROW;
  const timeAxis = { ...time, times: true, room: SPAN };
  const [LOSS, LONGER] = [axes.loss, axes.longer];
  const scales = [[LOSS, LOSS.digits], [LONGER, LONGER.digits], null, [timeAxis, 0]];
  if (heading) {
    const columns = [["Final loss, nats", trained], ["Loss at 4 × the length, nats", longer], ["Size and arithmetic", size], ["Time of a step", timed]];
    const ticks = make("span", { class: "ticks" }, ...needs.map((need) => make("span", { title: need.title }, need.short)));
    const head = make("div", { class: "t head" },
      make("span", {}, "lowest loss first; press a row for its pictures"), make("span", {}, make("b", {}, "What it can do"), ticks));
    const keys = ["← better than added", zero, "", "added: × 1"];
    columns.forEach(([title, of], index) => {
      const axis = make("span", { style: "display: block" });
      put(head, "span", {}, make("b", {}, title), of, axis);
      if (scales[index]) drawings.push([axis, AXIS, (svg, width) => drawAxis(svg, width, scales[index][0], keys[index], scales[index][1])]);
    });
    parts.push(head, make("div", { class: "phone" }, `Losses are of ${trained}. Costs are of a model ${size}, against learned, added positions; the time of a step was measured ${timed}.`));
  }
  // A narrow board has its axes once above each group.
  const axesAbove = () => {
    const places = [make("span"), make("span")];
    const keys = ["loss, nats: ← better", `loss at ${longer}`];
    places.forEach((place, index) => drawings.push([place, AXIS, (svg, width) => drawAxis(svg, width, scales[index][0], keys[index], scales[index][1])]));
    parts.push(make("div", { class: "t axes" }, ...places));
  };
  if (lacking !== 0) axesAbove();
  rows.forEach((row, index) => {
    if (lacking === index) {
      parts.push(make("div", { class: "group" }, "Lack something that you ticked"));
      axesAbove();
    }
    const expanded = row.name === open;
    const label = { type: "button", "aria-expanded": expanded, "aria-label": spoken(row, needs), "data-row": row.name };
    const button = make("button", { class: `t${row.lacks.length ? " out" : ""}`, ...label });
    const made = cells(row, needs, asked);
    button.append(...made);
    for (const [cell, number] of [[made[2], row.loss], [made[3], row.longer]]) {
      if (number) cell.title = `${signed(number.value)}, ${number.note}`;
    }
    button.onclick = () => {
      button.setAttribute("aria-expanded", !expanded);
      setTriggerValue("row", expanded ? "" : row.name);
    };
    const known = [row.baseline || (row.loss && !row.loss.elsewhere), row.longer && !row.longer.elsewhere];
    [drawLoss, drawLonger].forEach((draw, index) =>
      drawings.push([made[index + 2], ROW, (svg, width) => draw(svg, width, row, [LOSS, LONGER][index]), known[index] ? ROW : untrained(row) || row.loss?.elsewhere ? 0 : WORDS]));
    drawings.push([made[4], ROW, (svg, width) => (narrow() ? writeCost(svg, row) : drawCost(svg, width, row)), WORDS]);
    drawings.push([made[5], ROW, (svg, width) => drawTime(svg, width, row, timeAxis), 0]);
    parts.push(button);
  });
  board.replaceChildren(...parts);
  return atEveryWidth(board, () => drawings.forEach(([place, height, draw, low = height]) => canvas(place, narrow() ? low : height, draw)));
}
