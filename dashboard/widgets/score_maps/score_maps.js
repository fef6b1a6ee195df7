// The scores of one layer's heads, taken apart. All numbers are here, so a press is answered in the browser; the server
// hears of it a moment later, so that the address follows, and sends what is not here: another layer, or, of a long
// text, another head.

const WIDE = 980; // pixels of the component from which three columns stand side by side
const MIDDLE = 640;
const LETTER = 13; // pixels of a row that holds a letter of 12.5
const LARGEST = 30; // pixels of a cell
const MOST_LABEL = 88; // pixels of a token's name
const FAINT = 2; // the large map's scale is so many times that of the small ones from where on these can be shown stronger
const PALE = 4; // and so many times that from where on they are, until a reader presses
const QUIET = 350; // milliseconds after the last press until the server hears of it
const FRESH = -1; // a query or key that no reader has chosen: where attention is strongest

const BY = { word_to_word: "words", position_to_position: "position" }; // terms that have a plain name

const boards = new WeakMap();

const percent = (share) => `${Math.round(100 * share)}\u00a0%`.replace("-", "−");
const attention = (share) => (share < 0.005 ? "Less than 1\u00a0%" : percent(share));

function floats(text) {
  const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  return new Float32Array(bytes.buffer);
}

function channels(colour) {
  return [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16));
}

// The colour of a value from `low` to `high`, between stops at equal distances.
function ramp(stops, low, high) {
  const colours = stops.map(channels);
  return (value) => {
    const at = Math.min(1, Math.max(0, (value - low) / (high - low || 1))) * (colours.length - 1);
    const left = Math.min(colours.length - 2, Math.floor(at));
    return colours[left].map((channel, i) => Math.round(channel + (at - left) * (colours[left + 1][i] - channel)));
  };
}

class Board {
  constructor(root) {
    this.root = root;
    this.part = (id) => root.querySelector(`[data-id="${id}"]`);
    this.board = root.querySelector(".board");
    this.active = 0; // the map that the keyboard is on
    this.large = null; // the map that a reader drew large in place of the head's leading one
    this.stronger = null; // whether a reader wants the small maps on a scale of their own, on which faint ones are seen
    this.told = []; // the states that the server was told and has not answered
    this.adding = false; // whether a press adds its row, as with Shift
    atEveryWidth(this.board, () => this.layout());
  }

  take({ json, colours }, setStateValue) {
    this.send = setStateValue;
    this.board.style.cssText = colours;
    if (json === this.json) return this.board.classList.remove("waiting");
    const first = !this.json;
    this.json = json;
    const data = (this.data = JSON.parse(json));
    this.decoded = new Map();
    const asked = JSON.stringify(data.at);
    // What the reader has pressed since is newer than what the server answers; on a slow server several answers are due.
    const answered = this.told.indexOf(asked);
    this.told = this.told.slice(answered + 1);
    if (first || (answered < 0 && asked !== this.asked)) {
      clearTimeout(this.timer);
      this.at = { ...data.at, also: [...data.at.also] };
    }
    this.asked = asked;
    this.board.classList.remove("waiting");
    if (this.at.layer !== data.layer || !data.maps[this.at.head]) this.at = { ...data.at, also: [...data.at.also] };
    this.build();
    this.layout();
  }

  // The maps of a head: [part or total or pattern] -> value at (query, key).
  values(head = this.at.head) {
    if (!this.decoded.has(head)) this.decoded.set(head, floats(this.data.maps[head].maps));
    const numbers = this.decoded.get(head);
    const side = this.data.tokens.length;
    return (map, i, j) => numbers[(map * side + i) * side + j];
  }

  get totals() { return this.data.parts.length; }
  get patterns() { return this.data.parts.length + 1; }

  // The cell that is shown, by row and column of the maps.
  cell() {
    const { tokens, first } = this.data;
    const inside = (index) => (index >= first && index < first + tokens.length ? index - first : FRESH);
    const [query, key] = [inside(this.at.query), inside(this.at.key)];
    if (query !== FRESH && key !== FRESH) return [query, key];
    const { open } = this.data.maps[this.at.head];
    return query === FRESH && key === FRESH && open ? open : this.strongest(query, key);
  }

