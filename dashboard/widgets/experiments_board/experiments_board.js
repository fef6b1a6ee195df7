// The board of experiments: a line per way of telling positions, drawn at true pixels and again for every width. A press
// on a line reports its name to the server, which draws the panel of that row under it.

const HEIGHT = 38;
const MIDDLE = HEIGHT / 2;

// A dot; a ring for what is not decided.
const dot = (svg, x, y, r, colour, filled) =>
  mark(svg, "circle", { cx: x, cy: y, r: filled ? r : r - 1, fill: filled ? colour : "var(--ground)", stroke: colour, "stroke-width": filled ? 0 : 2 });

const BREAK = 68; // pixels at the right for what lies beyond the axis
const CUT = 62; // pixels from the right at which the axis breaks

// The two strokes at which the axis breaks, in its head as in the rows, and at which an interval is cut.
const strokes = (svg, x, y) =>
  mark(svg, "path", { d: `M${x} ${y + 6}l4-12m2 12l4-12`, stroke: "var(--soft)", "stroke-width": 1.5, fill: "none" });
const breakMark = (svg, width, y) => strokes(svg, width - CUT, y);

function lossScale(board, width) {
  const { low, high, outliers } = board.loss;
  const room = width - (outliers ? BREAK : 4);
  return (value) => 2 + ((value - low) / (high - low)) * (room - 4);
}

function drawLoss(svg, width, row, board) {
  const x = lossScale(board, width);
  const colour = row.colour;
  const { margin } = board.loss;
  if (!row.gap && row.outcome !== "baseline") { // Words alone: an axis under them says nothing.
    mark(svg, "text", { x: 4, y: MIDDLE + 4.5, class: "soft" }, row.own);
    return;
  }
  if (margin) mark(svg, "rect", { x: x(-margin), y: 0, width: x(margin) - x(-margin), height: HEIGHT, fill: "var(--ink)", opacity: 0.09 });
  for (const tick of board.loss.ticks) line(svg, x(tick), 0, x(tick), HEIGHT, tick ? "var(--line)" : "var(--soft)");
  if (row.outcome === "baseline") {
    diamond(svg, x(0), MIDDLE);
    mark(svg, "text", { x: x(0) + 14, y: MIDDLE + 4.5, class: "soft" }, row.own);
    return;
  }
  if (row.gap.value > board.loss.high) {
    line(svg, x(0), MIDDLE, width - CUT - 2, MIDDLE, colour, { "stroke-dasharray": "2 3" });
    breakMark(svg, width, MIDDLE);
    dot(svg, width - 24, MIDDLE, 5.5, colour, !row.undecided);
    return;
  }
  for (const seed of row.seeds) {
    if (seed >= board.loss.low && seed <= board.loss.high) mark(svg, "circle", { cx: x(seed), cy: MIDDLE + 9, r: 2, fill: colour, opacity: 0.5 });
  }
  const y = MIDDLE - 4;
  if (row.gap.low !== null) {
    const ends = [Math.max(row.gap.low, board.loss.low), Math.min(row.gap.high, board.loss.high)];
    bar(svg, x(ends[0]), y, x(ends[1]), y, colour, 0.45);
    if (ends[0] > row.gap.low) strokes(svg, x(ends[0]) + 4, y);
    if (ends[1] < row.gap.high) strokes(svg, x(ends[1]) + (board.loss.outliers ? 1 : -14), y);
    // Higher than the dot, which may hide the rest of a short interval.
    for (const end of [row.gap.low, row.gap.high]) if (ends.includes(end)) line(svg, x(end), y - 7, x(end), y + 7, colour, { "stroke-width": 1.5 });
  }
  dot(svg, x(row.gap.value), y, 4.5, colour, !row.undecided);
}

function stepScale(board, width) {
  const [low, high] = board.steps.range;
  return (value) => 3 + (Math.log(value / low) / Math.log(high / low)) * (width - 58);
}

// The numbers of steps that have room on the axis: [place of the words, number, words]. Only these have a line.
function stepLabels(board, width) {
  const x = stepScale(board, width);
  let end = -Infinity;
  return board.steps.labels.flatMap(([tick, text]) => {
    const half = 3.6 * text.length, at = Math.max(half, x(tick));
    if (at - half < end) return []; // It would touch the last one.
    end = at + half + 7;
    return [[at, tick, text]];
  });
}

