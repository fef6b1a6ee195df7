// All claims in one line each, opened one at a time. A press is answered here, in the browser; the server hears of it
// afterwards, puts it into the address, and sends what lies behind the statements of the claim that is open.

const SIGNS = { supported: "✓", contradicted: "✗", mixed: "≈", open: "○" };
// The side of its claim that a statement speaks for -> the verdict whose colour its strip has.
const BEARINGS = { for: "supported", against: "contradicted", mixed: "mixed", open: "open", aside: "aside" };
const LOG_LINES = 3; // entries of a claim's log above its fold
const SIDES = { for: "For", against: "Against", neither: "Neither side" };
const EDGE = 46; // per cent of a strip's width from its middle to the farthest mark

// A text in which `marks` stand around what is typed into a terminal.
function prose(text) {
  return text.split("`").map((part, place) => (place % 2 ? make("code", {}, part) : part));
}

const earlier = (count) => `${count} earlier ${count === 1 ? "entry" : "entries"}`;

const across = (place) => `${50 + EDGE * place}%`;

// The rule's line is the middle of the strip, which the page's style draws through all rows, with the second line of a
// statement that lies between two.
function strip(statement) {
  const box = make("span", { class: `strip ${BEARINGS[statement.bearing]}` });
  const places = statement.strip;
  if (!places) return box;
  if (places.far !== null) box.style.setProperty("--far", across(places.far));
  const svg = mark(box, "svg", { role: "img", "aria-label": statement.place });
  places.others.forEach((other, at) => {
    const side = other > 0 && !(other > places.far && places.far > 0) ? "supported" : "contradicted";
    mark(svg, "circle", { cx: across(other), cy: 13, r: 2.5, ...(places.resolved[at] ? { fill: `var(--${side})`, opacity: 0.6 } : { fill: "none", stroke: "var(--open)" }) });
  });
  if (places.low !== null) bar(svg, across(places.low), 13, across(places.high), 13, "var(--hue)", 0.55);
  else line(svg, "50%", 13, across(places.value), 13, "var(--hue)", { "stroke-width": 1.5, "stroke-dasharray": "2 3", opacity: 0.8 });
  const hollow = statement.verdict === "open";
  mark(svg, "circle", { cx: across(places.value), cy: 13, r: hollow ? 5 : 5.5, stroke: "var(--hue)", "stroke-width": hollow ? 2 : 0,
    fill: hollow ? "var(--ground)" : "var(--hue)" });
  return box;
}

const unmeasured = (statement) => make("span", { class: "val none" }, ["not measured yet", statement.price].filter(Boolean).join(", "));

// No line ends before a number.
const bound = (text) => text.replace(/\b(at|to|by|of) (?=[−+±]?\d)/g, "$1\u00a0");

// The number and what it rests on.
function printed(statement) {
  if (!statement.number) return unmeasured(statement);
  const rests = statement.readings && make("span", { class: "bound", title: statement.held || null }, ` · ${statement.readings}`);
  return make("span", { class: "val", title: statement.place }, statement.number, rests || null);
}

// The same in a row, in columns: the number rounded, and quietly what it is a number of, which an opened claim says whole.
function columns(statement) {
  if (!statement.number) return unmeasured(statement);
  return make("span", { class: "val cols", title: statement.place }, make("span", {}, statement.rounded), " ", make("span", { class: "bound" }, statement.short_unit), " ",
    make("span", { class: "bound", title: statement.held || null }, statement.readings + (statement.held ? " hold" : ""), statement.needs ? make("span", { class: "needs" }, statement.needs) : ""));
}

// A supported statement with a plain sentence is told by that alone: the words of its rule lie behind the press. Of any
// other, the statement stands first, since what was found says something else. The verdict stands below either.
const retold = (statement) => Boolean(statement.found && statement.plain && statement.verdict === "supported");
function sayings(statement) {
  const word = make("span", { class: "word" }, statement.verdict);
  if (!statement.found) return [bound(statement.text), opposing(statement)];
  if (retold(statement)) return [bound(statement.found), opposing(statement)];
  return [bound(statement.text), opposing(statement), make("small", { class: "found" }, word, `: ${bound(statement.found)}`)];
}

