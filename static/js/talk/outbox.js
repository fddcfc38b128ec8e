// Messages that are not stored by the server yet: they survive reloads and are sent again with the same id.

import { keep, kept } from "../storage.js";

function newId() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

export class Outbox {
  constructor(companion) {
    this.name = `kith.unsent.${companion}`;
    try {
      this.letters = JSON.parse(kept(this.name) ?? "[]");
    } catch {
      this.letters = [];
    }
  }

  // `recording` is the spoken message: {id, seconds, sound}; `quoted` the message it answers: {id, who, words}; `files`
  // its attachments: [{id, name, url, isText}].
  add(text, { recording, quoted, files = [] } = {}) {
    const letter = { clientId: newId(), text, files, ...(recording && { recording }), ...(quoted && { quoted }) };
    this.letters.push(letter);
    this.#keep();
    return letter;
  }

  withoutRecording(clientId) {
    const letter = this.letters.find((one) => one.clientId === clientId);
    if (letter) delete letter.recording;
    this.#keep();
  }

  drop(clientId) {
    this.letters = this.letters.filter((letter) => letter.clientId !== clientId);
    this.#keep();
  }

  // Mark a letter as refused, with the sentence `why`; null clears the mark, so that it is sent again.
  refuse(clientId, why) {
    const letter = this.letters.find((one) => one.clientId === clientId);
    if (!letter) return null;
    letter.refused = why;
    this.#keep();
    return letter;
  }

  get toSend() {
    return this.letters.filter((letter) => !letter.refused);
  }

  #keep() {
    keep(this.name, this.letters.length ? JSON.stringify(this.letters) : null);
  }
}
