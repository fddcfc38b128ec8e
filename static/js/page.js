// Behaviour of every page: dialogs, menus, copying, the theme switch, the browser's time zone.
import { announce } from "./announce.js";
import { isComposing } from "./composing.js";
import { leave } from "./request.js";
import { keep, kept, forgetAll } from "./storage.js";

const SLOW_MS = 1500;

function closeMenus(but) {
  for (const menu of document.querySelectorAll("details.menu[open]")) if (menu !== but) menu.open = false;
}

document.addEventListener("click", async (event) => {
  const target = event.target.closest("[data-copies], [data-closes], [data-ticks]");
  closeMenus(event.target.closest("details.menu"));
  if (event.target.closest(".menu-list")) closeMenus();
  if (target?.matches("[data-copies]")) await copy(target); // it is empty at a block of code
  if (target?.dataset.ticks) tick(document.querySelectorAll(target.dataset.ticks));
  const dialog = target?.hasAttribute("data-closes") && target.closest("dialog");
  if (dialog) {
    event.preventDefault();
    dialog.close();
  }
});

document.addEventListener("keydown", (event) => {
  const menu = event.key === "Escape" && event.target.closest?.("details.menu[open]");
  if (!menu) return;
  menu.open = false;
  menu.querySelector("summary").focus();
});

// Safari leaves Escape to a search field, even to an empty one, and the dialog around it would stay open.
document.addEventListener("keydown", (event) => {
  const { key, target } = event;
  if (key !== "Escape" || isComposing(event) || target.value || !target.matches?.("dialog input[type=search]")) return;
  event.preventDefault(); // it closes this, and stops no answer
  target.closest("dialog").close();
});

// A menu closes when the keyboard leaves it.
document.addEventListener("focusout", ({ target, relatedTarget }) => {
  const menu = target.closest?.("details.menu[open]");
  if (menu && relatedTarget && !menu.contains(relatedTarget)) menu.open = false;
});

// A menu opens upwards or downwards, where there is more room, and scrolls within it, so that all of it can be reached.
document.addEventListener(
  "toggle",
  ({ target }) => {
    if (!target.matches?.("details.menu[open]")) return;
    const edge = (name, side) => document.querySelector(name)?.getBoundingClientRect()[side];
    const { top, bottom } = target.getBoundingClientRect();
    const isInTop = Boolean(target.closest(".talk-top"));
    const above = isInTop ? 0 : top - Math.max(0, edge(".talk-top", "bottom") ?? 0, edge(".talk-top .top", "bottom") ?? 0);
    const below = (isInTop ? innerHeight : (edge(".composer", "top") ?? innerHeight)) - bottom;
    target.classList.toggle("opens-below", below > above);
    target.classList.toggle("opens-above", below <= above);
    const list = target.querySelector(".menu-list");
    list.style.setProperty("--menu-room", `${Math.max(above, below)}px`);
    list.style.setProperty("--menu-shift", "0px");
    const { left, right } = list.getBoundingClientRect();
    list.style.setProperty("--menu-shift", `${Math.max(0, -left) + Math.min(0, document.documentElement.clientWidth - right)}px`);
  },
  true,
);

// Tick all boxes, or untick them if all are ticked already.
function tick(boxes) {
  const isTicked = [...boxes].every((box) => box.checked);
  for (const box of boxes) box.checked = !isTicked;
}

// Copy the source text, i.e. Markdown and formulas as written, and not as rendered.
async function copy(button) {
  const from = button.dataset.copies ? document.getElementById(button.dataset.copies) : button.closest("figure").querySelector("code");
  const words = from.querySelector(".words") ?? from;
  const text = words.dataset.source ?? words.innerText.replace(/^\n+|\s+$/g, "");
  const { copied, notCopied } = document.getElementById("announcer").dataset;
  announce((await putOnClipboard(text, button.parentElement)) ? copied : notCopied, true);
}

