// What the reader sees: the scroll position, and read receipts.

import { post } from "../request.js";

const NEAR = 96;
const PAUSE_MS = 300;
const LINES = [8, 40, 72]; // below what stands at the top; between two paragraphs is nothing to hold on to

// A reader at the end of the talk stays at the end; elsewhere nothing moves by itself.
export class Place {
  constructor(talk, turns, { onMove, toNewest }) {
    this.turns = turns;
    this.toNewest = toNewest; // brings the newest turns where they are not on the page
    this.isAtEnd = !turns.isPast;
    this.button = document.getElementById("latest");
    history.scrollRestoration = "manual";
    const [top, composer] = [".talk-top", ".composer"].map((part) => document.querySelector(part));
    const measure = () => {
      // What has the focus is scrolled clear of both.
      document.documentElement.style.setProperty("--talk-top", `${top.offsetHeight}px`);
      document.documentElement.style.setProperty("--composer", `${composer.offsetHeight}px`);
    };
    measure();
    const found = talk.querySelector(".is-found");
    this.start = turns.start; // of what is new, until it has been passed
    if (found) {
      this.isAtEnd = false;
      found.scrollIntoView({ block: "center", behavior: "instant" });
      found.focus({ preventScroll: true });
    } else if (document.documentElement.classList.contains("is-moved")) this.#scrolled();
    else this.#rest();
    // The browser tells of a scroll to the end a frame later, when more may have come below it.
    addEventListener("scroll", () => (this.isAtEnd && scrollY === this.restsAt) || this.#scrolled(), { passive: true });
    addEventListener("resize", () => this.isAtEnd || this.#stay());
    for (const name of ["wheel", "touchmove"]) addEventListener(name, onMove, { passive: true });
    this.button.addEventListener("click", ({ detail }) => {
      if (!detail) document.getElementById("message").focus(); // by the keyboard, whose focus would go with the button
      this.toEnd();
    });
    turns.addEventListener("news", () => this.#showNews(!this.isAtEnd));
    turns.addEventListener("new-since", () => {
      this.start = turns.start;
      if (this.isAtEnd) this.#rest();
    });
    const sizes = new ResizeObserver(() => {
      measure();
      if (this.isAtEnd) this.#rest();
      else this.#show();
    });
    sizes.observe(talk);
    sizes.observe(composer); // a notice in it pushes up what was said last
  }

  get #topHeight() {
    return parseFloat(getComputedStyle(document.documentElement).scrollPaddingTop);
  }

  // Go to the end, or to where that begins which came while the person was away, if not all of it fits on the screen.
  #rest() {
    if (!this.start?.isConnected) return void this.toEnd();
    scrollTo({ top: document.documentElement.scrollHeight, behavior: "instant" });
    const isAbove = this.start.getBoundingClientRect().top < this.#topHeight;
    if (isAbove) this.start.scrollIntoView({ block: "start", behavior: "instant" });
    this.#scrolled();
    if (isAbove) this.#showNews(!this.isAtEnd);
  }

  async toEnd() {
    this.start = null;
    if (this.turns.isPast) {
      await this.toNewest();
      history.replaceState(null, "", location.pathname); // not back there when the page is loaded again
    }
    this.isAtEnd = !this.turns.isPast;
    scrollTo({ top: document.documentElement.scrollHeight, behavior: "instant" });
    this.restsAt = scrollY;
    this.#show();
  }

  #scrolled() {
    const page = document.documentElement;
    this.isAtEnd = !this.turns.isPast && page.scrollHeight - innerHeight - scrollY < NEAR;
    if (this.isAtEnd && this.start?.getBoundingClientRect().bottom < this.#topHeight) this.start = null;
    this.restsAt = scrollY;
    this.#note();
    this.#show();
  }

  // Note the paragraph at the top, which stays there when a phone is turned.
  #note() {
    const top = document.querySelector(".talk-top .top").getBoundingClientRect().bottom;
    const elements = LINES.map((line) => document.elementFromPoint(innerWidth / 2, top + line));
    this.read = elements.map((element) => element?.closest(".words > *, .words")).find(Boolean);
    this.readAt = this.read?.getBoundingClientRect().top - top;
  }

  #stay() {
    if (!this.read?.isConnected) return;
    const top = document.querySelector(".talk-top .top").getBoundingClientRect().bottom;
    scrollBy({ top: this.read.getBoundingClientRect().top - top - this.readAt, behavior: "instant" });
  }

  #show() {
    this.button.hidden = this.isAtEnd;
    if (this.isAtEnd) this.#showNews(false);
  }

  #showNews(isNew) {
    document.getElementById("latest-none").hidden = isNew;
    document.getElementById("latest-news").hidden = !isNew;
  }
}

// Reports as read what was said to the person and has been on the screen, while the page is visible.
export class Reading {
  #until = null;
  #answer = null; // a finished answer whose article is still being fetched
  #timer = 0;

  constructor(talk) {
    this.talk = talk;
    document.addEventListener("visibilitychange", () => this.look());
    addEventListener("scroll", () => this.#timer || this.look(this.#answer), { passive: true });
    document.addEventListener("answer-done", ({ detail }) => this.look(detail.message));
    addEventListener("pagehide", () => this.#timer && this.#tell(true)); // whoever leaves at once has seen it, too
    this.look();
  }

  // Report after a short pause, so that messages arriving together need one request.
  look(answer = null) {
    this.#answer = answer;
    clearTimeout(this.#timer);
    if (!document.hidden) this.#timer = setTimeout(() => this.#tell(), PAUSE_MS);
  }

  async #tell(isLeaving = false) {
    this.#timer = 0;
    const said = [...this.talk.querySelectorAll(".said-by-companion[data-message], .said-by-kith")];
    const bottom = document.querySelector(".composer").getBoundingClientRect().top;
    const seen = said.findLast((message) => message.getBoundingClientRect().top < bottom);
    const newest = this.#answer ?? seen?.dataset.message;
    const until = document.getElementById(`message-${this.#until}`); // who scrolls back has read it already
    const isKnown = newest === this.#until || (!this.#answer && said.indexOf(seen) < said.indexOf(until));
    if (!newest || isKnown || (document.hidden && !isLeaving)) return;
    this.#until = newest;
    try {
      const response = await post(this.talk.dataset.read, { message: newest });
      if (!response.ok) this.#until = null;
    } catch {
      this.#until = null; // the network: told with the next thing that comes
    }
  }
}
