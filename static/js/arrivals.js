// Live updates on every page: counts of unread messages, messages that companions write unasked, and notices.

import { post } from "./request.js";
import { Connection } from "./talk/connection.js";

const STAYS_MS = 12000;
const HERE_MS = 20 * 60 * 1000; // a socket that says nothing for an hour is closed
const SIGNS = 160;
const MOST_SHOWN = 99; // unread messages; templates/parts/unread.html has it, too
const LINES = /\+?\d(?:[ -]?\d){2,}|(?:[a-z0-9-]+\.)+[a-z]{2,}(?:\/[\w/-]*)?/gi; // numbers and sites of help lines

const place = document.getElementById("arrivals");
const open = document.getElementById("talk")?.dataset.companion ?? null; // whose talk this page is
const title = document.title;
const connection = new Connection("/ws/me/");

connection.addEventListener("frame", ({ detail: frame }) => {
  if (frame.type === "unread") unread(frame);
  else if (frame.type === "outreach") outreach(frame);
  else if (frame.type === "notice") notice(frame);
});

// Show the counts. Messages of the talk that is open are not counted, since they are about to be read.
function unread({ companions }) {
  const counts = new Map(Object.entries(companions));
  if (open && !document.hidden) counts.delete(open);
  const total = [...counts.values()].reduce((sum, count) => sum + count, 0);
  for (const badge of document.querySelectorAll("[data-unread]")) {
    show(badge, badge.dataset.unread ? (counts.get(badge.dataset.unread) ?? 0) : total);
  }
  document.title = total ? `(${capped(total)}) ${title}` : title;
  navigator.setAppBadge?.(total).catch(() => {}); // the app's icon; of 0 none is shown
}

function show(badge, count) {
  badge.hidden = !count;
  badge.querySelector(".unread-count").textContent = capped(count);
}

function capped(count) {
  return count > MOST_SHOWN ? `${MOST_SHOWN}+` : count;
}

function outreach({ companion, message }) {
  document.body.dispatchEvent(new CustomEvent("outreach"));
  if (companion.id === open) return;
  const line = clone("outreach-template");
  line.querySelector("a").href = `${place.dataset.companions}${companion.id}/`;
  line.querySelector(".arrival-who").textContent = message.role === "system" ? "Kith" : companion.name;
  line.querySelector(".arrival-said").textContent = shortened(message.text);
  place.append(line);
  leaveLater(line);
}

// It stays while somebody is at it.
function leaveLater(line) {
  setTimeout(() => (line.matches(":hover, :focus-within") ? leaveLater(line) : line.remove()), STAYS_MS);
}

// Remove the line; the keyboard goes on at the next one, else in the composer or the page.
function dismiss(line) {
  const isByKeyboard = line.querySelector(":focus-visible");
  line.remove();
  const next = place.querySelector("button") ?? document.getElementById("message") ?? document.getElementById("main");
  if (isByKeyboard) next.focus({ preventScroll: true });
}

// What the lines hide at the bottom of the page, the focus is scrolled clear of.
new ResizeObserver(() => document.documentElement.style.setProperty("--arrivals", `${place.offsetHeight}px`)).observe(place);

function shortened(text) {
  const signs = [...text];
  return signs.length > SIGNS ? `${signs.slice(0, SIGNS).join("")}…` : text;
}

// Show the notice, except that this is an AI: the talk itself says that at the beginning of each day.
function notice({ id, kind, text }) {
  if (kind === "ai") {
    if (open && !document.hidden) markSeen(id);
    return;
  }
  if (place.querySelector(`[data-notice="${CSS.escape(id)}"]`)) return;
  const line = clone("told-template");
  line.dataset.notice = id;
  line.querySelector(".arrival-words").textContent = text;
  line.querySelector("[data-for]").hidden = kind !== line.querySelector("[data-for]").dataset.for;
  if (kind === "crisis") linkLines(line);
  place.append(line);
}

// Make the numbers in the notice ones that a phone calls at a tap, and the sites links.
function linkLines(notice) {
  const words = notice.querySelector(".arrival-words");
  const text = words.textContent;
  let end = 0;
  words.textContent = "";
  for (const { 0: found, index } of text.matchAll(LINES)) {
    const link = Object.assign(document.createElement("a"), { textContent: found });
    if (/^[+\d]/.test(found)) link.href = `tel:${found.replace(/[ -]/g, "")}`;
    else Object.assign(link, { href: `https://${found}`, target: "_blank", rel: "noreferrer" });
    words.append(text.slice(end, index), link);
    end = index + found.length;
  }
  words.append(text.slice(end));
}

function clone(id) {
  return document.getElementById(id).content.firstElementChild.cloneNode(true);
}

place.addEventListener("click", (event) => {
  if (event.target.closest("[data-dismisses]")) dismiss(event.target.closest(".arrival"));
});

// Dismissing a notice removes it at once and marks it as seen on the server.
place.addEventListener("submit", async (event) => {
  const line = event.target.closest("[data-notice]");
  if (!line) return;
  event.preventDefault();
  dismiss(line);
  await markSeen(line.dataset.notice);
});

function markSeen(id) {
  return post(place.dataset.notices.replace(/[0-9a-f-]{36}/, id)).catch(() => {});
}

place.querySelectorAll("[data-kind=crisis]").forEach(linkLines);
setInterval(() => connection.send({ type: "here" }), HERE_MS);
connection.open();
navigator.serviceWorker?.register("/service-worker.js", { scope: "/" }).catch((error) => console.info(error));