// Without TLS there is no clipboard API, so the text is selected in a temporary field and copied from there.
async function putOnClipboard(text, near) {
  if (navigator.clipboard) return navigator.clipboard.writeText(text).then(() => true, () => false);
  const back = document.activeElement;
  const field = document.createElement("textarea");
  field.className = "unseen";
  field.value = text;
  near.append(field);
  field.select();
  const isCopied = document.execCommand("copy");
  field.remove();
  back?.focus();
  return isCopied;
}

// A dialog that htmx swaps in opens at once. When it closes, the browser returns the focus, unless what had it was in a
// menu, which is closed now, or in a dialog that this one has replaced.
let opener = null;
document.addEventListener("htmx:beforeRequest", (event) => {
  if (event.detail.target?.id === "dialog-place" && !event.detail.elt.closest("dialog")) opener = event.detail.elt;
});
document.addEventListener("htmx:afterSwap", (event) => {
  if (event.detail.target.id !== "dialog-place") return;
  const dialog = event.detail.target.querySelector("dialog");
  if (dialog) dialog.showModal();
  dialog?.querySelector("[aria-invalid=true]")?.focus();
  if (dialog) dialog.addEventListener("close", () => {
    const focused = document.activeElement;
    if (focused === document.body || dialog.contains(focused)) (opener?.closest(".menu")?.querySelector("summary") ?? opener)?.focus();
  });
});

// A part of the page that htmx replaces while it has the focus passes it on: from a link to the first field of the form
// that it opened, from a form's button to the link or the button with its address, else to the first of what is new.
const FIELDS = "textarea, input:not([type=hidden]), button";
const address = (part) => (part.getAttribute("action") ?? part.getAttribute("href"))?.split("?")[0];
let left = null;
document.addEventListener("htmx:beforeSwap", ({ detail: { target } }) => {
  const focused = document.activeElement;
  const { previousElementSibling: before, parentElement: around } = target;
  left = target.contains(focused) ? { target, before, around, address: address(focused.closest("form, a") ?? focused) } : null;
});
document.addEventListener("htmx:afterSwap", () => {
  if (!left || document.activeElement !== document.body) return;
  const { target, before, around } = left;
  const fresh = target.isConnected ? target : before ? before.nextElementSibling : around.firstElementChild;
  const same = [...(fresh?.querySelectorAll("form, a") ?? [])].find((part) => address(part) === left.address);
  const next = same?.matches("form") ? same.querySelector(FIELDS) : (same ?? [...(fresh?.querySelectorAll(`a, ${FIELDS}`) ?? [])].find((part) => part.checkVisibility()));
  next?.focus({ preventScroll: Boolean(same) });
  if (next?.matches("textarea")) next.setSelectionRange(next.value.length, next.value.length);
});

// Screen readers ignore a live region that is itself new. So of the parts with `data-tells`, their state, those that htmx
// has replaced by one in another state are announced.
let told = new Map();
document.addEventListener("htmx:beforeSwap", ({ detail: { target } }) => {
  const parts = [...document.querySelectorAll("[data-tells]")].filter((part) => target.contains(part));
  told = new Map(parts.map((part) => [part.id, part.dataset.tells]));
});
document.addEventListener("htmx:afterSwap", () => {
  const changed = [...told].map(([id, state]) => [document.getElementById(id), state]).filter(([part, state]) => part && part.dataset.tells !== state);
  told.clear();
  if (changed.length) announce(changed.map(([part]) => part.innerText).join(" "));
});

// The focus goes to the memory after the one that is deleted, or before the last one.
document.body.addEventListener("memory-gone", ({ detail }) => {
  document.querySelector("#dialog-place dialog")?.close();
  const memory = document.getElementById(`memory-${detail.id}`);
  const next = [memory?.nextElementSibling, memory?.previousElementSibling].find((near) => near?.matches(".memory"));
  memory?.remove();
  (next?.querySelector("a, button, summary") ?? document.getElementById("main")).focus();
  announce(document.getElementById("announcer").dataset.deleted);
});

