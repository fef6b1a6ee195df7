// What the boards share; it stands before the script of each. Elements and marks, numbers, keys, and true pixels.

function filled(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) if (value != null) element.setAttribute(name, value);
  element.append(...children.filter((child) => child != null));
  return element;
}

// An element. Attributes and children that are null or undefined are left out.
const make = (tag, attributes = {}, ...children) => filled(document.createElement(tag), attributes, children);

// An element as the last child of another.
const put = (parent, ...made) => parent.appendChild(make(...made));

// An SVG element as the last child of another.
const mark = (parent, tag, attributes = {}, ...children) =>
  parent.appendChild(filled(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children));

const line = (svg, x1, y1, x2, y2, stroke = "var(--line)", more = {}) => mark(svg, "line", { x1, y1, x2, y2, stroke, ...more });

// An interval: a wide line with round ends.
const bar = (svg, x1, y1, x2, y2, stroke, opacity, width = 4) =>
  line(svg, x1, y1, x2, y2, stroke, { "stroke-width": width, "stroke-linecap": "round", opacity });

const diamond = (svg, x, y) => mark(svg, "path", { d: `M${x} ${y - 7}l7 7l-7 7l-7-7z`, fill: "var(--ink)" });

// Draws into a place, as wide as it is; a place that is not shown stays empty.
function canvas(host, height, draw) {
  host.replaceChildren();
  const width = host.clientWidth;
  if (width) draw(mark(host, "svg", { width, height, "aria-hidden": true }), width);
}

// A number with its sign, and zero without one.
const signed = (value, digits = 2) => {
  const text = Math.abs(value).toFixed(digits);
  return +text === 0 ? text : `${value < 0 ? "−" : "+"}${text}`;
};

// The place to which a key moves in a group of so many, whose ends meet; undefined for other keys.
function neighbour(event, at, count) {
  const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
  const next = step ? (at + step + count) % count : { Home: 0, End: count - 1 }[event.key];
  if (next !== undefined) event.preventDefault();
  return next;
}

const focusedIn = (root) => root.getRootNode().activeElement;

// Draws at once, and again when an element gets another width. Returns what ends that.
function atEveryWidth(element, draw) {
  let width = 0;
  const look = () => {
    if (element.clientWidth === width) return;
    width = element.clientWidth;
    draw();
  };
  look();
  const observer = new ResizeObserver(look);
  observer.observe(element);
  return () => observer.disconnect();
}
