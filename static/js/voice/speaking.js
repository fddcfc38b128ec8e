// Says a reply or a message aloud, sentence by sentence, in order, while it is still being made.
//
// Events: sentence {number, start, end, emotion, intensity} as each begins, level (0 to 1) while it sounds, and finally
// done or failed {number, code, detail}, with the number of the sentence that failed; none after stop(). Positions in
// the text count characters, not UTF-16 units.

import { BrowserVoice } from "./browser_voice.js";
import { fetchSentence, SpeechError } from "./sentences.js";
import { Speaker } from "./speaker.js";

const AHEAD = 2;

export class Speaking extends EventTarget {
  before = null; // a promise of what is to be said before anything else, such as a call's notice
  #run = null; // {url, leaving, number, sentences, heard, voice}

  constructor(companion, context = null) {
    super();
    this.companion = companion;
    this.speaker = new Speaker(context);
    this.browser = new BrowserVoice();
  }

  get isOn() {
    return this.#run !== null;
  }

  // To be called within a user's action.
  wake() {
    this.speaker.wake();
  }

  // Say a reply or message (`kind` "replies" or "messages") from sentence `from` on, stopping anything else.
  say(kind, id, { from = 0 } = {}) {
    this.stop();
    const url = `/companions/${this.companion}/${kind}/${id}/speech/`;
    const run = { url, leaving: new AbortController(), number: from, sentences: new Map(), heard: null, voice: null };
    this.#run = run;
    this.#speak(run).then(
      () => this.#ended(run, "done"),
      ({ code = "not_playable", detail = "" }) => this.#ended(run, "failed", { number: run.number, code, detail }),
    );
  }

  // Stop, and return what was heard last, {number, seconds, start, end, fraction}, or null if nothing was.
  stop() {
    const run = this.#run;
    if (!run) return null;
    const heard = this.#heard(run);
    this.#run = null;
    run.leaving.abort();
    run.voice?.stop();
    tell("kith:said");
    return heard;
  }

  // Request anew what is under way, as after the network has changed: a request that leads nowhere does not say so.
  renew() {
    if (!this.#run) return;
    const { leaving } = this.#run;
    this.#run.leaving = new AbortController();
    leaving.abort();
  }

  async #speak(run) {
    for (; ; run.number += 1) {
      const { number } = run;
      const sentence = await this.#sentence(run, number);
      await this.before;
      if (!sentence || run !== this.#run) return;
      for (let next = number + 1; next <= number + AHEAD; next += 1) this.#sentence(run, next).catch(() => {});
      await this.#say(run, sentence);
      run.sentences.delete(number);
      if (run !== this.#run) return;
    }
  }

  #sentence(run, number) {
    if (!run.sentences.has(number)) run.sentences.set(number, this.#fetched(run, number));
    return run.sentences.get(number);
  }

  async #fetched(run, number) {
    const { signal } = run.leaving;
    const sentence = await fetchSentence(run.url, number, signal).catch((error) => {
      if (signal === run.leaving.signal) throw error;
      return this.#fetched(run, number); // renewed
    });
    if (!sentence?.content) return sentence;
    return { ...sentence, sound: await this.speaker.decode(sentence.content), content: null };
  }

  async #say(run, sentence) {
    const { number, start, end, emotion, intensity, sound } = sentence;
    if (!sound && !BrowserVoice.isThere) throw new SpeechError({ code: "no_voice", detail: sentence.detail });
    run.voice = sound ? this.speaker : this.browser;
    run.heard = { number, start, end, duration: sound?.duration };
    this.#give("sentence", { number, start, end, emotion, intensity });
    tell("kith:emotion", { emotion, intensity });
    await run.voice.play(sound ?? sentence, (level) => this.#level(run, level));
    if (run !== this.#run) return;
    run.voice = null; // all of it was heard
    tell("kith:speaking", { level: 0 });
  }

  #level(run, level) {
    if (run !== this.#run) return;
    this.#give("level", level);
    tell("kith:speaking", { level });
  }

  #heard({ heard, voice }) {
    if (!heard) return null;
    const { duration, ...place } = heard;
    if (!voice) return { ...place, seconds: duration ?? this.browser.seconds, fraction: 1 };
    const fraction = duration ? voice.seconds / duration : voice.fraction;
    return { ...place, seconds: voice.seconds, fraction };
  }

  #ended(run, name, detail) {
    if (run !== this.#run) return;
    this.#run = null;
    run.leaving.abort();
    tell("kith:said");
    this.#give(name, detail);
  }

  #give(name, detail) {
    this.dispatchEvent(new CustomEvent(name, { detail }));
  }
}

function tell(name, detail) {
  document.dispatchEvent(new CustomEvent(name, { detail }));
}