function drawSteps(svg, width, row, board) {
  if (!board.steps) return;
  const x = stepScale(board, width);
  for (const [, tick] of stepLabels(board, width)) line(svg, x(tick), 0, x(tick), HEIGHT);
  if (!row.steps) return;
  const { value, low, high, text, bound } = row.steps;
  mark(svg, "text", { x: width - 2, y: MIDDLE + 4.5, "text-anchor": "end", class: bound ? "soft" : "", style: "font-size: 13.5px" }, text);
  if (bound) return; // Not every seed uses order: there is no mean to draw.
  if (low !== null) bar(svg, x(Math.max(low, board.steps.range[0])), MIDDLE, x(high), MIDDLE, row.colour, 0.45);
  dot(svg, x(value), MIDDLE, 4.5, row.colour, true);
}

const ladderX = (board, index) => 12 + index * (72 / Math.max(1, board.widths.length - 1));

function drawLadder(svg, width, row, board) {
  const { low, high } = board.ladder;
  const y = (value) => 4 + ((high - value) / (high - low)) * (HEIGHT - 8);
  line(svg, 4, y(0), 92, y(0), "var(--soft)");
  const points = board.widths.map((size, index) => ({ index, gap: row.widths[size] })).filter((point) => point.gap);
  if (!points.length) return;
  const clipped = (value) => Math.min(high, Math.max(low, value));
  const path = points.map(({ index, gap }) => `${ladderX(board, index)} ${y(clipped(gap.value))}`).join("L");
  mark(svg, "path", { d: `M${path}`, fill: "none", stroke: row.colour, "stroke-width": 1.5 });
  for (const { index, gap } of points) {
    const x = ladderX(board, index);
    if (gap.low !== null) line(svg, x, y(clipped(gap.low)), x, y(clipped(gap.high)), row.colour, { "stroke-width": 3, opacity: 0.35 });
    dot(svg, x, y(clipped(gap.value)), 3.5, row.colour, gap.judged);
  }
  mark(svg, "text", { x: width - 2, y: MIDDLE + 4.5, "text-anchor": "end", style: "font-size: 13.5px" }, points.at(-1).gap.text);
}

const SQUARE = 9; // pixels of one place in the glyph of a row
const PLACE = SQUARE + 3;

// The places at which positions enter: the input, and behind a gap each layer. Full where the words' matrices read
// positions, a ring where matrices or terms of their own do; half where positions stand beside words.
function drawTold(svg, width, row) {
  if (!row.told) return;
  const y = MIDDLE - SQUARE / 2;
  const place = (x, kind) => {
    const ring = kind === "own" || kind === "beside";
    const edge = kind ? { stroke: row.colour, "stroke-width": ring ? 2 : 0 } : { stroke: "var(--soft)", "stroke-width": 1, opacity: 0.45 };
    const inset = ring ? 1 : kind ? 0 : 0.5;
    mark(svg, "rect", { x: x + inset, y: y + inset, width: SQUARE - 2 * inset, height: SQUARE - 2 * inset, fill: kind && !ring ? row.colour : "none", ...edge });
    if (kind === "beside") mark(svg, "rect", { x: x + SQUARE / 2, y, width: SQUARE / 2, height: SQUARE, fill: row.colour });
  };
  place(1, row.told.input);
  row.told.layers.forEach((kind, index) => place(1 + SQUARE + 8 + index * PLACE, kind));
}

const CELLS = { told: drawTold, loss: drawLoss, steps: drawSteps, ladder: drawLadder };

