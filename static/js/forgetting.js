// Forgetting and feeling: a slider's value is seen while it moves, and only what is shown can be saved. What is folded
// on a phone is open where there is room, and what somebody opened or closed stays so, whatever is asked for next.
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
  // Asked for by what is never swapped: htmx is there already when what was swapped in just now is moved at once.
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

// What is shown is still the last that came: that can be saved.
function shownAgain() {
  const save = document.getElementById("save");
  if (save) save.disabled = false;
}
