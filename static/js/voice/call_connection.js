// The connection of a call: sends utterances, and how far replies were heard, in order and again after a reconnect,
// until the server confirms them.

import { CHECK_MS, Connection } from "../talk/connection.js";

const AGAIN_MS = 1000;
const BYTES_A_CHECK = 40_000; // that the slowest line carries meanwhile, which has to carry an utterance before a sign
const LATER = ["database_away", "too_many_waiting", "too_many_recordings"]; // the same may be taken in a moment

// Events: up; down {detail: reason}; frame {detail: frame}; refused {detail: the error}.
export class Line extends EventTarget {
  #letters = [];
  #number = 0;
  #checks = 0;
  #hasBegun = false; // as Kith has told; another call of the person's may have begun since the line fell

  constructor(companion) {
    super();
    this.connection = new Connection(`/ws/companions/${companion}/call/`);
    this.name = Array.from(crypto.getRandomValues(new Uint32Array(4)), (part) => part.toString(36)).join("");
    this.connection.addEventListener("up", () => {
      this.connection.send(this.#beginning);
      for (const letter of this.#letters) this.#send(letter);
      this.#tell("up");
    });
    this.connection.addEventListener("down", ({ detail }) => this.#tell("down", detail));
    this.connection.addEventListener("frame", ({ detail }) => {
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

  get #beginning() {
    return { type: "call.begin", call: this.name, again: this.#hasBegun };
  }

  #check() {
    const bytes = this.#letters.reduce((sum, letter) => sum + (letter.bytes?.byteLength ?? 0), 0);
    this.connection.check(this.#beginning, bytes / BYTES_A_CHECK);
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