// What an opened statement's number is of, and where the line of its strip lies.
function measured(statement) {
  if (!statement.number) return null;
  return make("span", { class: "unit" }, bound([statement.unit, statement.interval, statement.sides, statement.line].filter(Boolean).join("; ")));
}

// The sign and colour of a statement say what its verdict means for the claim: a supported one that says the opposite of its
// claim has those of a contradicted one. One that takes no side has its own verdict's.
const meaning = (statement) => (statement.aside ? statement.verdict : BEARINGS[statement.bearing]);

// A statement in the line of its claim; a small square without a sign takes no side.
function square(statement, typical) {
  const words = [`${statement.id} ${statement.verdict}`, statement.opposes && "says the opposite of the claim", statement.aside && "takes no side", statement.bearing === "against" && "speaks against the claim", typical && "shown at the right"];
  const classes = [meaning(statement), statement.aside && "outside", typical && "typical"];
  return make("i", { class: classes.filter(Boolean).join(" "), title: words.filter(Boolean).join(", "), "data-id": statement.id },
    statement.aside ? "" : SIGNS[meaning(statement)]);
}

// What the verdict on a statement that says the opposite of its claim means for the claim; null for any other.
function opposing(statement) {
  if (!statement.opposes) return null;
  const side = { for: `Speaks for the claim: this is its opposite, and it is ${statement.verdict}.`, against: `Speaks against the claim: this is its opposite, and it is ${statement.verdict}.` };
  return make("small", { class: "opposing" }, side[statement.bearing] ?? "This is the opposite of the claim.");
}

// Statements for a claim and against it, quietly: one red square among five green ones decides, but says little of the rest.
function balance(sides) {
  if (!sides) return null;
  const [supporting, opposing] = sides.split(" : ");
  return make("span", { class: "sides", role: "img", "aria-label": `${supporting} for, ${opposing} against` }, sides);
}

// The text that most of a claim's statements share, where that saves repeating it; "" for none.
function usual(texts) {
  const counts = Map.groupBy(texts, (text) => text);
  const [text, all] = [...counts].sort(([, one], [, other]) => other.length - one.length)[0] ?? ["", []];
  return all.length > 2 ? text : "";
}

// What the first page quotes comes first, then what decides the claim, what is decided, what is measured, what waits.
const place = (one) => (one.quoted ? 0 : one.decides ? 1 : one.verdict !== "open" ? 2 : one.number ? 3 : 4);
const inOrder = (statements) => [...statements].sort((one, other) => place(one) - place(other));

// Those that take no side come last, together with those of the same reason.
const grouped = (statements) => [...statements].sort((one, other) => one.aside.localeCompare(other.aside));
// Statements that take no side follow those that do.
const sided = (statements) => [...statements].sort((one, other) => Boolean(one.aside) - Boolean(other.aside));

function source(quotation) {
  const name = `document ${quotation.document}`;
  const link = quotation.url ? make("a", { href: quotation.url, target: "_blank", rel: "noopener" }, name) : name;
  return make("span", { title: quotation.title }, `${quotation.place}, `, link);
}

function day(text) {
  const date = new Date(`${text}T00:00:00Z`);
  return date.toLocaleDateString("en-GB", { day: "numeric", month: "short", timeZone: "UTC" });
}

const verdict = (word) => (word ? make("b", {}, word) : null);

function entry(change, name) {
  const said = make("span", {});
  if (change.statements) said.append(change.statements, name || change.after ? " " : ": ");
  if (name) said.append(name, change.after ? " " : ": ");
  if (change.before && change.before !== change.after) said.append(verdict(change.before), " → ");
  if (change.after) said.append(verdict(change.after), ". ");
  said.append(change.words);
  if (change.said && !name) said.append(make("span", { class: "said" }, ` It said: “${change.said}”`));
  return make("li", { "data-ids": change.ids.join(" ") }, make("time", { datetime: change.day }, day(change.day)), said);
}

