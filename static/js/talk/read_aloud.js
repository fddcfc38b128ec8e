// Reading aloud in the talk: answers as they are made, if that is switched on, and any message of the companion by its
// button.

import { announce } from "../announce.js";
import { post } from "../request.js";
import { Speaking } from "../voice/speaking.js";

export class ReadingAloud {
  #now = { reply: "", message: "" };
  #begun = new Set(); // replies that were read as they came, each once

  constructor(talk, words, trouble) {
    Object.assign(this, { talk, words, trouble });
    this.speaking = new Speaking(talk.dataset.companion);
    this.toggle = document.getElementById("reads-aloud");
    this.toggle.addEventListener("click", () => this.#turn(!this.isOn));
    this.speaking.addEventListener("done", () => this.#ended());
    this.speaking.addEventListener("failed", ({ detail }) => this.#failed(detail));
    document.addEventListener("click", ({ target }) => this.#clicked(target));
    for (const name of ["click", "keydown"]) document.addEventListener(name, () => this.isOn && this.speaking.wake());
    document.addEventListener("kith:recording", ({ detail }) => detail.isOn && this.stop());
    addEventListener("pagehide", () => this.stop());
  }

  get isOn() {
    return this.toggle.getAttribute("aria-pressed") === "true";
  }

  // Read the answer to a message that was sent from this page, if reading aloud is on.
  answer(reply) {
    if (!this.isOn || this.#begun.has(reply)) return;
    this.#begun.add(reply);
    this.#say("replies", reply, { reply });
  }

  // Read a message that the companion wrote unasked, unless something is being read or the page is hidden or unused.
  message(message) {
    const isHeard = !document.hidden && navigator.userActivation?.hasBeenActive;
    if (this.isOn && isHeard && !this.speaking.isOn) this.#say("messages", message, { message });
  }

  stop() {
    this.speaking.stop();
    this.#ended();
  }

  // Update which button is pressed, also on turns that have just arrived.
  paint() {
    for (const button of this.talk.querySelectorAll("[data-speaks]")) {
      const { speaks, madeBy } = button.dataset;
      const isNow = speaks === this.#now.message || (Boolean(madeBy) && madeBy === this.#now.reply);
      button.setAttribute("aria-pressed", String(isNow));
    }
  }

  #clicked(target) {
    if (target.closest("[data-plays]")) this.stop();
    const button = target.closest("[data-speaks]");
    if (!button) return;
    if (button.getAttribute("aria-pressed") === "true") this.stop();
    else {
      this.speaking.wake();
      this.#say("messages", button.dataset.speaks, { message: button.dataset.speaks });
    }
  }

  #turn(isOn) {
    this.toggle.setAttribute("aria-pressed", String(isOn));
    announce(isOn ? this.words.reads_aloud : this.words.reads_silent);
    if (!isOn) this.stop();
    post(this.toggle.dataset.url, { reads_aloud: isOn ? "yes" : "no" }).catch(() => {});
  }

  #say(kind, id, now) {
    this.speaking.say(kind, id);
    this.#now = { reply: "", message: "", ...now };
    this.trouble("");
    this.paint();
  }

  #ended() {
    this.#now = { reply: "", message: "" };
    this.paint();
  }

  #failed({ detail }) {
    this.#ended();
    this.trouble(detail || this.words.not_aloud);
    announce(detail || this.words.not_aloud);
  }
}
