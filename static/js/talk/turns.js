// The turns on the page: created here when the person sends a message, and fetched from the server as rendered there.

import { fetchPart } from "../request.js";
import { showQuote } from "./quote.js";

export class Turns extends EventTarget {
  #asked = 0; // requests for turns so far
  #caughtUp = 0; // the latest of them for what was missed
  #shown = new Map(); // by a turn's id, the request whose response is shown; Infinity once it is deleted

  constructor(talk) {
    super();
    this.talk = talk;
    this.place = document.getElementById("turns");
    this.url = talk.dataset.turns;
    this.ahead = Date.now() - 1000 * talk.dataset.now; // how far this device's clock is ahead of the server's
    this.order();
  }

  // -- created here --

  // Add the turn of a message that was just written, which has no id until it is stored.
  add({ clientId, text, quoted, files = [] }) {
    const turn = clone("turn-template");
    turn.dataset.client = clientId;
    turn.dataset.day = this.#today();
    turn.querySelector(".words").textContent = text;
    showQuote(turn.querySelector(".quoted"), quoted);
    if (quoted) turn.querySelector(".quoted").href = `?at=${quoted.id}`;
    const shown = turn.querySelector(".files");
    shown.hidden = !files.length;
    shown.append(...files.map(showFile));
    this.place.append(turn);
    for (const id of ["beginning", "suggestions", "new-since"]) document.getElementById(id)?.remove();
    this.order();
    return turn;
  }

  unsent(clientId) {
    return this.place.querySelector(`[data-client="${CSS.escape(clientId)}"]`);
  }

  // Give the turn of a message just written its stored id; add a turn if the message comes from another window.
  saved(message) {
    const here = message.client_id ? this.unsent(message.client_id) : null;
    const known = this.find(message.id);
    if (known && here) here.remove();
    if (known) return known;
    if (!here && this.isPast) return this.#tellNews();
    const turn = here ?? this.add({ clientId: message.client_id ?? "", text: message.text });
    delete turn.dataset.client;
    turn.id = `turn-${message.id}`;
    turn.dataset.turn = message.id;
    for (const told of turn.querySelectorAll(".trouble, .waits")) told.remove();
    const said = turn.querySelector(".said-by-person");
    said.id = `message-${message.id}`;
    said.dataset.message = message.id;
    return turn;
  }

  // Return a new element for a reply to the message, replacing an earlier answer; null if the message is not here.
  replyTo(messageId, replyId) {
    const turn = this.find(messageId);
    if (!turn) return null;
    for (const old of turn.querySelectorAll(".said-by-companion, .trouble")) old.remove();
    const reply = clone("reply-template");
    reply.dataset.reply = replyId;
    turn.append(reply);
    return reply;
  }

  // Show that the message is not sent yet, and what the person can do with it while it waits.
  waiting(clientId) {
    const turn = this.unsent(clientId);
    if (turn && !turn.querySelector(".waits, .trouble")) turn.append(clone("waits-template"));
  }

  refused(clientId, why) {
    const turn = this.unsent(clientId);
    if (!turn || turn.querySelector(".trouble")) return;
    turn.querySelector(".waits")?.remove();
    const trouble = clone("not-sent-template");
    trouble.querySelector("p").textContent = why;
    turn.append(trouble);
  }

  // -- fetched from the server --

  find(id) {
    return document.getElementById(`turn-${id}`);
  }