function behind(detail, statement) {
  const box = make("div", { class: "under" });
  if (!detail) {
    box.append(make("p", { class: "soft" }, "Loading …"));
    return box;
  }
  if (retold(statement)) box.append(make("p", {}, make("b", {}, "The statement. "), statement.text));
  if (detail.sentence !== statement.found) box.append(make("p", {}, make("b", {}, "What was found. "), ...prose(detail.sentence)));
  box.append(make("p", {}, make("b", {}, "The rule. "), ...prose(detail.rule)));
  box.append(make("p", { class: "soft" }, detail.version));
  if (detail.readings.length) {
    const head = make("tr", {}, ...["source", "stands", "value", "95 % interval", "line", "note"].map((name, place) => make("th", { class: place > 1 && place < 5 ? "number" : null }, name)));
    const rows = detail.readings.map((cells) =>
      make("tr", {}, ...cells.map((cell, place) => make("td", { class: place > 1 && place < 5 ? "number" : null }, cell))));
    box.append(make("div", { class: "wide", tabindex: 0, role: "region", "aria-label": "Readings" },
      make("table", {}, make("thead", {}, head), make("tbody", {}, ...rows))));
  }
  if (detail.command) box.append(make("p", { class: "soft" }, "This command makes the results; then the verdict is computed again:"),
    make("pre", {}, detail.command));
  if (detail.query) box.append(make("p", { class: "soft" }, "This query asks for the data:"), make("pre", {}, detail.query));
  return box;
}

