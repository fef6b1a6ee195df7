// Opens the fold that a link's anchor lies in, and scrolls to it: a closed fold would show a reader nothing of it.

const AGAIN_MS = 200; // A fold may be drawn later than this script.
const TRIES = 25;

export default function () {
  let timer;
  const open = (tries = 0) => {
    clearTimeout(timer);
    const anchor = decodeURIComponent(location.hash.slice(1));
    const fold = anchor && document.querySelector(`[class*="-fold_${CSS.escape(anchor)}"] details`);
    if (anchor && !fold && tries < TRIES) timer = setTimeout(open, AGAIN_MS, tries + 1);
    if (!fold) return;
    if (!fold.open) fold.querySelector("summary").click();
    fold.scrollIntoView();
  };
  const onHash = () => open();
  addEventListener("hashchange", onHash);
  open();
  return () => {
    clearTimeout(timer);
    removeEventListener("hashchange", onHash);
  };
}
