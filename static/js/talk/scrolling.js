// Where the reader is: at the end they stay at the end, elsewhere nothing moves under their eyes.

const NEAR = 96;

export class Place {
  constructor(talk, onMove) {
    this.isAtEnd = true;
    this.button = document.getElementById("latest");
    history.scrollRestoration = "manual";
    this.toEnd();
    addEventListener("scroll", () => this.#scrolled(), { passive: true });
    for (const name of ["wheel", "touchmove"]) addEventListener(name, onMove, { passive: true });
    this.button.addEventListener("click", () => this.toEnd());
    new ResizeObserver(() => (this.isAtEnd ? this.toEnd() : this.#show())).observe(talk);
    this.#keepWhenEarlierComes();
  }

  toEnd() {
    this.isAtEnd = true;
    scrollTo({ top: document.documentElement.scrollHeight, behavior: "instant" });
    this.#show();
  }

  #scrolled() {
    const page = document.documentElement;
    this.isAtEnd = page.scrollHeight - innerHeight - scrollY < NEAR;
    this.#show();
  }

  #show() {
    this.button.hidden = this.isAtEnd;
  }

  #keepWhenEarlierComes() {
    let below = null;
    document.addEventListener("htmx:beforeSwap", (event) => {
      if (event.detail.target.matches?.(".earlier")) below = document.documentElement.scrollHeight - scrollY;
    });
    document.addEventListener("htmx:afterSwap", () => {
      if (below === null) return;
      scrollTo({ top: document.documentElement.scrollHeight - below, behavior: "instant" });
      below = null;
    });
  }
}