  // The cell with the strongest attention, of a row and a column where they are chosen.
  strongest(query = FRESH, key = FRESH) {
    const value = this.values();
    const all = this.data.tokens.map((_token, index) => index);
    let best = null;
    for (const i of query === FRESH ? all : [query]) {
      for (const j of key === FRESH ? all : [key]) {
        if (!best || value(this.patterns, i, j) > value(this.patterns, ...best)) best = [i, j];
      }
    }
    return best;
  }

  // The rows that are explained together: the cell's own, and those that were added.
  rows() {
    const { tokens, first } = this.data;
    const others = this.at.also.map((index) => index - first).filter((index) => index >= 0 && index < tokens.length);
    return [...new Set([this.cell()[0], ...others])];
  }

  tell(now = false) {
    clearTimeout(this.timer);
    const report = () => {
      this.told.push(JSON.stringify(this.at));
      this.send("cell", { ...this.at, also: [...this.at.also] });
    };
    if (now) report();
    else this.timer = setTimeout(report, QUIET);
  }

  press(query, key, add = false) {
    const { first } = this.data;
    if (add) {
      const [own] = this.cell();
      const index = first + query;
      const has = this.at.also.includes(index);
      if (query !== own) this.at.also = has ? this.at.also.filter((one) => one !== index) : [...this.at.also, index];
      this.at.query = first + own;
    } else {
      this.at.query = first + query;
      this.at.also = [];
    }
    this.at.key = first + key;
    this.paint();
    this.tell();
  }

  choose(layer, head) {
    this.at = { ...this.at, layer, head };
    this.large = null;
    if (layer === this.data.layer && this.data.maps[head]) {
      this.paint();
      this.tell();
    } else {
      this.board.classList.add("waiting");
      this.outlineTable();
      this.tell(true);
    }
  }

  pick(name, value) {
    if (name === "group") {
      // Another group of terms may open at another cell: the one that is shown stays.
      const [query, key] = this.cell();
      Object.assign(this.at, { query: query + this.data.first, key: key + this.data.first });
    }
    this.at[name] = value;
    if (name === "term") {
      this.build();
      this.paint();
      this.tell();
    } else {
      this.board.classList.add("waiting");
      this.tell(true);
    }
  }

