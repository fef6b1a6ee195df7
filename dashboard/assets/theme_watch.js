// Streamlit turns dark or light with the reader's system at once, and draws nothing anew: charts would keep the ink of the
// ground that is gone. This asks the server for the page once the ground has another colour.

const PATIENCE = 2000; // ms in which Streamlit has followed the system, or does not, because the reader chose a theme

export default function ({ data, setTriggerValue }) {
  const system = matchMedia("(prefers-color-scheme: dark)");
  const app = document.querySelector("[data-testid=stApp]");
  const isDark = () => getComputedStyle(app).colorScheme === "dark";
  let waiting;
  const watch = () => {
    const until = performance.now() + PATIENCE;
    clearInterval(waiting);
    waiting = setInterval(() => {
      if (isDark() === data.dark && performance.now() < until) return;
      clearInterval(waiting);
      if (isDark() !== data.dark) setTriggerValue("changed", true);
    }, 50);
  };
  system.addEventListener("change", watch);
  return () => {
    clearInterval(waiting);
    system.removeEventListener("change", watch);
  };
}
