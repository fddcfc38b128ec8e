// Who speaks when: answers come one after another, a person who breaks in is let in, and what was not heard is told.

const AGAIN_MS = 1500;
const MOST_TRIES = 4;

// `speaking` says sentences aloud, `line` carries frames, `transcript` shows them. Events: state {detail: its name}.
export class TurnTaking extends EventTarget {
  #now = null; // {kind, id, next, tries}, what is being said
  #waiting = [];
  #heldBack = []; // answers that nobody has begun to hear as the person went on
  #unheard = new Set(); // utterances that nobody has understood yet
  #isHearing = false;
  #timer = 0;

  constructor(speaking, line, transcript) {
    super();
    Object.assign(this, { speaking, line, transcript });
    speaking.addEventListener("sentence", ({ detail }) => this.#begun(detail));
    speaking.addEventListener("done", () => this.#said());
    speaking.addEventListener("failed", ({ detail }) => this.#failed(detail));
    line.addEventListener("up", () => this.#now?.isBroken && this.#again());
  }

  get isSpeaking() {
    return this.#now !== null && !this.#now.isBroken;
  }

  // -- the person --

  begins() {
    this.#isHearing = true;
    if (this.#now && !this.#now.next) this.#holdBack();
    else this.breakOff();
    this.#heldBack.push(...this.#waiting.splice(0));
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

  // Of what nobody has begun to hear nothing is lost yet: perhaps it was a cough.
  #holdBack() {
    this.speaking.stop();
    clearTimeout(this.#timer);
    if (this.#now) this.#heldBack.push(this.#now);
    this.#now = null;
  }

  // Who hangs up has heard so much; an answer that had not begun is there to be read.
  hangsUp() {
    if (this.#now?.next) this.breakOff();
    else this.#holdBack();
  }

  // What is being said ends at once, here and where it is made.
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

  // -- what comes over the line --

  saved(clientId, reply) {
    if (this.#unheard.delete(clientId)) {
      for (const one of this.#heldBack.splice(0)) if (one.kind === "replies") this.line.heard(one.id, 0);
    }
    this.say("replies", reply.id);
  }

  nothing(clientId) {
    this.#unheard.delete(clientId);
    this.#goOn();
  }

  say(kind, id) {
    const isKnown = [this.#now, ...this.#waiting, ...this.#heldBack].some((one) => one?.id === id);
    if (!isKnown) this.#waiting.push({ kind, id, next: 0, tries: 0, before: 0, end: 0, isBroken: false });
    this.#goOn();
  }

  // -- the voice --

  #goOn() {
    if (!this.#isHearing && !this.#unheard.size) this.#waiting.unshift(...this.#heldBack.splice(0));
    if (!this.#now && !this.#isHearing && this.#waiting.length) {
      this.#now = this.#waiting.shift();
      this.#speak();
    }
    this.#tell();
  }

  #speak() {
    this.#now.isBroken = false;
    this.speaking.say(this.#now.kind, this.#now.id, { from: this.#now.next });
  }

  #begun({ number, start, end }) {
    if (!this.#now) return;
    Object.assign(this.#now, { next: number + 1, before: start, end, tries: 0 });
    this.transcript.hears(this.#now.id, end);
    this.#tell();
  }

  #said() {
    this.#now = null;
    this.#goOn();
  }

  // A dropped line, or a voice that does not answer: from the same sentence on, and after some tries in words alone.
  #failed(error) {
    if (!this.#now) return;
    Object.assign(this.#now, { isBroken: true, before: this.#now.end });
    this.#now.tries += 1;
    if (this.#now.tries >= MOST_TRIES) {
      this.transcript.hears(this.#now.id, Infinity);
      this.dispatchEvent(new CustomEvent("voiceless", { detail: error }));
      this.#said();
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

  #tell() {
    let name = "listening";
    if (this.#isHearing) name = "hearing";
    else if (this.#now?.next) name = "speaking";
    else if (this.#unheard.size) name = "understanding";
    else if (this.#now) name = "thinking";
    this.dispatchEvent(new CustomEvent("state", { detail: name }));
  }
}

// The place in the text until which was heard: within the sentence as far as its sound had come.
function placeOf({ start, end, fraction }) {
  return start + Math.floor(Math.min(fraction, 1) * (end - start));
}
