// Cards that are a radio group: each holds a question, its answer and a small picture; the pressed one is outlined. The
// outline moves at once, and the server draws the figure.

const HEIGHT = 50; // pixels of a picture

function curve(group, points, width, closed) {
  const at = ([x, y]) => `${(x * width).toFixed(1)} ${((1 - y) * HEIGHT).toFixed(1)}`;
  const through = points.map(at).join("L");
  const d = closed ? `M${at([points[0][0], 0])}L${through}L${at([points.at(-1)[0], 0])}Z` : `M${through}`;
  mark(group, "path", { d, class: closed ? "area" : null });
}

function picture(svg, width, curves) {
  for (const { kind, filled, points } of curves) {
    const group = mark(svg, "g", { class: kind });
    if (filled) curve(group, points, width, true);
    if (!filled || kind !== "random") curve(group, points, width, false);
  }
}

export default function ({ data, parentElement: root, setStateValue }) {
  const group = root.querySelector(".cards");
  const { cards, at } = JSON.parse(data.json);
  const hadFocus = group.contains(focusedIn(group));
  group.style.cssText = data.colours;
  const buttons = cards.map((card, index) => {
    const texts = { q: `${index + 1} · ${card.question}`, a: card.answer, n: card.numbers, picture: null };
    return make("button", { type: "button", role: "radio", "data-part": card.part },
      ...Object.entries(texts).map(([name, text]) => make("span", { class: name }, text)));
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
      const target = neighbour(event, index, cards.length);
      if (target !== undefined) press(target);
    };
  });
  group.replaceChildren(...buttons);
  press(cards.findIndex((card) => card.part === at), { focus: hadFocus, tell: false });
  return atEveryWidth(group, () => buttons.forEach((button, index) =>
    canvas(button.lastChild, HEIGHT, (svg, width) => picture(svg, width, cards[index].curves))));
}
