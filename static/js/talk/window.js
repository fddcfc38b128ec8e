// The part of the talk that is on the page: loads more at either end while scrolling, and removes what is far away.

import { fetchPart } from "../request.js";
import { clone, parts } from "./turns.js";

const MAX_MESSAGES = 300; // what is beyond goes
const MOST_MESSAGES = 340; // where nothing may go, no more is brought: with one page more the page has less than 400
const AHEAD = "1200px 0px";
const RETRY_MS = 4000;

export class TalkWindow {
  constructor(turns) {
    this.turns = turns;
    this.place = turns.place;
    this.observer = new IntersectionObserver((seen) => this.#look(seen), { rootMargin: AHEAD });
    turns.addEventListener("arrived", () => this.#settle());
    this.#observe();
  }

  get #count() {
    return this.place.querySelectorAll("[data-message]").length;
  }

  #observe() {
    for (const link of this.place.querySelectorAll(".beyond")) {
      this.observer.unobserve(link); // it is looked at anew
      this.observer.observe(link);
    }
  }

  #look(seen) {
    for (const { target, isIntersecting } of seen) {
      if (isIntersecting && target.isConnected && this.#count <= MOST_MESSAGES) this.#load(target);
    }
  }

  // Replace the link by the next turns on its side.
  async #load(link) {
    if (link.ariaBusy === "true") return;
    link.ariaBusy = "true";
    const isLater = "after" in link.dataset;
    const messages = this.place.querySelectorAll(".turn[data-turn] [data-message]");
    const edge = (isLater ? [...messages].at(-1) : messages[0])?.dataset.message;
    const query = isLater ? `after=${edge ?? link.dataset.after}` : `before=${edge ?? link.dataset.before}`;
    const response = await fetchPart(`${this.turns.url}?${query}`).catch(() => null);
    link.ariaBusy = null;
    if (!response?.ok) return void setTimeout(() => this.#observe(), RETRY_MS);
    const brought = parts(await response.text());
    if (!link.isConnected) return;
    const fresh = brought.turns.filter(({ id }) => !document.getElementById(id)); // some may have come meanwhile
    this.#hold(() => {
      const links = brought.links.filter((other) => "after" in other.dataset === isLater);
      if (isLater) link.replaceWith(...fresh, ...links);
      else link.replaceWith(...links, ...fresh);
      this.#trim(!isLater);
      this.turns.order();
    });
    this.turns.tellArrived(fresh);
  }

  // After turns have arrived, remove turns beyond the limit, first at the beginning.
  #settle() {
    if (this.#count > MAX_MESSAGES) {
      this.#hold(() => {
        this.#trim(false);
        if (this.#count > MOST_MESSAGES) this.#trim(true);
      });
    }
    this.#observe();
  }

  #trim(isLater) {
    const turns = [...this.place.querySelectorAll(".turn")];
    if (isLater) turns.reverse();
    let count = this.#count;
    let edge = null;
    for (const turn of turns) {
      if (count <= MAX_MESSAGES || isHeld(turn)) break;
      count -= turn.querySelectorAll("[data-message]").length;
      edge = turn.dataset.turn;
      // If the focus is in the removed turn, move it to the main element, so that the keyboard keeps working.
      if (turn.contains(document.activeElement)) document.getElementById("main").focus({ preventScroll: true });
      turn.remove();
    }
    if (!edge) return;
    this.place.querySelector(isLater ? ".beyond[data-after]" : ".beyond[data-before]")?.remove();
    const link = clone(isLater ? "later-template" : "earlier-template");
    link.href = `?at=${edge}`;
    if (isLater) this.place.append(link);
    else this.place.prepend(link);
  }

  // Make a change without moving the message that the reader sees at the top.
  #hold(change) {
    const all = [...this.place.querySelectorAll(".said")]; // a day above one may come and go
    const said = all.find((other) => other.getBoundingClientRect().bottom > 0);
    const top = said?.getBoundingClientRect().top;
    change();
    if (said?.isConnected) scrollBy({ top: said.getBoundingClientRect().top - top, behavior: "instant" });
  }
}

// Return whether the turn must not be removed: it is near the screen, selected, unsent or being answered.
function isHeld(turn) {
  const { top, bottom } = turn.getBoundingClientRect();
  const selection = getSelection();
  return (
    (bottom > -innerHeight && top < 2 * innerHeight) ||
    (!selection.isCollapsed && selection.containsNode(turn, true)) ||
    turn.matches("[data-client], :has([data-reply])")
  );
}
