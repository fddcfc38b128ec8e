// Runs before anything is painted: the colour scheme that this browser was told to keep.
(() => {
  try {
    const kept = localStorage.getItem("kith.theme");
    if (kept === "light" || kept === "dark") document.documentElement.dataset.theme = kept;
  } catch {
    // no storage: the system's own scheme
  }
})();