  // What stands still while cells are pressed: buttons, and places for the maps.
  build() {
    const { data } = this;
    const chips = (id, options, chosen, press) => {
      const box = this.part(id);
      const focused = focusedIn(box)?.dataset.value;
      box.replaceChildren();
      for (const { value, label, colour } of options) {
        const button = put(box, "button", {
          type: "button", role: "radio", "aria-checked": value === chosen, "data-value": value, tabindex: value === chosen ? 0 : -1,
        }, label);
        if (colour) button.style.setProperty("--mark", colour);
        button.onclick = () => press(value);
        button.onkeydown = (event) => {
          const next = options[neighbour(event, options.findIndex((option) => option.value === value), options.length)];
          if (!next) return;
          press(next.value);
          box.querySelector(`[data-value="${next.value}"]`)?.focus();
        };
        if (focused === value) button.focus();
      }
    };
    const terms = data.parts.slice(0, data.terms).map(({ name, label, colour }) => ({ value: name, label, colour }));
    if (!terms.some(({ value }) => value === this.at.term)) this.at.term = terms[0].value;
    chips("terms", terms, this.at.term, (value) => this.pick("term", value));
    const measures = [{ value: "share", label: "by share" }, { value: "effect", label: "by effect" }];
    chips("measure", measures, data.measure, (value) => this.pick("measure", value));
    this.part("table-sub").textContent = data.measure === "share"
      ? "The term's share of what varies in a head's scores. Rows: layers; columns: heads; both counted from 0."
      : "How far attention moves without the term, in nats. Rows: layers; columns: heads; both counted from 0.";

    this.several();
    const box = this.part("maps");
    box.replaceChildren();
    this.places = data.parts.slice(0, data.terms).map(({ label, colour }, index) => {
      const place = put(box, "div");
      const heading = put(place, "h4");
      heading.style.setProperty("--mark", colour);
      const title = put(heading, "button", { type: "button", title: "Draw this map large" });
      put(title, "i");
      title.append(label);
      title.onclick = () => {
        this.large = index;
        this.drawn = null;
        this.paint();
      };
      const share = put(heading, "span");
      return { host: put(place, "div", { class: "map" }), place, title, share, map: index, label };
    });
    this.places.push({ host: this.part("pattern"), map: this.patterns, label: "attention" });
    this.places.forEach(({ host }, index) => this.listen(host, index));
    const table = this.part("table");
    table.onpointerdown = (event) => {
      const at = this.under(table, event);
      if (at) this.choose(at[0] + data.table.first, at[1]);
    };
    table.onpointermove = (event) => this.hint(table, event, ([layer, head]) => this.tableText(layer, head));
    table.onpointerleave = () => (this.part("tip").hidden = true);
    table.onkeydown = (event) => {
      const [layers, heads] = [data.table.values.length, data.heads];
      const at = this.moved(event, this.at.layer - data.table.first, this.at.head, layers, heads);
      if (at) this.choose(at[0] + data.table.first, at[1]);
    };
    const rows = this.part("window");
    rows.replaceChildren();
    if (data.tokens.length < data.rows) {
      const last = data.first + data.tokens.length - 1;
      put(rows, "span", {}, `Tokens ${data.first} to ${last} of ${data.rows}; shares are over all of them. `);
      for (const [label, first] of [["earlier", data.first - data.tokens.length], ["later", last + 1]]) {
        const from = Math.max(0, Math.min(first, data.rows - data.tokens.length));
        if (from === data.first) continue;
        const button = put(rows, "button", { type: "button" }, label);
        button.onclick = () => {
          this.board.classList.add("waiting");
          this.at = { ...this.at, query: FRESH, key: FRESH, also: [], from };
          this.tell(true);
        };
      }
    }
  }

  // A switch that stands for Shift, for whoever has no keyboard, and a way back to one row.
  several() {
    const box = this.part("several");
    box.replaceChildren();
    const title = "A press on a cell, like one with Shift, adds its row; the sum is a mean over rows";
    const add = put(box, "button", { type: "button", "aria-pressed": this.adding, title }, "Select several tokens by their cells");
    add.onclick = () => {
      this.adding = !this.adding;
      this.several();
      this.part("several").querySelector("button").focus();
    };
    if (this.at.group === "all") put(box, "button", { type: "button" }, "Only word and position").onclick = () => this.pick("group", "four");
    if (!this.at.also.length) return;
    put(box, "button", { type: "button" }, "Only the outlined cell").onclick = () => {
      this.adding = false;
      this.at.also = [];
      this.paint();
      this.tell();
    };
  }

  listen(host, index) {
    host.setAttribute("role", "application");
    host.setAttribute("aria-roledescription", "map");
    host.onpointerdown = (event) => {
      const at = this.under(host, event);
      if (!at) return;
      this.active = index;
      this.press(at[0], at[1], this.adding || event.shiftKey || event.ctrlKey || event.metaKey);
    };
    host.onpointermove = (event) => this.hint(host, event, ([i, j]) => this.cellText(index, i, j));
    host.onpointerleave = () => (this.part("tip").hidden = true);
    host.onkeydown = (event) => {
      const side = this.data.tokens.length;
      const [query, key] = this.cell();
      const at = this.moved(event, query, key, side, side);
      if (!at) return;
      this.active = index;
      // With Shift, the rows that the cell leaves stay.
      if (event.shiftKey) this.at.also = [...new Set([...this.at.also, this.data.first + query])];
      const also = event.shiftKey ? this.at.also : [];
      this.press(at[0], at[1]);
      this.at.also = also.filter((row) => row !== this.at.query);
      if (event.shiftKey) this.paint();
    };
  }

