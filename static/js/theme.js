// Applies the colour scheme that was chosen in this browser, before anything is painted.
(() => {
  try {
    const kept = localStorage.getItem("kith.theme");
    if (kept === "light" || kept === "dark") document.documentElement.dataset.theme = kept;
  } catch {
    // no storage: the system's own scheme
  }
})();
