// In the editor: how the face looks that is chosen, in every emotion.

import { feel } from "./face.js";

let felt = "neutral";

document.addEventListener("click", ({ target }) => {
  const button = target.closest("[data-feels]");
  if (!button) return;
  felt = button.dataset.feels;
  for (const one of document.querySelectorAll("[data-feels]")) one.setAttribute("aria-pressed", String(one === button));
  feel(felt, 1);
});

// A face that was drawn anew feels as the one before it.
document.addEventListener("htmx:afterSettle", () => feel(felt, 1));