  moved(event, row, column, rows, columns) {
    const step = {
      ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1],
      Home: [0, -columns], End: [0, columns], PageUp: [-rows, 0], PageDown: [rows, 0],
    }[event.key];
    if (!step) return null;
    event.preventDefault();
    const within = (value, count) => Math.min(count - 1, Math.max(0, value));
    return [within(row + step[0], rows), within(column + step[1], columns)];
  }

  under(host, event) {
    const { left, top, size, rows, columns } = host.grid ?? {};
    if (!size) return null;
    const box = host.getBoundingClientRect();
    const row = Math.floor((event.clientY - box.top - top) / size);
    const column = Math.floor((event.clientX - box.left - left) / size);
    return row >= 0 && row < rows && column >= 0 && column < columns ? [row, column] : null;
  }

  hint(host, event, text) {
    const tip = this.part("tip");
    const at = this.under(host, event);
    host.style.cursor = at ? "pointer" : "";
    tip.hidden = !at;
    if (!at) return;
    tip.textContent = text(at);
    const box = this.board.getBoundingClientRect();
    tip.style.left = `${Math.max(0, Math.min(event.clientX - box.left + 14, box.width - tip.offsetWidth - 4))}px`;
    tip.style.top = `${event.clientY - box.top + 16}px`;
  }

  cellText(place, i, j) {
    const { tokens } = this.data;
    const { map, label } = this.places[place];
    const value = this.values()(map, i, j);
    return `“${tokens[i]}” on “${tokens[j]}”, ${label}: ${map === this.patterns ? `${(100 * value).toFixed(1)} %` : signed(value, 3)}`;
  }

  tableText(layer, head) {
    const { table, measure } = this.data;
    const value = this.tableValue(layer, head);
    const text = value === null ? "not defined" : measure === "share" ? percent(value) : `${value.toFixed(3)} nats`;
    return `layer ${layer + table.first}, head ${head}: ${text}`;
  }

  tableValue(layer, head) {
    return this.data.table.values[layer][this.termIndex()][head];
  }

  termIndex() {
    return this.data.parts.findIndex(({ name }) => name === this.at.term);
  }

  layout() {
    const width = this.board.clientWidth;
    if (!width || !this.data) return;
    this.width = width;
    this.board.classList.add("drawn");
    this.board.classList.toggle("wide", width >= WIDE);
    this.board.classList.toggle("middle", width >= MIDDLE && width < WIDE);
    this.paint();
  }

  // A map of rows by columns; `colour` gives the channels of a cell.
  map(host, { rows, columns, colour, here, names, title, largest = LARGEST, bare = false }) {
    const width = host.clientWidth;
    if (!width) return;
    const pen = (this.pen ??= make("canvas").getContext("2d"));
    pen.font = `12.5px ${getComputedStyle(host).fontFamily}`;
    const fitting = (text) => {
      if (pen.measureText(text).width <= MOST_LABEL) return text;
      let end = text.length;
      while (end > 1 && pen.measureText(`${text.slice(0, end)}…`).width > MOST_LABEL) end -= 1;
      return `${text.slice(0, end)}…`;
    };
    const rowNames = names.rows.map(fitting);
    const columnNames = names.columns.map(fitting);
    const longest = (texts) => Math.max(...texts.map((text) => pen.measureText(text).width));
    let left = bare ? 1 : Math.ceil(longest(rowNames)) + 8;
    let size = Math.min(largest, (width - left - (names.flat ? 0 : bare ? 1 : 4)) / columns);
    size = size >= 4 && !bare ? Math.floor(size) : size;
    const all = size >= LETTER + 1 && !bare; // leaning names are closer to one another than rows are
    const upright = size < LETTER + 3; // leaning names of narrow columns would lie on each other
    const top = bare ? 1 : names.flat ? 18 : Math.ceil((upright ? 1 : 0.87) * longest(columnNames)) + 12;
    const height = top + size * rows + 3;
    host.replaceChildren();
    host.style.height = `${height}px`;
    host.grid = { left, top, size, rows, columns };
    const canvas = put(host, "canvas", { "aria-hidden": true });
    const dense = this.root.ownerDocument.defaultView.devicePixelRatio || 1;
    const pixels = (length) => Math.max(1, Math.round(length * dense));
    canvas.width = pixels(size * columns);
    canvas.height = pixels(size * rows);
    Object.assign(canvas.style, { left: `${left}px`, top: `${top}px`, width: `${size * columns}px`, height: `${size * rows}px` });
    const brush = canvas.getContext("2d");
    brush.fillStyle = getComputedStyle(host).getPropertyValue("--line");
    if (size >= 6) brush.fillRect(0, 0, canvas.width, canvas.height);
    const gap = size >= 6 ? 1 / dense : 0;
    for (let i = 0; i < rows; i += 1) {
      for (let j = 0; j < columns; j += 1) {
        brush.fillStyle = `rgb(${colour(i, j).join(" ")})`;
        const [x, y] = [Math.round(j * size * dense), Math.round(i * size * dense)];
        const [right, below] = [Math.round((j + 1) * size * dense), Math.round((i + 1) * size * dense)];
        brush.fillRect(x + gap, y + gap, right - x - gap, below - y - gap);
      }
    }
    const svg = mark(host, "svg", { width, height, "aria-hidden": true });
    host.overlay = { svg, left, top, size, all, rowNames, columnNames, flat: names.flat, bare, upright };
    host.setAttribute("aria-label", title);
    this.outline(host, here, title);
  }

  // The names of rows and columns, and the frame of what is pressed: they follow a press without the cells being redrawn.
  outline(host, here, title, more = []) {
    const { svg, left, top, size, all, rowNames, columnNames, flat, bare, upright } = host.overlay ?? {};
    if (!svg) return;
    svg.replaceChildren();
    host.setAttribute("aria-label", title);
    const [row, column] = here;
    rowNames.forEach((name, i) => {
      const chosen = i === row || more.includes(i);
      if (bare || (!all && !chosen)) return;
      mark(svg, "text", { x: left - 6, y: top + size * (i + 0.5) + 4.5, "text-anchor": "end", class: chosen ? "here" : flat ? "soft" : "" }, name);
    });
    const every = flat ? Math.ceil(20 / size) : 1;
    const turn = upright ? "rotate(-90) translate(2 1)" : "rotate(-60)";
    columnNames.forEach((name, j) => {
      const chosen = j === column;
      if (bare) return;
      if (flat ? (j % every || (Math.abs(j - column) < every && !chosen)) && !chosen : !all && !chosen) return;
      const x = left + size * (j + 0.5);
      const place = flat ? { x, y: top - 5, "text-anchor": "middle" } : { transform: `translate(${x + 3} ${top - 5}) ${turn}` };
      mark(svg, "text", { ...place, class: chosen ? "here" : flat ? "soft" : "" }, name);
    });
    if (row < 0 || column < 0) return;
    for (const i of [row, ...more]) {
      const [x, y] = [left + size * column, top + size * i];
      const frame = { x: x - 1, y: y - 1, width: Math.max(size, 5) + 2, height: Math.max(size, 5) + 2, rx: 3, fill: "none" };
      mark(svg, "rect", { ...frame, stroke: "var(--ground)", "stroke-width": 5 });
      mark(svg, "rect", { ...frame, stroke: "var(--accent)", "stroke-width": 3 });
    }
  }

  paint() {
    if (!this.width) return;
    this.paintTable();
    const drawn = `${this.width} ${this.at.head}`;
    if (this.drawn !== drawn || this.drawnOf !== this.data) this.paintMaps();
    this.drawn = drawn;
    this.drawnOf = this.data;
    const [query, key] = this.cell();
    const more = this.rows().slice(1);
    this.several();
    this.places.forEach(({ host }, place) => {
      this.outline(host, [query, key], `${this.cellText(place, query, key)}. Arrow keys move the cell.`, more);
      host.tabIndex = place === this.active ? 0 : -1;
    });
    this.explain();
  }

  paintTable() {
    const { table, heads, measure, stops, scale } = this.data;
    const layers = table.values.length;
    const all = table.values.flatMap((_layer, layer) => [...Array(heads).keys()].map((head) => this.tableValue(layer, head)));
    const most = Math.max(...all.map((value) => Math.abs(value ?? 0))) || 1;
    const shade = measure === "share" ? ramp(stops, -most, most) : ramp(scale, 0, most);
    this.map(this.part("table"), {
      rows: layers, columns: heads, largest: 18, here: this.tableHere(), title: "",
      names: { rows: table.values.map((_layer, index) => `${index + table.first}`), columns: [...Array(heads).keys()].map(String), flat: true },
      colour: (layer, head) => shade(this.tableValue(layer, head) ?? 0),
    });
    this.outlineTable();
    this.part("table").tabIndex = 0;
    this.part("table").setAttribute("role", "application");
    this.part("table").setAttribute("aria-roledescription", "map of heads");
    const list = this.part("strongest");
    list.replaceChildren();
    const { many } = this.data;
    const written = (value) => (value === null ? "–" : measure === "share" ? percent(value) : `${value.toFixed(2)} nats`);
    list.classList.toggle("two", Boolean(many));
    if (many) {
      const head = put(list, "li", { class: "over" });
      for (const text of ["", "this text", `${many.texts} texts`]) put(head, "span", {}, text);
    }
    const ranked = all.map((value, index) => ({ value, layer: Math.floor(index / heads) + table.first, head: index % heads }));
    for (const { value, layer, head } of ranked.filter((one) => one.value !== null).sort((a, b) => b.value - a.value).slice(0, 4)) {
      const button = put(put(list, "li"), "button", { type: "button", "aria-current": layer === this.at.layer && head === this.at.head });
      put(button, "span", {}, `layer ${layer}, head ${head}`);
      put(button, "span", {}, written(value));
      if (many) put(button, "span", {}, written(many.values[layer - table.first][this.termIndex()][head]));
      button.onclick = () => this.choose(layer, head);
    }
  }

  tableHere() {
    const row = this.at.layer - this.data.table.first;
    return row < this.data.table.values.length ? [row, this.at.head] : [FRESH, FRESH];
  }

  outlineTable() {
    const here = this.tableHere();
    const title = here[0] >= 0 ? this.tableText(...here) : "";
    this.outline(this.part("table"), here, `Heads by layer: ${title}. Arrow keys move to another head.`);
  }

  paintMaps() {
    const { data } = this;
    const { tokens, parts, stops, scale } = data;
    const { limit, own, lead } = data.maps[this.at.head];
    const large = own.includes(this.large) ? this.large : lead;
    const value = this.values();
    const side = tokens.length;
    const box = this.part("maps");
    const small = own.length - 1;
    if (this.active < data.terms && !own.includes(this.active)) this.active = large; // the keyboard is on a map that is seen
    box.style.setProperty("--across", Math.max(1, small > 4 ? Math.min(5, Math.floor(box.clientWidth / 90)) : small));
    const shade = ramp(stops, -limit, limit);
    const largest = (map) => {
      let most = 0;
      for (let i = 0; i < side; i += 1) for (let j = 0; j < side; j += 1) most = Math.max(most, Math.abs(value(map, i, j)));
      return most;
    };
    const faint = Math.max(0, ...own.filter((map) => map !== large).map(largest)); // of the small maps
    const times = faint > 0 ? limit / faint : 1;
    const apart = times >= FAINT && (this.stronger ?? times >= PALE);
    const shadeSmall = apart ? ramp(stops, -faint, faint) : shade;
    const depth = ramp(scale, 0, largest(this.patterns)); // probabilities: none is below zero
    this.places.forEach(({ host, place, title, share, map, label }) => {
      const pattern = map === this.patterns;
      if (share) {
        const part = data.shares[map][this.at.head];
        share.textContent = part === null ? "" : percent(part);
        place.hidden = !own.includes(map);
        place.className = map === large ? "large" : "";
        title.setAttribute("aria-pressed", String(map === large));
      }
      this.map(host, {
        rows: side, columns: side, here: [FRESH, FRESH], title: label, names: { rows: tokens, columns: tokens },
        colour: (i, j) => (pattern ? depth(value(map, i, j)) : (map === large ? shade : shadeSmall)(value(map, i, j))), largest: pattern ? 22 : LARGEST, bare: !pattern && map !== large,
      });
    });
    const shares = own.map((term) => data.shares[term][this.at.head]);
    const known = shares.every((share) => share !== null);
    const rest = 1 - shares.reduce((sum, share) => sum + share, 0);
    const leading = data.shares[lead][this.at.head] ?? 0;
    const subject = `Head ${this.at.head} of layer ${data.layer}`;
    const over = data.measure === "share" ? data.many?.values[data.layer - data.table.first]?.[lead]?.[this.at.head] ?? null : null;
    const besides = over === null ? "" : ` (${percent(over)} over ${data.many.texts} texts)`;
    const size = `${percent(leading)} of what varies in this text${besides}`;
    this.part("heading").textContent = !known || own.length < 2 ? subject
      : leading >= 0.5 ? `${subject} looks by ${BY[parts[lead].name] ?? parts[lead].label}: ${parts[lead].label} is ${size}`
      : `${subject} mixes terms; the largest, ${parts[lead].label}, is ${size}`;
    const named = this.places[large].host.overlay?.all;
    this.part("sub").textContent = `Rows look at columns. Scores before softmax, ${data.centred ? "each row minus its mean" : "as they are"}; percentages are the terms' shares of what varies. Press a cell to see it as a sum${named ? "" : ", and to read its tokens"}.`;
    const bar = this.part("scale");
    bar.replaceChildren();
    put(bar, "span", {}, signed(-limit, 1));
    put(bar, "i").style.background = `linear-gradient(90deg, ${stops.join(", ")})`;
    put(bar, "span", {}, signed(limit, 1));
    const others = known && parts.length > own.length ? `; the other terms make up ${percent(rest)}` : "";
    const strength = times < 9.5 ? times.toFixed(1) : Math.round(times);
    put(bar, "span", {}, apart ? `small maps: ${strength} times as strong, ±${faint.toFixed(faint < 1 ? 2 : 1)}` : "one scale for all maps");
    const notes = small ? ["Small maps have the rows and columns of the large one."] : [];
    if (known && parts.length > own.length) notes.push(`The other terms make up ${percent(rest)}.`);
    if (own.some((map) => percent(data.shares[map][this.at.head] ?? 0).startsWith("−"))) notes.push("A share below zero: the term works against the others.");
    notes.push("A strong map whose pattern is not that of the whole has a small share.");
    this.part("notes").textContent = notes.join(" ");
    if (times < FAINT) return;
    const title = "Colours the small maps by a scale of their own, on which faint scores are seen";
    put(bar, "button", { type: "button", "aria-pressed": apart, title }, "Show faint maps").onclick = () => {
      this.stronger = !apart;
      this.drawn = null;
      this.paint();
      this.part("scale").querySelector("button")?.focus();
    };
  }

  explain() {
    const { data } = this;
    const { tokens, parts, centred } = data;
    const value = this.values();
    const [query, key] = this.cell();
    const rows = this.rows();
    const mean = (map) => rows.reduce((sum, row) => sum + value(map, row, key), 0) / rows.length;
    const total = mean(this.totals);
    const amounts = parts.map((_part, index) => mean(index));
    const box = this.part("why");
    box.replaceChildren();
    const verb = centred ? (total > 0 ? "looks at" : "looks away from") : "scores";
    const itself = query === key ? "itself" : `“${tokens[key]}”`;
    put(box, "h3", {}, rows.length > 1
      ? `${rows.length} tokens on “${tokens[key]}”: mean ${signed(total, 1)}`
      : `“${tokens[query]}” ${verb} ${itself}: ${signed(total, 1)}`);
    // The rest of the terms together is no reason by itself.
    const named = amounts.slice(0, data.terms);
    const largest = named.reduce((top, amount, index) => (Math.abs(amount) > Math.abs(named[top]) ? index : top), 0);
    const text = put(box, "p");
    text.append(`${attention(mean(this.patterns))} of ${rows.length > 1 ? "their" : "its"} attention. `);
    if (rows.length > 1) text.append(`Rows: ${rows.map((row) => `“${tokens[row]}”`).join(", ")}. `);
    if (parts.length > 1) {
      const share = amounts[largest] / total;
      text.append(share > 0.5 ? "Mostly because of " : "The largest part, ");
      put(text, "b", {}, parts[largest].label);
      const part = share > 0.5 ? "" : share > 0 ? ", is less than half of it" : ", works against it";
      text.append(`${part}; without it the score would be ${signed(total - amounts[largest], 1)}.`);
    }
    const [low, high] = [Math.min(0, ...amounts), Math.max(0, ...amounts)];
    const place = (amount) => (100 * (amount - low)) / (high - low || 1);
    parts.forEach(({ label, colour }, index) => {
      const amount = amounts[index];
      const row = put(box, "div", { class: "bar" });
      const line = put(row, "div");
      put(line, "span", {}, label);
      put(line, "b", {}, signed(amount));
      const track = put(row, "div", { class: "track" });
      const fill = put(track, "i");
      Object.assign(fill.style, { left: `${place(Math.min(0, amount))}%`, width: `max(1px, ${place(Math.max(0, amount)) - place(Math.min(0, amount))}%)`, background: colour });
      put(track, "u").style.left = `${place(0)}%`;
      if (index < data.terms) return;
      const note = put(row, "p", { class: "sub" }, `${data.rest} `);
      put(note, "button", { type: "button" }, "Show each").onclick = () => this.pick("group", "all");
    });
    const sum = put(box, "div", { class: "bar sum" });
    const line = put(sum, "div");
    put(line, "span", {}, "sum: the model's own score");
    put(line, "b", {}, signed(total));
    const off = Math.abs(amounts.reduce((all, amount) => all + amount, 0) - total);
    const digits = Math.min(6, Math.max(0, Math.floor(-Math.log10(off))));
    const error = off > 0 ? `less than ${(10 ** -digits).toFixed(digits)}` : "nothing";
    put(box, "p", { class: "sub" }, `The parts add up to it, off by ${error}${rows.length > 1 ? "; means over the rows" : ""}. Bars have the colours of the maps' names; right of the line they raise the score, left of it they lower it.`);
    this.next(box, query, key, value);
  }

  next(box, query, key, value) {
    const { tokens, layers, table } = this.data;
    const list = put(box, "ul", { class: "next" });
    const offer = (label, press) => (put(put(list, "li"), "button", { type: "button" }, label).onclick = press);
    const other = tokens.map((_token, index) => index).filter((index) => index !== key)
      .reduce((top, index) => (top === null || value(this.patterns, query, index) > value(this.patterns, query, top) ? index : top), null);
    if (other !== null) offer(`Why ${value(this.patterns, query, other) > value(this.patterns, query, key) ? "rather" : "not"} “${tokens[other]}”?`, () => this.press(query, other));
    if (this.data.layer + 1 < layers && table.values.length > 1) offer(`The same cell in layer ${this.data.layer + 1}`, () => {
      this.at.query = this.data.first + query;
      this.at.key = this.data.first + key;
      this.choose(this.data.layer + 1, this.at.head);
    });
    offer("Where this head's attention is strongest", () => this.press(...this.strongest()));
  }
}

export default function ({ data, parentElement: root, setStateValue }) {
  if (!boards.has(root)) boards.set(root, new Board(root));
  boards.get(root).take(data, setStateValue);
}
