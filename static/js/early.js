// What cannot wait for the page's modules, which come last on a slow line. This script runs before anything is painted.
(() => {
  const SENT_MS = 10000; // what takes longer may be sent again
  const LIVE_MS = 20000; // without its script for longer, a talk says so
  const page = document.documentElement;

  // The colour scheme that was chosen in this browser.
  try {
    const kept = localStorage.getItem("kith.theme");
    if (kept === "light" || kept === "dark") page.dataset.theme = kept;
  } catch {
    // no storage: the system's own scheme
  }

  // A script or style sheet that does not arrive is not asked for again while the page stands, so the person is told.
  const tell = ({ target }) => target.matches?.("script, link[rel=stylesheet]") && page.classList.add("is-incomplete");
  addEventListener("error", tell, true);

  // A talk is read from its end, or from where what is new begins: it stands there while it arrives, until its script takes over or somebody scrolls.
  if (page.classList.contains("talking") && !location.hash) {
    const sizes = new ResizeObserver(() => {
      const found = document.querySelector(".is-found");
      if (found) return found.scrollIntoView({ block: "center" });
      scrollTo(0, page.scrollHeight);
      const start = document.getElementById("new-since")?.getBoundingClientRect().top;
      return start < 0 && scrollBy(0, start - document.querySelector(".talk-top").offsetHeight);
    });
    const leave = () => {
      sizes.disconnect();
      page.classList.add("is-moved");
    };
    sizes.observe(page);
    for (const name of ["wheel", "touchmove"]) addEventListener(name, leave, { passive: true, once: true });
    document.addEventListener("kith:live", () => sizes.disconnect());
  }

  // A button of a talk that is tapped before the talk's script has come is acted upon then.
  const tapped = new Set();
  document.addEventListener("click", ({ target }) => {
    const button = target.closest("#talk button");
    if (!button || page.classList.contains("is-live")) return;
    button.ariaBusy = "true";
    tapped.add(button);
  });
  let isLate = false;
  const late = setTimeout(() => {
    isLate = page.classList.contains("talking") && !page.classList.contains("is-incomplete");
    if (isLate) page.classList.add("is-incomplete");
  }, LIVE_MS);
  document.addEventListener("kith:live", () => {
    clearTimeout(late);
    if (isLate) page.classList.remove("is-incomplete");
    page.classList.add("is-live");
    for (const button of tapped) {
      button.ariaBusy = null;
      button.click();
    }
  });

  // A button that is tapped twice sends its form once.
  document.addEventListener("submit", (event) => {
    const { submitter: button, target: form, defaultPrevented: isDone } = event;
    if (isDone || form.method !== "post" || !button) return;
    if (button.ariaBusy) return event.preventDefault();
    button.ariaBusy = "true";
    return setTimeout(() => (button.ariaBusy = null), SENT_MS);
  });
  addEventListener("pageshow", () => document.querySelectorAll("button[aria-busy]").forEach((button) => (button.ariaBusy = null)));
  document.addEventListener("htmx:confirm", (event) => {
    const { verb, elt, triggeringEvent } = event.detail;
    const isTapped = ["click", "submit"].includes(triggeringEvent?.type);
    if (verb !== "get" && isTapped && elt.classList.contains("htmx-request")) event.preventDefault();
  });
})();