  get #stored() {
    return [...this.place.querySelectorAll(".turn[data-turn]")];
  }

  // Whether the talk goes on after the last turn on the page.
  get isPast() {
    return this.place.querySelector(".beyond[data-after]") !== null;
  }

  // The line above what came while the person was away, if there is one.
  get start() {
    return document.getElementById("new-since");
  }

  // Put that line above the turn.
  markNew(id) {
    const turn = this.find(id);
    if (!turn) return;
    this.start?.remove(); // of an absence before
    turn.before(clone("new-since-template"));
    this.dispatchEvent(new CustomEvent("new-since"));
  }

  // Fetch one turn and show its current state: remove a deleted one, and append a new one unless the end of the talk is
  // not on the page. Without a network it stays as it is until the next `catchUp`.
  async refresh(id, inPlaceOf = this.find(id)) {
    if (!inPlaceOf && this.isPast) return this.#tellNews();
    const asked = (this.#asked += 1);
    const response = await fetchPart(`${this.url}${id}/`).catch(() => null);
    const html = response?.ok && (await response.text().catch(() => null));
    const here = inPlaceOf?.isConnected ? inPlaceOf : this.find(id); // meanwhile it may have come, or come anew
    if (response?.status === 404) here?.remove();
    const [turn] = html ? parts(html).turns : [];
    if (turn && this.#isNew(turn, asked)) {
      if (here) replace(here, turn);
      else this.#append(turn);
      this.tellArrived([turn]);
    }
    this.order();
    return undefined;
  }

  // Return whether no response to a later request than `asked` shows the turn already, and note that this one does.
  #isNew({ dataset }, asked) {
    if (this.#shown.get(dataset.turn) > asked) return false;
    this.#shown.set(dataset.turn, asked);
    return true;
  }

  // Remove deleted messages at once, and then show what is left of their turns as it is now.
  async remove(ids) {
    for (const id of ids) this.#shown.set(id, Infinity); // a response that is on its way does not bring it back
    const turns = new Set();
    for (const message of ids.map((id) => document.getElementById(`message-${id}`)).filter(Boolean)) {
      turns.add(message.closest(".turn"));
      message.remove();
    }
    for (const turn of turns) {
      const left = turn.querySelector("[data-message]");
      if (left) await this.refresh(left.dataset.message, turn);
      else turn.remove();
    }
    this.order();
  }

  // Fetch the newest turns that were missed, except those that stream here already. If the end of the talk is not on
  // the page, do nothing, or with `isLeaving` replace the page's turns by the newest. Only the latest request counts.
  async catchUp(isStreaming, isLeaving = false) {
    if (this.isPast && !isLeaving) return;
    const asked = (this.#caughtUp = this.#asked += 1);
    const before = new Set(this.#stored.map((turn) => turn.id)); // what comes meanwhile, the answer does not know
    const response = await fetchPart(this.url);
    if (!response.ok) return;
    const html = await response.text();
    if (asked !== this.#caughtUp) return;
    const { turns, links, firstNew } = parts(html);
    const ids = new Set(turns.map((turn) => turn.id));
    const known = () => turns.map((turn) => document.getElementById(turn.id)).find(Boolean);
    const isApart = this.isPast || !known();
    const first = known();
    for (const old of this.#stored.filter((turn) => before.has(turn.id))) {
      const isAfter = first && first.compareDocumentPosition(old) & Node.DOCUMENT_POSITION_FOLLOWING;
      if (isApart ? !isStreaming(old) : isAfter && !ids.has(old.id)) old.remove();
    }
    if (isApart) for (const part of this.place.querySelectorAll(".beyond, .new-since")) part.remove();
    const start = known();
    let last = null;
    const arrived = [];
    for (const turn of turns) {
      const here = document.getElementById(turn.id);
      const isNew = this.#isNew(turn, asked);
      if (!here && this.#shown.get(turn.dataset.turn) === Infinity) continue;
      const isSame = here && (!isNew || (isStreaming(here) && isStreaming(turn)));
      if (here && !isSame) replace(here, turn);
      else if (!here && last) last.after(turn);
      else if (!here && start) start.before(turn);
      else if (!here) this.place.prepend(turn);
      if (!isSame) arrived.push(turn);
      last = isSame ? here : turn;
    }
    if (isApart) this.place.prepend(...links);
    this.tellArrived(arrived);
    this.order();
    if (!before.has(`turn-${firstNew}`)) this.markNew(firstNew);
  }

  // Do the same for a page that is new, if anything was said since it was made.
  async catchUpOnce(isStreaming) {
    const newest = [...this.place.querySelectorAll("[data-message]")].at(-1)?.dataset.message;
    if (newest && !this.isPast) {
      const response = await fetchPart(`${this.url}?after=${newest}`);
      if (response.ok && !parts(await response.text()).turns.length) return;
    }
    await this.catchUp(isStreaming);
  }

  // Show each day's heading only above the first turn of the day, and the line above what is new only above a turn.
  order() {
    if (!this.start?.nextElementSibling?.matches(".turn")) this.start?.remove();
    let before = null;
    for (const turn of this.place.querySelectorAll(".turn")) {
      const heading = turn.querySelector(".day");
      heading.hidden = turn.dataset.day === before;
      before = turn.dataset.day;
    }
  }

  #append(turn) {
    const unsent = this.place.querySelector(".turn[data-client]");
    if (unsent) unsent.before(turn);
    else this.place.append(turn);
    this.#tellNews();
  }

  #tellNews() {
    this.dispatchEvent(new CustomEvent("news"));
  }

  tellArrived(turns) {
    for (const turn of turns) window.htmx?.process(turn);
    this.dispatchEvent(new CustomEvent("arrived"));
    document.body.dispatchEvent(new CustomEvent("turns-arrived"));
  }

  #today() {
    const now = Date.now() - this.ahead;
    try {
      return new Intl.DateTimeFormat("sv-SE", { timeZone: this.talk.dataset.zone }).format(now);
    } catch {
      return new Intl.DateTimeFormat("sv-SE").format(now);
    }
  }
}

// Replace a turn by its current state. A menu that the person has opened stays open, and what has the focus keeps it,
// or passes it on to what now stands in its place.
function replace(here, turn) {
  const opened = here.querySelector(".menu[open]")?.closest("[data-message]").dataset.message;
  const focused = here.contains(document.activeElement) ? document.activeElement : null;
  here.replaceWith(turn);
  turn.querySelector(`[data-message="${opened}"] .menu`)?.setAttribute("open", "");
  if (!focused) return;
  const name = (part) => `${part.closest("[data-message]")?.dataset.message} ${part.ariaLabel ?? part.textContent.trim()}`;
  const parts = [...turn.querySelectorAll(focused.tagName)];
  const same = parts.find((part) => name(part) === name(focused));
  const alike = parts.findLast((part) => part.parentElement.className === focused.parentElement.className);
  (same ?? alike ?? turn.querySelector(".menu > summary"))?.focus({ preventScroll: true });
}

function showFile({ name, url, isText }) {
  if (isText) {
    const text = clone("text-template");
    text.href = url;
    text.querySelector("span").textContent = name;
    return text;
  }
  const link = clone("picture-template");
  link.href = link.firstElementChild.src = url;
  link.firstElementChild.alt = link.firstElementChild.title = name;
  return link;
}

export function clone(id) {
  return document.getElementById(id).content.firstElementChild.cloneNode(true);
}

// Return the turns in the server's HTML, the links to earlier and later ones, and the id of the first one that is new.
export function parts(html) {
  const template = document.createElement("template");
  template.innerHTML = html;
  const all = (selector) => [...template.content.querySelectorAll(selector)];
  const firstNew = template.content.querySelector(".new-since + .turn")?.dataset.turn;
  return { turns: all(".turn"), links: all(".beyond"), firstNew };
}
