// A slider leafs through pictures that were drawn beforehand: what a reader drags is answered here, in the browser. The
// server hears of the value when the slider is let go, and draws what else depends on it. It draws the pictures for the
// width that they have here, so that letters keep their size on every screen; until it knows that width, it sends the
// first picture for a phone as well, as `narrow`.

const JOINER = "\u2060"; // no line ends at it

// No line ends within a name such as all-MiniLM-L6-v2.
const unbroken = (text) => text.replace(/(?<=\w)-(?=\w)/g, `-${JOINER}`);

const STEP = 20; // pixels: a width is rounded down to a multiple, so that few widths are drawn

export default function ({ data, parentElement: root, setStateValue }) {
  const figure = root.querySelector("figure");
  const slider = root.querySelector("input");
  const panels = root.querySelector(".panels");
  const heading = root.querySelector("h2");
  const { frames, narrow, enough, at, label, scale, width: asked } = JSON.parse(data.json);
  figure.style.cssText = data.colours;
  root.querySelector("label span").textContent = label;
  slider.max = frames.length - 1;
  if (!slider.matches(":active")) slider.value = at;
  // What was sent before may still hear of a change of width: only the newest pictures are drawn.
  figure.newest = data.json;
  const draw = () => {
    if (figure.newest !== data.json) return;
    const small = narrow && +slider.value === at && figure.clientWidth < enough;
    const frame = small ? narrow : frames[+slider.value];
    root.querySelector("output").textContent = frame.label;
    slider.setAttribute("aria-valuetext", frame.label);
    figure.classList.toggle("waiting", !frame.panels.length);
    if (!frame.panels.length) return;
    heading.textContent = unbroken(frame.heading);
    panels.setAttribute("aria-label", frame.heading);
    panels.style.gridTemplateColumns = `repeat(${frame.columns}, minmax(0, 1fr))`;
    panels.innerHTML = frame.panels.join("");
    for (const svg of panels.children) svg.style.width = `${scale * svg.viewBox.baseVal.width}px`;
    figure.dataset.at = slider.value;
  };
  slider.oninput = () => {
    figure.classList.add("moved"); // the hint beside the slider has done its work
    draw();
  };
  slider.onchange = () => +slider.value !== at && setStateValue("at", +slider.value);
  draw();
  // The heading takes the lines of the longest one, so that the picture stays where it is while the slider moves.
  const level = () => {
    heading.style.minHeight = "";
    const shown = heading.textContent;
    const heights = frames.map((frame) => ((heading.textContent = unbroken(frame.heading)), heading.offsetHeight));
    heading.textContent = shown;
    heading.style.minHeight = `${Math.max(...heights)}px`;
  };
  level();
  const report = () => {
    const width = Math.max(STEP, Math.floor(figure.clientWidth / STEP) * STEP);
    if (figure.clientWidth && asked !== width) setStateValue("width", width);
  };
  report();
  let waiting;
  const watch = new ResizeObserver(() => {
    level();
    if (narrow) draw();
    clearTimeout(waiting);
    waiting = setTimeout(report, 300);
  });
  watch.observe(figure);
  return () => {
    clearTimeout(waiting);
    watch.disconnect();
  };
}
