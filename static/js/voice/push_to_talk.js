// Push to talk in the composer: hold the button while speaking, or press it to begin and again to end. The transcript
// is put into the composer for checking, and the recording is kept beside it until it is sent.

import { keep, kept } from "../storage.js";
import { engine, isAtHome, joined, languageOf, Recognition } from "./recognition.js";
import { Recorder, Recordings } from "./recordings.js";

const HELD_MS = 350;
const SHORTEST_SECONDS = 0.4;
const AGREED = "kith.recognition"; // the person knows where the browser sends the sound
const LATER = [0, 429, 502, 503, 504];

export class PushToTalk {
  #state = "idle"; // idle, starting, on, ending
  #attached = null; // what goes out with the next message: {id, seconds, sound, detail}, of which the last says why it
  // has no words yet
  #again = null; // what the second button does
  #pressedAt = 0;
  #wait = null; // aborted when what is being transcribed is discarded

  constructor(composer, companion) {
    this.composer = composer;
    this.name = `kith.recording.${companion}`;
    for (const part of ["hearing", "speak"]) this[part] = document.getElementById(part);
    for (const part of ["line", "time", "level", "again", "drop", "play"]) {
      this[part] = document.getElementById(`hearing-${part}`);
    }
    this.words = JSON.parse(document.getElementById("hearing-words").textContent);
    this.recordings = new Recordings(this.hearing.dataset.recordings);
    this.language = languageOf(document.documentElement.lang);
    this.#listen();
    this.attach(JSON.parse(kept(this.name) ?? "null"));
  }

  // Return the recording for the message that is being sent, and clear it here.
  take() {
    const taken = this.#attached;
    this.attach(null);
    return taken;
  }

  attach(recording) {
    this.#attached = recording;
    keep(this.name, recording && JSON.stringify(recording));
    this.#show(recording ? this.words.read_through : "");
    if (!recording) return;
    this.play.dataset.plays = recording.sound;
    this.time.textContent = clock(recording.seconds);
    if (recording.detail) this.#trouble(recording.detail, () => this.#hearAgain(recording.id));
  }

  #listen() {
    this.speak.addEventListener("pointerdown", (event) => this.#down(event));
    for (const name of ["pointerup", "pointercancel"]) this.speak.addEventListener(name, () => this.#up());
    this.speak.addEventListener("contextmenu", (event) => event.preventDefault()); // of a long touch
    this.speak.addEventListener("click", (event) => event.detail === 0 && this.#toggle()); // by a key
    this.again.addEventListener("click", () => this.#again?.());
    this.drop.addEventListener("click", () => this.#discard());
    document.addEventListener("keydown", (event) => event.key === "Escape" && this.#state === "on" && this.#discard());
    addEventListener("pagehide", () => this.recorder?.cancel());
  }

  // -- the button --

  #down(event) {
    if (event.button !== 0) return;
    event.preventDefault(); // the focus stays where it was
    this.speak.setPointerCapture?.(event.pointerId);
    this.#pressedAt = this.#state === "idle" ? event.timeStamp : 0;
    this.#toggle();
  }

  #up() {
    const isHeld = this.#pressedAt && performance.now() - this.#pressedAt > HELD_MS;
    this.#pressedAt = 0;
    if (isHeld && this.#state === "on") this.#end(); // one that asked for the microphone first goes on until it is pressed
  }

  #toggle() {
    if (this.#state === "idle") return this.#begin();
    return this.#state === "on" ? this.#end() : undefined;
  }

  async #begin() {
    if (this.#attached) this.#discard();
    this.#set("starting");
    const begin = "transcribes" in this.hearing.dataset ? this.#record() : this.#recognise();
    const trouble = await begin;
    if (trouble) this.#trouble(trouble);
  }

  #end() {
    this.#set("ending");
    return this.recorder ? this.#ended() : this.recognition.stop();
  }

  #discard() {
    this.#wait?.abort();
    this.recorder?.cancel();
    this.recorder = null;
    if (this.recognition) this.recognition.isDropped = true;
    this.recognition?.stop();
    if (this.#attached) this.recordings.drop(this.#attached.id);
    this.attach(null);
    if (!this.recognition) this.#set("idle");
  }

  // -- recording, with transcription at the server --

  async #record() {
    if (!Recorder.isOffered) return this.words.no_recorder;
    this.recorder = new Recorder(Number(this.hearing.dataset.seconds));
    this.recorder.addEventListener("level", ({ detail }) => this.#level(detail));
    this.recorder.addEventListener("over", () => this.#state === "on" && this.#end());
    try {
      await this.recorder.start();
    } catch (error) {
      this.recorder = null;
      return this.words[error.name] ?? this.words.no_microphone;
    }
    this.#set("on", this.words.recording);
    return null;
  }

  async #ended() {
    const { recorder } = this;
    this.recorder = null;
    const { seconds } = recorder;
    const blob = await recorder.stop();
    if (seconds < SHORTEST_SECONDS) return this.#trouble(this.words.too_short);
    return this.#bring(blob);
  }

  async #bring(blob) {
    const told = await this.#transcribed((signal) => this.recordings.add(blob, this.language, signal));
    if (!told) return undefined;
    if (told.status === 201) return this.#heard(told);
    const isLater = LATER.includes(told.status);
    return this.#trouble(told.detail ?? this.words.not_brought, isLater ? () => this.#bring(blob) : null);
  }

  async #hearAgain(id) {
    const told = await this.#transcribed((signal) => this.recordings.hearAgain(id, this.language, signal));
    if (!told) return undefined;
    if (told.status === 200) return this.#heard(told);
    return this.#trouble(told.detail ?? this.words.not_brought, () => this.#hearAgain(id));
  }

  // Return what the server answers to the request, or null if the recording is discarded meanwhile.
  async #transcribed(request) {
    const { signal } = (this.#wait = new AbortController());
    this.#set("ending", this.words.hearing);
    const told = await request(signal);
    return signal.aborted ? null : told;
  }

  #heard({ id, text, seconds, sound, detail }) {
    this.#set("idle");
    this.attach({ id, seconds, sound, detail });
    if (text) this.#write(text);
    if (this.composer.sendsOnEnter) this.composer.area.focus();
  }

