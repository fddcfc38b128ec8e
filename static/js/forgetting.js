// Forgetting and feeling: a slider's value is seen while it moves, and only what is shown can be saved.
import { announce } from "./announce.js";

document.addEventListener("input", ({ target }) => {
  const output = target.type === "range" && document.querySelector(`output[for="${target.id}"]`);
  if (!output) return;
  output.textContent = target.value;
  const save = document.getElementById("save");
  if (save) save.disabled = true;
});

document.addEventListener("htmx:afterSwap", ({ detail }) => {
  if (!detail.target.id.startsWith("forgetting")) return;
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
