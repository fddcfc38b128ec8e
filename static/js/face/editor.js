// The editor of a face: previews the chosen face in every emotion.

import { feel } from "./face.js";

let felt = "neutral";

document.addEventListener("click", ({ target }) => {
  const button = target.closest("[data-feels]");
  if (!button) return;
  felt = button.dataset.feels;
  for (const one of document.querySelectorAll("[data-feels]")) one.setAttribute("aria-pressed", String(one === button));
  feel(felt, 1);
});

// A newly drawn face shows the same emotion as the one before it.
document.addEventListener("htmx:afterSettle", () => feel(felt, 1));