// A whole page in response to an htmx request: one that a part of this page asks for to find itself in it is taken; of an
// error, its words are shown here, and what was written stays; any other means that the session has ended.
document.addEventListener("htmx:beforeSwap", (event) => {
  const { xhr, target } = event.detail;
  if (!/^\s*<!doctype/i.test(xhr.responseText)) return;
  if (xhr.status < 400 && target.hasAttribute("hx-select") && new URL(xhr.responseURL).pathname === location.pathname) return;
  event.detail.shouldSwap = false;
  if (xhr.status < 400) return leave(xhr.responseURL);
  if (xhr.status === 404 && /^every /.test(target.getAttribute("hx-trigger"))) return location.reload(); // what the page waits for is gone
  const page = new DOMParser().parseFromString(xhr.responseText, "text/html");
  return announce([...page.querySelectorAll("main h1, main p")].map((part) => part.textContent).join(" "), true);
});
document.addEventListener("htmx:sendError", () => announce(document.getElementById("announcer").dataset.failed, true));

// A form that comes back with errors may stand far down the page: show the first field to correct.
const invalid = document.querySelector("main [aria-invalid=true]");
invalid?.scrollIntoView({ block: "center" });
invalid?.focus({ preventScroll: true });

// Rows of tabs wider than the screen: scroll the current tab into view, and fade an end beyond which there is more.
for (const tabs of document.querySelectorAll(".tabs")) {
  const current = tabs.querySelector("[aria-current]");
  const tell = () => {
    const before = Math.abs(tabs.scrollLeft);
    tabs.style.setProperty("--before", before);
    tabs.style.setProperty("--after", Math.max(0, tabs.scrollWidth - tabs.clientWidth - before));
  };
  if (current) tabs.scrollLeft = current.offsetLeft - tabs.offsetLeft - (tabs.clientWidth - current.offsetWidth) / 2;
  tabs.addEventListener("scroll", tell, { passive: true });
  tabs.addEventListener("focusin", ({ target }) => target.scrollIntoView({ block: "nearest", inline: "nearest" })); // wholly
  new ResizeObserver(tell).observe(tabs);
}

for (const input of document.querySelectorAll("input[name=theme]")) {
  input.checked = input.value === (kept("kith.theme") ?? "system");
  input.addEventListener("change", () => {
    keep("kith.theme", input.value === "system" ? null : input.value);
    if (input.value === "system") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = input.value;
  });
}

for (const input of document.querySelectorAll("input[name=time_zone][type=hidden]")) {
  input.value ||= Intl.DateTimeFormat().resolvedOptions().timeZone ?? "";
}

// What may take long says so after a moment, and cannot be sent twice.
for (const form of document.querySelectorAll("form[data-slow]")) {
  const note = form.querySelector("[data-slow-note]");
  const button = form.querySelector("button:not([type=button])");
  let timer = 0;
  form.addEventListener("submit", () => {
    button.disabled = true;
    timer = setTimeout(() => {
      note.hidden = false;
      announce(note.textContent);
    }, SLOW_MS);
  });
  addEventListener("pageshow", ({ persisted }) => {
    if (!persisted) return;
    clearTimeout(timer);
    button.disabled = false;
    note.hidden = true;
  });
}

// Signing out deletes drafts and unsent messages from this browser, since they are private.
for (const form of document.querySelectorAll("form[data-forgets]")) {
  form.addEventListener("submit", () => {
    forgetAll();
    navigator.clearAppBadge?.().catch(() => {});
  });
}

// Filters that were changed before the scripts ran, or that the browser restored, are applied as if changed now.
addEventListener("DOMContentLoaded", () => {
  for (const field of document.querySelectorAll("form[hx-get] :is(select, input[type=checkbox], input[type=radio])")) {
    const options = [...(field.options ?? [])];
    const first = options.find((option) => option.defaultSelected) ?? options[0];
    const isChanged = first ? !first.selected : field.checked !== field.defaultChecked;
    if (isChanged) field.dispatchEvent(new Event("change", { bubbles: true }));
  }
});
