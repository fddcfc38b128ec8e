// The connection of a call: sends utterances, and how far replies were heard, in order and again after a reconnect,
// until the server confirms them.

import { Connection } from "../talk/connection.js";

const AGAIN_MS = 1000;
const CHECK_MS = 5000; // how often Kith is asked for a sign
const MOST_UNANSWERED = 2; // after which the line leads nowhere: it would not say so for many minutes
const BYTES_A_CHECK = 40_000; // that the slowest line carries meanwhile, which has to carry an utterance before a sign
const LATER = ["database_away", "too_many_waiting", "too_many_recordings"]; // the same may be taken in a moment

// Events: up; down {detail: reason}; frame {detail: frame}; refused {detail: the error}.
export class Line extends EventTarget {
  #letters = [];
  #number = 0;
  #checks = 0;
  #unanswered = 0; // checks since the last frame
  #hasBegun = false; // as Kith has told; another call of the person's may have begun since the line fell

  constructor(companion) {
    super();
    this.connection = new Connection(`/ws/companions/${companion}/call/`);
    this.name = Array.from(crypto.getRandomValues(new Uint32Array(4)), (part) => part.toString(36)).join("");
    this.connection.addEventListener("up", () => {
      this.#unanswered = 0;
      this.#begin();
      for (const letter of this.#letters) this.#send(letter);
      this.#tell("up");
    });
    this.connection.addEventListener("down", ({ detail }) => this.#tell("down", detail));
    this.connection.addEventListener("frame", ({ detail }) => {
      this.#unanswered = 0;
      this.#hasBegun ||= detail.type === "call.begun" && detail.call === this.name;
      this.#take(detail);
    });
  }

  open() {
    this.connection.open();
    this.#checks = setInterval(() => this.#check(), CHECK_MS);
  }

  close() {
    clearInterval(this.#checks);
    this.connection.close();
  }

  get isOpen() {
    return this.connection.isOpen;
  }

  // Whether everything that the person said has become a message, or had no words.
  get isHeard() {
    return !this.#letters.some(({ bytes }) => bytes);
  }

  // Send an utterance; return the client id of the message that it becomes.
  say(sound, language) {
    const id = `${this.name}-${(this.#number += 1)}`;
    this.#post({ of: id, frame: { type: "call.utterance", client_id: id, language }, bytes: sound });
    return id;
  }

  // Report up to which character of its text a reply was heard before it was interrupted.
  heard(reply, until) {
    this.#post({ of: reply, frame: { type: "reply.heard", id: reply, until } });
  }

  ask(frame) {
    this.connection.send(frame);
  }

  #begin() {
    this.connection.send({ type: "call.begin", call: this.name, again: this.#hasBegun });
  }

  // Ask whether the line still leads to Kith, which answers at once; without answers, connect anew.
  #check() {
    if (!this.isOpen) return;
    const bytes = this.#letters.reduce((sum, letter) => sum + (letter.bytes?.byteLength ?? 0), 0);
    if (this.#unanswered >= MOST_UNANSWERED + bytes / BYTES_A_CHECK) return this.connection.renew();
    this.#unanswered += 1;
    this.#begin();
  }

  #post(letter) {
    this.#letters.push(letter);
    this.#send(letter);
  }

  #send({ frame, bytes }) {
    this.connection.send(frame, bytes);
  }

  #take(frame) {
    const of = { "message.saved": frame.message?.client_id, "reply.heard": frame.id, "call.nothing": frame.client_id };
    if (frame.type === "error") return this.#refused(frame);
    if (of[frame.type]) this.#drop(of[frame.type]);
    return this.#tell("frame", frame);
  }

  #refused(error) {
    const letter = this.#letters.find((one) => one.of === error.client_id);
    if (letter && LATER.includes(error.code)) return setTimeout(() => this.#send(letter), AGAIN_MS);
    if (letter) this.#drop(letter.of);
    if (error.code === "no_such_reply") this.#letters = this.#letters.filter((one) => one.bytes);
    return this.#tell("refused", error);
  }

  #drop(of) {
    this.#letters = this.#letters.filter((one) => one.of !== of);
  }

  #tell(name, detail) {
    this.dispatchEvent(new CustomEvent(name, { detail }));
  }
}
