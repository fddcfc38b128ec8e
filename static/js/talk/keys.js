// Keyboard shortcuts of the talk, off in dialogs and while an input method composes, and swipes between alternatives.

import { isComposing } from "../composing.js";

const SWIPE = 60; // pixels; and twice as far aside as up or down
const EDGE = 24; // where the browser's own swipe begins
const SCROLLS = "pre, table, .formula";
const WRITES = "input, textarea, select, audio, [contenteditable]";

export function watchKeys(talk, composer, stop) {
  const dialog = document.getElementById("keys");

  document.addEventListener("keydown", (event) => {
    const { key, target } = event;
    const hasControl = (event.ctrlKey || event.metaKey) && !event.altKey;
    const opens = hasControl && !event.shiftKey && key.toLowerCase() === "k" ? () => document.getElementById("search-talk").click()
      : hasControl && key === "/" ? () => dialog.showModal() // with Shift on keyboards where the slash needs it
      : null;
    if (opens) event.preventDefault();
    if (opens && !document.querySelector("dialog[open]")) opens();
    if (isComposing(event) || event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
    if (document.querySelector("dialog[open]") || target.closest("details.menu[open], .menu-list")) return;
    if (act(key, target)) event.preventDefault();
  });

  // Act on the key; return whether it did something.
  function act(key, target) {
    if (key === "Escape" && !stop.hidden) stop.click();
    else if (key === "ArrowUp" && target === composer.area && !composer.area.value) return editLast();
    else if (key === "ArrowLeft" && !target.closest(`${WRITES}, ${SCROLLS}`)) return choose(target, 0);
    else if (key === "ArrowRight" && !target.closest(`${WRITES}, ${SCROLLS}`)) return choose(target, 1);
    else return false;
    return true;
  }

  // Edit the person's last message, if it is stored and on the page; the focus returns to the composer afterwards.
  function editLast() {
    const link = [...talk.querySelectorAll(".said-by-person")].at(-1)?.querySelector("[data-edits]");
    if (!link || talk.querySelector(".beyond[data-after]")) return false;
    const back = () => document.querySelector("#dialog-place dialog")?.addEventListener("close", () => composer.area.focus());
    document.addEventListener("htmx:afterSwap", back, { once: true });
    link.click();
    return true;
  }

  for (const button of document.querySelectorAll("[data-shows-keys]")) button.addEventListener("click", () => {
    button.closest(".menu")?.querySelector("summary").focus(); // there the focus returns
    dialog.showModal();
  });

  let start = null;
  talk.addEventListener("touchstart", ({ touches, target }) => {
    const [{ clientX: x, clientY: y }] = touches;
    const isOurs = touches.length === 1 && x > EDGE && x < innerWidth - EDGE && !target.closest(`${WRITES}, ${SCROLLS}`);
    start = isOurs ? { x, y, target } : null;
  }, { passive: true });
  talk.addEventListener("touchend", ({ changedTouches }) => {
    if (!start || !getSelection().isCollapsed) return;
    const [aside, along] = [changedTouches[0].clientX - start.x, changedTouches[0].clientY - start.y];
    if (Math.abs(aside) > Math.max(SWIPE, 2 * Math.abs(along))) choose(start.target, aside > 0 ? 0 : 1);
  }, { passive: true });
  talk.addEventListener("touchcancel", () => (start = null), { passive: true });

  // After an alternative was chosen and the page loaded again, focus it, so that the next key chooses another one.
  const chosen = location.hash.startsWith("#message-") && document.getElementById(location.hash.slice(1));
  if (!chosen) return;
  history.replaceState(history.state, "", location.pathname + location.search);
  chosen.scrollIntoView({ block: "nearest", behavior: "instant" });
  chosen.focus({ preventScroll: true });
}

// Switch to the alternative before (0) or after (1) the message; return false if there is none.
function choose(target, side) {
  const button = target.closest(".said")?.querySelectorAll(".alternatives button")[side];
  if (!button || button.disabled) return false;
  button.click();
  return true;
}
