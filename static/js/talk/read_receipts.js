// Read receipts: reports the companion's newest message as read once the page that shows it is visible.

import { post } from "../request.js";

const PAUSE_MS = 300;

export class Reading {
  #until = null;
  #answer = null; // a finished answer whose article is still being fetched
  #timer = 0;

  constructor(talk) {
    this.talk = talk;
    document.addEventListener("visibilitychange", () => this.look());
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
    const said = [...this.talk.querySelectorAll(".said-by-companion[data-message]")].at(-1);
    const newest = this.#answer ?? said?.dataset.message;
    if (!newest || newest === this.#until || (document.hidden && !isLeaving)) return;
    this.#until = newest;
    try {
      const response = await post(this.talk.dataset.read, { message: newest });
      if (!response.ok) this.#until = null;
    } catch {
      this.#until = null; // the network: told with the next thing that comes
    }
  }
}
