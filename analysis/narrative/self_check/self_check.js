// Five questions, answered in place: a wrong option may be followed by a second one, and only then the answer is given.
// All text is the page's own and goes in as text.

const TRIES = 2;

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
      : `${checks.length} questions on what you read. The first answer counts; you may try twice.`;
  };
  const question = (check, i) => {
    const box = made(document, "fieldset");
    box.append(made(document, "legend", `${i + 1}. ${check.question}`));
    const why = made(document, "p", "", { className: "why" });
    why.setAttribute("aria-live", "polite");
    const tried = new Set();
    const link = (words) => made(document, "a", words, { href: check.address, target: "_self" });
    const labels = check.options.map((option, j) => {
      const label = made(document, "label");
      const input = made(document, "input", "", { type: "radio", name: `check-${i}` });
      const sign = made(document, "span", "", { className: "sign" });
      label.append(input, made(document, "span", option), sign);
      input.onchange = () => {
        const right = j === check.right;
        first[i] ??= j;
        tried.add(j);
        sign.textContent = right ? "✓" : "✗";
        score();
        if (!right && tried.has(check.right)) {
          why.replaceChildren(`Not this one: your first answer was right. ${check.because} `, link("Read the step again"));
          return;
        }
        if (!right && tried.size < TRIES) {
          why.replaceChildren("Not this one. Try again, or first ", link("read the step again"), ".");
          return;
        }
        labels[check.right].classList.add("right");
        labels[check.right].querySelector(".sign").textContent = "✓";
        const verdict = right ? "Right." : `Not this one either. It is: ${check.options[check.right]}.`;
        why.replaceChildren(`${verdict} ${check.because} `, link("Read the step again"));
      };
      return label;
    });
    box.append(...labels, why);
    return box;
  };
  root.querySelector(".questions").replaceChildren(...checks.map(question));
  score();
}