function header(root, board) {
  const head = put(root, "div", { class: "line head" });
  const column = (name, title, ...more) => put(head, "span", { class: name }, title && make("b", {}, title), ...more);
  const [axis, stepAxis, ladderAxis] = [make("span"), make("span"), make("span")];
  const narrow = make("span", { class: "narrow" }, "; size and time have columns on a wider screen");
  put(head, "span", { class: "first" }, "press a row for its curves", narrow);
  column("told", board.heads.told[0], ...board.heads.told.slice(1).map((line) => make("span", {}, line)));
  column("loss", board.heads.loss, board.heads.margin, axis);
  column("value");
  column("right rank", board.ranked ? "Rank" : null, board.ranked ? `of ${board.ranked}` : null);
  column("steps", "Steps until order is used", stepAxis);
  column("ladder", "Other widths", ladderAxis);
  for (const [name, first, second] of board.heads.numbers) column(`right ${name}`, first, second);
  return () => {
    canvas(axis, 36, (svg, width) => {
      const x = lossScale(board, width);
      const label = (at, y, text, anchor, colour) => mark(svg, "text", { x: at, y, "text-anchor": anchor, style: `fill: ${colour}; font-size: 13px` }, text);
      label(x(0) - 7, 13, "← better", "end", "var(--ink)");
      label(x(0) + 7, 13, "worse →", "start", "var(--ink)");
      // Every second number where they would touch.
      const gap = board.loss.ticks.length > 1 ? x(board.loss.ticks[1]) - x(board.loss.ticks[0]) : width;
      const zero = board.loss.ticks.indexOf(0);
      board.loss.ticks.forEach((tick, index) => {
        const room = board.loss.outliers ? width - CUT - 22 : width;
        if ((gap > 34 || (index - zero) % 2 === 0) && x(tick) < room) label(x(tick), 33, board.loss.labels[index], "middle", "var(--soft)");
      });
      if (!board.loss.outliers) return;
      breakMark(svg, width, 29);
      label(width - 24, 33, board.loss.outliers, "middle", "var(--soft)");
    });
    canvas(stepAxis, 16, (svg, width) => {
      if (!board.steps) return;
      for (const [at, , text] of stepLabels(board, width)) mark(svg, "text", { x: at, y: 13, "text-anchor": "middle", class: "soft" }, text);
    });
    canvas(ladderAxis, 16, (svg) => {
      board.widths.forEach((size, index) => mark(svg, "text", { x: ladderX(board, index), y: 13, "text-anchor": "middle", class: "soft" }, size));
    });
  };
}

function rowOf(root, row, board, press) {
  const button = put(root, "button", { type: "button", class: `line row ${row.outcome}`, "data-row": row.variant, "aria-expanded": row.open, "aria-label": row.spoken });
  const cell = (name, ...content) => put(button, "span", { class: name }, ...content);
  cell("name", row.title, row.known_as ? make("small", {}, row.known_as) : null, board.mark ? make("span", { class: "mark" }, board.mark) : null, row.told_at ? make("small", { class: "told_at" }, row.told_at) : null);
  const texts = { value: [row.decided ? "strong" : row.judged ? "" : "weak", row.value], rank: [row.few ? "weak" : "", row.places || row.few] };
  const drawn = [];
  for (const kind of ["told", "loss", "value", "rank", "steps", "ladder"]) {
    if (CELLS[kind]) drawn.push([CELLS[kind], cell(kind)]);
    else cell(`number ${kind} ${texts[kind][0]}`, texts[kind][1]);
  }
  for (const { name, text, weight } of row.numbers) cell(`number ${name} ${weight}`, text);
  // A press says what it wants, so that a press which arrives twice does no harm.
  button.onclick = () => press(row.open ? "close" : row.variant);
  button.onpointerenter = () => root.querySelectorAll(".row").forEach((other) => other.classList.toggle("tied", row.tied.includes(other.dataset.row)));
  button.onpointerleave = () => root.querySelectorAll(".tied").forEach((other) => other.classList.remove("tied"));
  return () => drawn.forEach(([draw, host]) => canvas(host, HEIGHT, (svg, width) => draw(svg, width, row, board)));
}

export default function ({ data, parentElement: root, setTriggerValue }) {
  const frame = root.querySelector(".frame");
  const host = root.querySelector(".board");
  const board = JSON.parse(data.json);
  frame.style.cssText = data.colours;
  // A press draws the board again: the row that had the focus keeps it.
  const focused = focusedIn(root)?.dataset.row;
  host.replaceChildren();
  host.classList.toggle("wide", board.widths.length > 0);
  host.classList.toggle("imported", Boolean(board.mark));
  const draws = board.first ? [header(host, board)] : [];
  for (const group of board.groups) {
    if (group.title) {
      put(host, "h3", { class: "group" }, make("b", {}, group.title), group.summary);
    }
    for (const row of group.rows) draws.push(rowOf(host, row, board, (name) => setTriggerValue("row", name)));
  }
  if (focused) host.querySelector(`[data-row="${CSS.escape(focused)}"]`)?.focus({ preventScroll: true });
  host.onkeydown = (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!step) return;
    const rows = [...host.querySelectorAll(".row")];
    const next = rows[rows.indexOf(event.target.closest(".row")) + step];
    if (!next) return;
    next.focus();
    event.preventDefault();
  };
  return atEveryWidth(frame, () => draws.forEach((draw) => draw()));
}
