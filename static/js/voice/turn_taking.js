// Turn-taking in a call: says answers one after the other, lets the person interrupt, and reports what was not heard.

const AGAIN_MS = 1500;
const LONG_MS = 20_000; // longer than a sentence: a voice that fails only after that would be silent for minutes
const SPENT = "no_speech_left"; // until midnight
const MOST_TRIES = 4; // of one sentence; 1 after an answer could not be said, until one can

// `speaking` says sentences aloud, `line` sends frames, `transcript` shows what is said. Events: state {detail: its
// name}; voiceless {detail: the error} when an answer is shown because it cannot be said.
export class TurnTaking extends EventTarget {
  #now = null; // {kind, id, next, tries}, what is being said; `next` is the sentence to go on with
  #waiting = []; // answers that nobody has begun to hear
  #unheard = new Set(); // utterances that nobody has understood yet
  #isHearing = false;
  #mostTries = MOST_TRIES;
  #timer = 0;
  #since = 0; // when a sentence was last begun or asked for

  constructor(speaking, line, transcript) {
    super();
    Object.assign(this, { speaking, line, transcript });
    speaking.addEventListener("sentence", ({ detail }) => this.#begun(detail));
    speaking.addEventListener("done", () => this.#said());
    speaking.addEventListener("failed", ({ detail }) => this.#failed(detail));
    line.addEventListener("up", () => (this.#now?.isBroken ? this.#again() : speaking.renew()));
  }

  // -- the person --

  begins() {
    this.#isHearing = true;
    if (this.#now && !this.#now.next) this.#holdBack();
    else this.breakOff();
    this.#tell();
  }

  ends(sound, language) {
    this.#isHearing = false;
    this.#unheard.add(this.line.say(sound, language));
    this.#tell();
  }

  drops() {
    this.#isHearing = false;
    this.#goOn();
  }

  // Hold back an answer that has not begun to sound, in case the person's sound turns out not to be speech.
  #holdBack() {
    this.speaking.stop();
    clearTimeout(this.#timer);
    if (this.#now) this.#waiting.unshift(this.#now);
    this.#now = null;
  }

  // On hanging up, report how far the current answer was heard; one that had not begun stays whole in the talk.
  hangsUp() {
    if (this.#now?.next) this.breakOff();
    else this.#holdBack();
  }

  // Stop the current answer at once, and report how far it was heard, so that the server stops making it.
  breakOff() {
    if (!this.#now) return;
    const { kind, id, before } = this.#now;
    const heard = this.speaking.stop();
    clearTimeout(this.#timer);
    this.#now = null;
    if (kind !== "replies") return;
    const until = heard ? placeOf(heard) : before;
    this.transcript.is(id, [...this.transcript.textOf(id)].slice(0, until).join(""));
    this.line.heard(id, until);
  }

  // -- frames from the line --

  // Who went on speaking before an answer began, as after a pause for thought, hears one answer to all of it.
  saved(clientId, reply) {
    if (this.#unheard.delete(clientId)) {
      const isOutdated = ({ kind, id }) => kind === "replies" && id !== reply.id;
      for (const { id } of this.#waiting.filter(isOutdated)) this.line.heard(id, 0);
      this.#waiting = this.#waiting.filter((one) => !isOutdated(one));
    }
    this.say("replies", reply.id);
  }

  nothing(clientId) {
    this.#unheard.delete(clientId);
    this.#goOn();
  }

  say(kind, id) {
    const isKnown = [this.#now, ...this.#waiting].some((one) => one?.id === id);
    if (!isKnown) this.#waiting.push({ kind, id, next: 0, tries: 0, failed: 0, before: 0, end: 0, isBroken: false });
    this.#goOn();
  }

  // -- the voice --

  #goOn() {
    if (!this.#now && !this.#isHearing && !this.#unheard.size && this.#waiting.length) {
      this.#now = this.#waiting.shift();
      this.#speak();
    }
    this.#tell();
  }

  #speak() {
    this.#now.isBroken = false;
    this.#since = performance.now();
    this.speaking.say(this.#now.kind, this.#now.id, { from: this.#now.next });
  }

  #begun({ number, start, end }) {
    if (!this.#now) return;
    if (number > this.#now.failed) this.#mostTries = MOST_TRIES; // the one before was heard
    Object.assign(this.#now, { next: number + 1, before: start, end });
    this.#since = performance.now();
    this.transcript.hears(this.#now.id, end);
    this.#tell();
  }

  // All was said that can be: what is only meant to be read, such as code, is shown, and so that this is known, too.
  #said() {
    const { id, next } = this.#now;
    this.transcript.hears(id, Infinity);
    if (next) this.#mostTries = MOST_TRIES;
    else if (this.transcript.textOf(id)) this.#tellVoiceless();
    this.#now = null;
    this.#goOn();
  }

  // Try again from the sentence that failed, if the connection or the voice does; after the last try only show the text.
  #failed(error) {
    if (!this.#now) return;
    const now = this.#now;
    const hasBegun = error.number < now.next; // its sound failed, not the way to it
    now.tries = now.tries && error.number === now.failed ? now.tries + 1 : 1;
    Object.assign(now, { isBroken: true, next: error.number, failed: error.number });
    if (!hasBegun) now.before = now.end;
    const isLong = error.code !== "network" && performance.now() - this.#since > LONG_MS;
    if ((isLong || error.code === SPENT || now.tries >= this.#mostTries) && this.line.isOpen) {
      this.#mostTries = 1;
      this.transcript.hears(now.id, Infinity);
      this.#tellVoiceless(error);
      this.#now = null;
      this.#goOn();
    } else {
      clearTimeout(this.#timer);
      this.#timer = setTimeout(() => this.#again(), AGAIN_MS);
    }
    this.#tell();
  }

  #again() {
    clearTimeout(this.#timer);
    if (this.#now?.isBroken && this.line.isOpen) this.#speak();
    else if (this.#now?.isBroken) this.#now.tries = Math.min(this.#now.tries, 1); // the line's fault, not the voice's
  }

  #tellVoiceless(error = {}) {
    this.dispatchEvent(new CustomEvent("voiceless", { detail: error }));
  }

  #tell() {
    let name = "listening";
    if (this.#isHearing) name = "hearing";
    else if (this.#now?.next && !this.#now.isBroken) name = "speaking";
    else if (this.#unheard.size) name = "understanding";
    else if (this.#now) name = "thinking";
    this.dispatchEvent(new CustomEvent("state", { detail: name }));
  }
}

// Return up to which character of the text the reply was heard, in proportion to how much of the sentence has sounded.
function placeOf({ start, end, fraction }) {
  return start + Math.floor(Math.min(fraction, 1) * (end - start));
}