  // -- the browser's own recognition --

  async #recognise() {
    if (!engine()) return this.words.no_recognition;
    const isLocal = await isAtHome(this.language);
    if (!isLocal && !kept(AGREED)) return this.#ask();
    const before = this.composer.area.value;
    this.recognition = new Recognition(this.language, { isLocal });
    const put = ({ detail }) => this.composer.fill(joined([before, detail.text]));
    this.recognition.addEventListener("words", put);
    this.recognition.addEventListener("ended", (event) => {
      if (event.target.isDropped) this.composer.fill(before);
      else put(event);
      this.#over(event.detail.reason);
    });
    this.composer.area.readOnly = true; // what is heard is written there
    this.recognition.start();
    this.#set("on", this.words.listening);
    return null;
  }

  #over(reason) {
    this.recognition = null;
    this.composer.area.readOnly = false;
    this.#set("idle", "");
    if (reason) this.#trouble(this.words[reason] ?? this.words.not_recognised);
    else if (this.composer.sendsOnEnter) this.composer.area.focus();
  }

  #ask() {
    this.#trouble(this.words.goes_out, () => {
      keep(AGREED, "yes");
      this.#begin();
    }, this.words.go_on);
    return null;
  }

  // -- display --

  #write(text) {
    this.composer.fill(joined([this.composer.area.value, text]));
  }

  #trouble(sentence, again = null, name = this.words.again) {
    this.#set("idle", sentence);
    this.#again = again;
    this.again.hidden = !again;
    this.again.textContent = name;
    this.drop.hidden = false;
  }

  #set(state, line = this.line.textContent) {
    const isOn = state === "on";
    if (isOn !== (this.#state === "on")) {
      document.dispatchEvent(new CustomEvent("kith:recording", { detail: { isOn } }));
    }
    this.#state = state;
    this.speak.classList.toggle("is-on", isOn);
    this.speak.setAttribute("aria-pressed", String(isOn));
    this.speak.setAttribute("aria-disabled", String(state === "starting" || state === "ending")); // keeps the focus
    if (isOn) this.time.textContent = "";
    this.#show(line);
  }

  #show(line) {
    this.line.textContent = line;
    this.again.hidden = true;
    this.#again = null;
    this.hearing.hidden = !line;
    this.hearing.classList.toggle("is-on", this.#state === "on");
    this.play.hidden = !this.#attached || this.#state !== "idle";
    this.drop.hidden = this.#state === "starting" || (this.#state === "ending" && Boolean(this.recognition));
    this.drop.querySelector("span").textContent = this.#attached ? this.words.without : this.words.discard;
    if (!this.#attached && this.#state !== "on") this.time.textContent = "";
  }

  #level({ level, seconds }) {
    this.level.style.scale = `${level} 1`;
    this.time.textContent = clock(seconds);
  }
}

function clock(seconds) {
  return `${Math.floor(seconds / 60)}:${String(Math.floor(seconds % 60)).padStart(2, "0")}`;
}
