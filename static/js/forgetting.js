// The page of forgetting and feeling: shows a slider's value while it moves, and allows saving only once the preview
// shows it. Sections folded on a phone are open on wide screens, and stay as the person left them after a swap.
import { announce } from "./announce.js";

const ROOM = matchMedia("(min-width: 900px)");
const left = new Map(); // what is open, by its id

const folds = () => document.querySelectorAll(".fold");
if (ROOM.matches) for (const fold of folds()) fold.open = true;
document.querySelector(".folding").classList.add("is-folding");

document.addEventListener("input", ({ target }) => {
  const output = target.type === "range" && document.querySelector(`output[for="${target.id}"]`);
  if (!output) return;
  output.textContent = target.value;
  const save = document.getElementById("save");
  if (save) save.disabled = true;
  // The request is triggered on an element that is never swapped, so that htmx has certainly initialised it.
  document.getElementById("forgetting").dispatchEvent(new Event("slide"));
});

document.addEventListener("htmx:beforeSwap", () => {
  for (const fold of folds()) left.set(fold.id, fold.open);
});

document.addEventListener("htmx:afterSwap", ({ detail }) => {
  if (!detail.target.id.startsWith("forgetting")) return;
  for (const fold of folds()) fold.open = left.get(fold.id) ?? (fold.open || ROOM.matches);
  const summary = document.getElementById("forgetting-summary");
  if (summary) announce(summary.textContent.trim());
});

document.addEventListener("htmx:sendError", shownAgain);
document.addEventListener("htmx:responseError", shownAgain);

// After a failed request the last preview is still shown, so saving is allowed again.
function shownAgain() {
  const save = document.getElementById("save");
  if (save) save.disabled = false;
}
