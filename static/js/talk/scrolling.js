// The scroll position: a reader at the end of the talk stays at the end; elsewhere nothing moves by itself.

const NEAR = 96;
const LINES = [8, 40, 72]; // below what stands at the top; between two paragraphs is nothing to hold on to

export class Place {
  constructor(talk, turns, { onMove, toNewest }) {
    this.turns = turns;
    this.toNewest = toNewest; // brings the newest turns where they are not on the page
    this.isAtEnd = !turns.isPast;
    this.button = document.getElementById("latest");
    history.scrollRestoration = "manual";
    const found = talk.querySelector(".is-found");
    if (found) {
      this.isAtEnd = false;
      found.scrollIntoView({ block: "center", behavior: "instant" });
      found.focus({ preventScroll: true });
    } else this.toEnd();
    addEventListener("scroll", () => this.#scrolled(), { passive: true });
    addEventListener("resize", () => this.isAtEnd || this.#stay());
    for (const name of ["wheel", "touchmove"]) addEventListener(name, onMove, { passive: true });
    this.button.addEventListener("click", () => this.toEnd());
    turns.addEventListener("news", () => this.#showNews(!this.isAtEnd));
    this.width = innerWidth;
    const sizes = new ResizeObserver(() => (this.isAtEnd ? this.toEnd() : this.#show()));
    sizes.observe(talk);
    sizes.observe(document.querySelector(".composer")); // a notice in it pushes up what was said last
  }

  async toEnd() {
    if (this.turns.isPast) {
      await this.toNewest();
      history.replaceState(null, "", location.pathname); // not back there when the page is loaded again
    }
    this.isAtEnd = !this.turns.isPast;
    scrollTo({ top: document.documentElement.scrollHeight, behavior: "instant" });
    this.#show();
  }

  #scrolled() {
    const page = document.documentElement;
    this.isAtEnd = !this.turns.isPast && page.scrollHeight - innerHeight - scrollY < NEAR;
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
