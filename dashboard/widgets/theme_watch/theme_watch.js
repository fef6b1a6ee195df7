// When the reader's system turns dark or light, Streamlit changes the background at once but does not run the page again,
// so that charts keep the colours of the old background. This component asks for a new run once the background has changed.

const WAIT_MS = 2000; // Streamlit changes the background within this time, or never, where the reader has chosen a theme.

export default function ({ data, setTriggerValue }) {
  const { dark } = JSON.parse(data.json);
  const system = matchMedia("(prefers-color-scheme: dark)");
  const app = document.querySelector("[data-testid=stApp]");
  const hasChanged = () => (getComputedStyle(app).colorScheme === "dark") !== dark;
  let timer;
  const watch = () => {
    const deadline = performance.now() + WAIT_MS;
    clearInterval(timer);
    timer = setInterval(() => {
      if (hasChanged()) setTriggerValue("changed", true);
      if (hasChanged() || performance.now() > deadline) clearInterval(timer);
    }, 50);
  };
  system.addEventListener("change", watch);
  return () => {
    clearInterval(timer);
    system.removeEventListener("change", watch);
  };
}
