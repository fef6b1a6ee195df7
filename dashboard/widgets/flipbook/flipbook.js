// A slider leafs through pictures that were drawn beforehand: what a reader drags is answered here, in the browser. The
// server hears of the value when the slider is let go, and draws what else depends on it.

const NARROW = 640; // pixels, below which the pictures of a phone are asked for
const LARGER = 1.2; // times the size of an export, so that letters are as large as those around them

export default function ({ data, parentElement: root, setStateValue }) {
  const figure = root.querySelector("figure");
  const slider = root.querySelector("input");
  const panels = root.querySelector(".panels");
  const { frames, at, label, width: asked } = JSON.parse(data.json);
  figure.style.cssText = data.colours;
  root.querySelector("label span").textContent = label;
  slider.max = frames.length - 1;
  if (!slider.matches(":active")) slider.value = at;
  const draw = () => {
    const frame = frames[+slider.value];
    root.querySelector("output").textContent = frame.label;
    slider.setAttribute("aria-valuetext", frame.label);
    figure.classList.toggle("waiting", !frame.panels.length);
    if (!frame.panels.length) return;
    root.querySelector("h2").textContent = frame.heading;
    panels.setAttribute("aria-label", frame.heading);
    panels.innerHTML = frame.panels.join("");
    for (const svg of panels.children) svg.style.width = `${LARGER * svg.viewBox.baseVal.width}px`;
    figure.dataset.at = slider.value;
  };
  slider.oninput = draw;
  slider.onchange = () => +slider.value !== at && setStateValue("at", +slider.value);
  draw();
  const width = figure.clientWidth < NARROW ? "narrow" : "wide";
  if (asked !== width) setStateValue("width", width);
}
