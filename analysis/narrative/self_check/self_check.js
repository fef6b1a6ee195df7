// Five questions, answered in place: the sign and the sentence appear as soon as an option is chosen, and another one
// may be tried. All text is the page's own and goes in as text.

function made(document, name, text, properties = {}) {
  const element = Object.assign(document.createElement(name), properties);
  if (text) element.append(text);
  return element;
}

export default function ({ data, parentElement: root }) {
  const document = root.ownerDocument ?? root;
  const section = root.querySelector("section");
  const { checks } = JSON.parse(data.json);
  section.style.cssText = data.colours;
  const first = checks.map(() => null); // what was answered first: that counts
  const score = () => {
    const answered = first.filter((answer) => answer !== null).length;
    const right = first.filter((answer, i) => answer === checks[i].right).length;
    root.querySelector(".score").textContent = answered
      ? `${right} of ${answered} right at the first try${answered < checks.length ? `, ${checks.length - answered} to go` : ""}.`
      : `${checks.length} questions on what you read. The first answer counts, and you may try on.`;
  };
  const question = (check, i) => {
    const box = made(document, "fieldset");
    box.append(made(document, "legend", `${i + 1}. ${check.question}`));
    const why = made(document, "p", "", { className: "why" });
    why.setAttribute("aria-live", "polite");
    const labels = check.options.map((option, j) => {
      const label = made(document, "label");
      const input = made(document, "input", "", { type: "radio", name: `check-${i}` });
      const sign = made(document, "span", "", { className: "sign" });
      label.append(input, made(document, "span", option), sign);
      input.onchange = () => {
        const right = j === check.right;
        first[i] ??= j;
        for (const other of labels) {
          other.classList.remove("right");
          other.querySelector(".sign").textContent = "";
        }
        sign.textContent = right ? "✓" : "✗";
        label.classList.toggle("right", right);
        const link = made(document, "a", "Read the step again", { href: check.address, target: "_self" });
        why.replaceChildren(right ? `Right. ${check.because} ` : `No. ${check.because} `, link);
        score();
      };
      return label;
    });
    box.append(...labels, why);
    return box;
  };
  root.querySelector(".questions").replaceChildren(...checks.map(question));
  score();
}
