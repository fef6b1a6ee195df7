// When the reader's system turns dark or light, Streamlit changes the background but does not run the page again, so that
// charts keep the colours of the old background. This component asks for a new run once the background has changed, however
// long that takes on a slow or busy computer. Where the reader has chosen a theme, the background never changes.

const AGAIN_MS = 3000; // Streamlit may lose what is asked of it while it draws, so that we ask until the page has changed.

// Vega names a gradient by the whole address of the page: url(https://host/page?part=a#gradient_0). Once the address has
// changed that names nothing, and the key of a chart that stays on the page loses its colours. A name without the address
// stays true.
function nameGradientsLocally() {
  for (const node of document.querySelectorAll('svg [fill^="url("]')) {
    const local = node.getAttribute("fill").replace(/^url\([^#]*#/, "url(#");
    if (local !== node.getAttribute("fill")) node.setAttribute("fill", local);
  }
}

function watchAddress() {
  if (history.watched) return;
  history.watched = true;
  for (const name of ["pushState", "replaceState"]) {
    const change = history[name].bind(history);
    history[name] = (...values) => {
      change(...values);
      nameGradientsLocally();
    };
  }
  addEventListener("popstate", nameGradientsLocally);
}

export default function ({ data, setTriggerValue }) {
  watchAddress();
  const { dark } = JSON.parse(data.json);
  const app = document.querySelector("[data-testid=stApp]");
  let timer;
  const ask = () => {
    clearTimeout(timer);
    if ((getComputedStyle(app).colorScheme === "dark") === dark) return;
    setTriggerValue("changed", true);
    timer = setTimeout(ask, AGAIN_MS);
  };
  const observer = new MutationObserver(ask);
  observer.observe(app, { attributes: true, attributeFilter: ["class"] });
  ask();
  return () => {
    clearTimeout(timer);
    observer.disconnect();
  };
}
