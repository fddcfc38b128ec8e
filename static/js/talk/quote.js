// The quoted message that the next one answers: shown above the composer, saved with the draft, and sent along.

import { keep, kept } from "../storage.js";

const SHOWN = 160; // characters

export class Quote {
  #quoted = null;

  constructor(companion, area) {
    this.name = `kith.quote.${companion}`;
    this.area = area;
    this.line = document.getElementById("quoting");
    document.getElementById("quoting-away").addEventListener("click", () => {
      this.put(null);
      area.focus();
    });
    document.addEventListener("click", (event) => this.#clicked(event));
    try {
      this.put(JSON.parse(kept(this.name)));
    } catch {
      this.put(null);
    }
  }

  // Set the quoted message {id, who, words}, or null.
  put(quoted) {
    this.#quoted = quoted;
    keep(this.name, quoted && JSON.stringify(quoted));
    showQuote(this.line, quoted);
  }

  // Clear the quote if its message is among the deleted ones.
  drop(ids) {
    if (ids.includes(this.#quoted?.id)) this.put(null);
  }

  // Return the quoted message for the one that is being sent, and clear it here.
  take() {
    const taken = this.#quoted;
    this.put(null);
    return taken;
  }

  #clicked(event) {
    const button = event.target.closest("[data-quotes]");
    if (button) {
      const said = document.getElementById(`message-${button.dataset.quotes}`);
      const words = said.querySelector(".words").textContent.replace(/\s+/g, " ").trim();
      this.put({ id: button.dataset.quotes, who: button.dataset.who, words: words.slice(0, SHOWN) });
      this.area.focus();
    }
    const link = event.target.closest("a.quoted");
    const place = link && document.getElementById(`message-${new URL(link.href).searchParams.get("at")}`);
    if (!place || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault(); // it is on the page
    for (const found of document.querySelectorAll(".is-found")) found.classList.remove("is-found");
    place.classList.add("is-found");
    place.tabIndex = -1;
    place.scrollIntoView({ block: "center", behavior: "instant" });
    place.focus({ preventScroll: true });
  }
}

// Fill in and show a quote, or hide the element if there is none.
export function showQuote(element, quoted) {
  element.hidden = !quoted;
  if (!quoted) return;
  element.querySelector(".quoted-who").textContent = quoted.who;
  element.querySelector(".quoted-words").textContent = quoted.words;
}