export default function ({ data, parentElement: root, setStateValue }) {
  const { board, state, at, details, picture, pages, tours, address } = JSON.parse(data.json);
  const section = root.querySelector(".board");
  const $ = (selector) => section.querySelector(selector);
  section.style.cssText = `${data.colours} ${board.colours}`;
  const memory = (root.claims ??= { opened: new Set() });
  const first = !memory.state;
  memory.details = details;
  memory.picture = picture;
  // What was pressed since the server drew this stays pressed.
  if (first || at >= (memory.at ?? 0)) memory.state = { ...state };

  const claims = board.groups.flatMap((group) => group.claims);
  const tell = () => {
    memory.at = Date.now();
    setStateValue("pressed", { ...memory.state, at: memory.at });
  };

  // ---- One claim, opened ----

  function opened(claim) {
    const panel = make("div", { class: "panel", id: `panel-${claim.id}`, role: "region", "aria-label": claim.title });
    const ordered = inOrder(claim.statements);
    const tinted = memory.state.statement || ordered[0]?.id;
    const scope = usual(claim.statements.map((one) => one.scope));
    const scoped = scope ? ` Unless a statement says otherwise, it is about ${scope}.` : "";
    panel.append(make("p", { class: "decided" }, make("b", {}, claim.decided), ` ${[claim.more, claim.lean].filter(Boolean).join(" ")}.${scoped}`));
    const { ways, curve } = memory.picture[claim.id] ?? {};
    panel.insertAdjacentHTML("beforeend", ways ?? "");
    const beside = make("details", { class: "beside" });
    let reason = "";
    for (const statement of grouped(ordered)) {
      const shows = memory.opened.has(statement.id);
      const button = make("button", { class: "behind", "aria-expanded": String(shows), "data-behind": statement.id },
        `${statement.behind} ${shows ? "▾" : "▸"}`);
      button.onclick = () => {
        if (!memory.opened.delete(statement.id)) memory.opened.add(statement.id);
        redraw();
        section.querySelector(`[data-behind="${statement.id}"]`)?.focus();
      };
      const worded = !statement.found || retold(statement);
      const say = make("div", { class: "say" }, ...sayings(statement),
        make("small", {}, worded ? make("span", { class: "word" }, statement.verdict) : null, worded ? " · " : "", `${[statement.id, statement.quoted && "quoted on the first page", statement.decides && "decides the claim", statement.scope !== scope && statement.scope].filter(Boolean).join(" · ")} · `, button),
        statement.tour ? make("small", {}, make("a", { href: tours[statement.tour], target: "_self" }, "Move along the curve in the tour")) : null,
        statement.part ? make("small", {}, make("b", {}, "Why it counts: "), statement.part) : null,
        statement.would_decide ? make("small", {}, make("b", {}, "Would decide it: "), ...prose(`${statement.would_decide.replace(/\.$/, "")}.`)) : null);
      const drawn = statement.tour && curve ? make("div", { class: "under" }) : null;
      drawn?.insertAdjacentHTML("beforeend", curve);
      if (statement.aside && statement.aside !== reason) beside.append(make("p", { class: "decided" }, (reason = statement.aside)));
      (statement.aside ? beside : panel).append(make("div", { class: `g st ${meaning(statement)}${statement.id === tinted ? " quoted" : ""}`, "data-statement": statement.id },
        make("span", { class: "sign", "aria-hidden": "true" }, SIGNS[meaning(statement)]), say, strip(statement), printed(statement), measured(statement), drawn,
        shows ? behind(memory.details[statement.id], statement) : null));
    }
    const asides = ordered.filter((one) => one.aside);
    if (asides.length) {
      beside.prepend(make("summary", {}, asides.length === 1 ? "1 statement that takes no side" : `${asides.length} statements that take no side`));
      beside.open = memory.beside ?? asides.some((one) => one.id === tinted || (memory.state.verdict && one.verdict === memory.state.verdict));
      beside.ontoggle = () => (memory.beside = beside.open);
      panel.append(beside);
    }
    const quotes = make("div", {}, make("h3", {}, claim.quotations.length ? "In the documents’ own words" : "Where it is from"));
    for (const one of claim.quotations)
      quotes.append(make("blockquote", {}, `“${one.words}”`, make("footer", {}, source(one))));
    quotes.append(make("p", { class: "ours" }, claim.statement ? `In our words: ${claim.statement}` : "No document makes this claim; it is of our own, or of the later literature."));
    if (claim.findings.length) quotes.append(make("h3", {}, "In later work, in our words"));
    for (const one of claim.findings)
      quotes.append(make("p", { class: "ours" }, make("b", {}, SIDES[one.side]), `: ${one.finding} `, make("a", { href: one.url, target: "_blank", rel: "noopener" }, one.short), ` (read: ${one.transcribed_from}). ${one.caveat}`));
    const log = make("ul", { class: "log" }, ...claim.changes.map((change) => entry(change)));
    for (const line of log.children)
      if (memory.state.statement && line.dataset.ids.split(" ").includes(memory.state.statement)) line.className = "quoted";
    const changed = make("div", {}, make("h3", {}, "What changed when"), log);
    const later = [...log.children].slice(LOG_LINES);
    if (later.length) {
      const quoted = later.some((line) => line.className === "quoted");
      changed.append(make("details", quoted ? { open: "" } : {}, make("summary", {}, earlier(later.length)), make("ul", { class: "log" }, ...later)));
    }
    panel.append(make("div", { class: "foot" }, make("span", { class: "gap" }), quotes, changed));
    const acts = make("div", { class: "acts" });
    for (const page of claim.pages)
      if (pages[page]) acts.append(make("a", { href: pages[page].address, target: "_self" }, `See the figures: ${pages[page].title}`));
    acts.append(make("a", { href: `${address}?claim=${claim.id}`, target: "_self" }, "Link to this claim"));
    panel.append(acts);
    return panel;
  }

  // ---- What is shown ----

  function matches(statement) {
    const { verdict: word, evidence } = memory.state;
    return (!word || statement.verdict === word) && (!evidence || statement.evidence.includes(evidence));
  }

  function shown(claim) {
    const { document: source } = memory.state;
    const wanted = (memory.find ?? "").trim().toLowerCase();
    const words = [claim.id, claim.title, claim.statement, ...claim.statements.map((one) => `${one.id} ${one.text} ${one.sides}`)].join(" ").toLowerCase();
    return (!source || claim.documents.includes(source)) && claim.statements.some(matches) && (!wanted || words.includes(wanted));
  }

  function press(changes) {
    Object.assign(memory.state, changes);
    redraw();
    tell();
  }

  // The standing of a claim in a word, above how many of its statements speak for and against it.
  function standing(claim) {
    return make("span", { class: `standing${claim.statements.every(matches) ? "" : " off"}` }, make("span", {}, board.standings[claim.standing].row), balance(claim.sides));
  }

  function row(claim) {
    // Under a filter the strip is that of a statement which matches it.
    const byRank = [...claim.statements].sort((one, other) => other.typical - one.typical || Boolean(one.aside) - Boolean(other.aside) || Boolean(other.number) - Boolean(one.number));
    const typical = (memory.state.by === "hours" && soonest(claim)) || (byRank.find(matches) ?? byRank[0]);
    const isOpen = memory.state.claim === claim.id;
    const line = make("button", { class: "g row", id: claim.id, "aria-expanded": String(isOpen), "aria-controls": isOpen ? `panel-${claim.id}` : null });
    const squares = make("span", { class: "sq", role: "img", "aria-label": claim.lean }, ...sided(inOrder(claim.statements)).map((statement) => {
      const mark = square(statement, statement === typical);
      mark.classList.toggle("off", !matches(statement));
      return mark;
    }));
    squares.querySelector(".outside")?.before(make("b"));
    line.append(make("span", { class: "caret", "aria-hidden": "true" }, "▶"), make("span", { class: "n" }, claim.title, " ", make("small", {}, [claim.id, claim.note].filter(Boolean).join(" · "))),
      make("span", { class: "parts" }, squares, standing(claim)), strip(typical), memory.state.by === "hours" && soonest(claim) ? price(typical) : columns(typical));
    line.onclick = () => {
      const before = line.getBoundingClientRect().top;
      memory.beside = null;
      press({ claim: isOpen ? "" : claim.id, statement: "" });
      const after = section.querySelector(`[id="${claim.id}"]`);
      after.focus({ preventScroll: true });
      // What was open above closes; the pressed row stays under the pointer.
      const scroller = after.closest("*") && scrolling(root);
      scroller?.scrollBy({ top: after.getBoundingClientRect().top - before, behavior: "instant" });
    };
    return line;
  }

  function scrolling(element) {
    for (let node = element; node; node = node.parentElement ?? node.getRootNode().host)
      if (node instanceof Element && node.scrollHeight > node.clientHeight + 1 && /auto|scroll/.test(getComputedStyle(node).overflowY)) return node;
    return null;
  }

  // The open statement of a claim that the fewest hours would decide, among those that match.
  function soonest(claim) {
    return claim.statements.filter((one) => one.hours !== null && matches(one)).sort((one, other) => one.hours - other.hours)[0];
  }

  function price(statement) {
    return make("span", { class: "val" }, statement.price, make("span", { class: "bound" }, ` would decide ${statement.id}`));
  }

  function groups() {
    if (memory.state.by === "hours") {
      const waiting = claims.filter(soonest).sort((one, other) => soonest(one).hours - soonest(other).hours);
      return [{ title: "Open statements by the hours of one core that would decide them", claims: waiting }];
    }
    if (memory.state.by !== "verdict") return board.groups;
    return Object.entries(board.standings).map(([standing, { heading }]) => ({ title: heading, claims: claims.filter((claim) => claim.standing === standing) }));
  }

  // The open statements of all claims that are shown, of which only some say how many hours would decide them.
  function estimated() {
    const waiting = claims.filter(shown).flatMap((claim) => claim.statements).filter((one) => one.verdict === "open" && matches(one));
    return `${waiting.filter((one) => one.hours !== null).length} of ${waiting.length} open statements have an estimate of hours`;
  }

  function redraw() {
    const { verdict: word, evidence, document: source } = memory.state;
    for (const button of section.querySelectorAll("[data-field]"))
      button.setAttribute("aria-pressed", String(memory.state[button.dataset.field] === button.dataset.value));
    $(".tally").classList.toggle("chosen", Boolean(word));
    $(".document").value = source;
    $(".shows").textContent = memory.state.by === "hours" ? "hours of one core" : "value (bar: 95 % interval), unit, on how many";
    const rows = document.createDocumentFragment();
    const listed = new Set();
    for (const group of groups()) {
      const visible = group.claims.filter((claim) => shown(claim) || claim.id === memory.state.claim);
      if (!visible.length) continue;
      const statements = group.claims.flatMap((claim) => claim.statements);
      const matching = visible.flatMap((claim) => claim.statements).filter(matches).length;
      const number = matching < statements.length ? `${matching} of ${statements.length}` : statements.length;
      const among = visible.length < group.claims.length ? `${visible.length} of ${group.claims.length}` : visible.length;
      const counted = memory.state.by === "hours" ? `${estimated()}; shown: the quickest of each of ${visible.length} claims`
        : `${memory.state.by === "verdict" ? `${among} claims, ` : ""}${number} statements`;
      rows.append(make("div", { class: "g q" }, make("h2", {}, group.title), make("span", { class: "parts" }, make("small", {}, counted), matching < statements.length ? null : balance(group.sides))));
      for (const claim of visible) {
        listed.add(claim.id);
        rows.append(row(claim));
        if (claim.id === memory.state.claim) rows.append(opened(claim));
      }
    }
    $(".rows").replaceChildren(rows);
    const narrowed = word || evidence || source || (memory.find ?? "").trim();
    history(narrowed ? listed : null);
    $(".count").textContent = !listed.size ? "No claim has a statement like this." : narrowed ? `${listed.size} of ${claims.length} claims${word || evidence ? "; statements that match have a box" : ""}.${word === "contradicted" || word === "supported" ? ` ✓ and ✗ say whether a statement speaks for its claim or against it; one that is ${word} can do either.` : ""}` : "";
  }

  // ---- What stands once ----

  function chip(field, value, text, one = false) {
    const button = make("button", { "data-field": field, "data-value": value }, text);
    button.onclick = () => press({ [field]: !one && memory.state[field] === value ? "" : value });
    return button;
  }

  const all = chip("verdict", "", "All");
  all.className = "all";
  $(".tally").replaceChildren(all, ...Object.entries(board.counts).map(([word, number]) => {
    const button = chip("verdict", word, `${number} ${word}`);
    button.className = word;
    button.style.flex = `${Math.max(number, 8)} 1 0`;
    return button;
  }));
  $(".document").replaceChildren(make("option", { value: "" }, "any"), ...Object.entries(board.documents).map(([key, title]) => make("option", { value: key }, `${key}: ${title}`)));
  $(".document").onchange = (event) => press({ document: event.target.value });
  $(".evidence").replaceChildren(...Object.entries(board.evidence).map(([key, text]) => chip("evidence", key, text)));
  $(".by").replaceChildren(chip("by", "question", "By question", true), chip("by", "verdict", "By verdict", true), chip("by", "hours", "By hours to decide", true));
  const fold = (opened) => {
    $(".bar").classList.toggle("unfolded", opened);
    $(".fold").setAttribute("aria-expanded", opened);
  };
  // On a phone, what the address asks for is seen from the start.
  memory.unfolded ??= Boolean(memory.state.document || memory.state.evidence || memory.state.by !== "question");
  fold(memory.unfolded);
  $(".fold").onclick = () => fold((memory.unfolded = !memory.unfolded));
  $(".find").oninput = (event) => {
    memory.find = event.target.value;
    redraw();
  };
  $(".signs").textContent = board.signs;
  $(".rules").replaceChildren(...Object.entries(board.key).flatMap(([name, words]) => [make("dt", {}, name), make("dd", {}, words)]));
  $(".changes .sub").textContent = board.log.words;
  function name(change) {
    const link = make("button", {}, change.title);
    link.style.color = "var(--accent)";
    link.onclick = () => {
      memory.beside = null;
      press({ claim: change.claim, statement: change.ids[0] ?? "" });
      show();
    };
    return link;
  }

  // The log of the claims that are listed; for none of all, with those that were withdrawn.
  function history(listed) {
    const lines = board.log.entries.filter((change) => !listed || listed.has(change.claim)).map((change) => entry(change, name(change)));
    $(".changes > .log").replaceChildren(...lines.slice(0, board.log.first));
    $(".log.all").replaceChildren(...lines.slice(board.log.first));
    $(".changes details").hidden = lines.length <= board.log.first;
    $(".changes summary").textContent = earlier(lines.length - board.log.first);
  }

  function show() {
    const { claim, statement } = memory.state;
    const target = (statement && section.querySelector(`[data-statement="${statement}"]`)) || section.querySelector(`[id="${claim}"]`);
    // Of what is taller than the page, the middle would hide the beginning.
    const tall = target && target.getBoundingClientRect().height > 0.7 * window.innerHeight;
    target?.scrollIntoView({ block: tall ? "start" : "center", behavior: "instant" });
  }

  const focused = focusedIn(root);
  const focusedId = focused?.id || focused?.dataset?.behind;
  redraw();
  section.classList.add("built");
  if (focusedId) section.querySelector(`[id="${focusedId}"], [data-behind="${focusedId}"]`)?.focus({ preventScroll: true });
  if (first && memory.state.claim) requestAnimationFrame(show);
}
