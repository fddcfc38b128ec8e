// The browser's own speech synthesis, for use without an engine. Progress is known at words, and estimated in between.

import { SpeechError } from "./sentences.js";

const LETTERS_A_SECOND = 14;
const WIDE = /[\u2e80-\ud7ff\uf900-\uffdc]/g; // signs that take as long as three letters
const LEVEL_MS = 60;

export class BrowserVoice {
  #begunAt = 0;
  #reached = 0;
  #length = 0;
  #speed = 1;
  #timer = 0;
  #end = null;

  static get isThere() {
    return "speechSynthesis" in window;
  }

  // Resolves when the text is said or stopped; rejects with a SpeechError if the browser cannot say it.
  play({ text, language, speed, detail }, onLevel) {
    const saying = new SpeechSynthesisUtterance(text);
    Object.assign(saying, { lang: languageOf(text, language), rate: speed });
    this.#length = weight(text);
    this.#speed = speed;
    this.#reached = 0;
    this.#begunAt = performance.now();
    saying.onboundary = ({ charIndex }) => (this.#reached = weight(text.slice(0, charIndex)));
    this.#timer = setInterval(() => onLevel(0.3 + 0.25 * Math.sin(performance.now() / 70)), LEVEL_MS);
    return new Promise((done, fail) => {
      this.#end = done;
      saying.onend = done;
      saying.onerror = ({ error }) => {
        if (["canceled", "interrupted"].includes(error)) done();
        else fail(new SpeechError({ code: "no_voice", detail }));
      };
      speechSynthesis.speak(saying);
    }).finally(() => clearInterval(this.#timer));
  }

  get seconds() {
    return this.#begunAt ? (performance.now() - this.#begunAt) / 1000 : 0;
  }

  get fraction() {
    const guessed = this.seconds * LETTERS_A_SECOND * this.#speed;
    return Math.min(1, Math.max(this.#reached, guessed) / (this.#length || 1));
  }

  stop() {
    clearInterval(this.#timer);
    if (BrowserVoice.isThere) speechSynthesis.cancel();
    this.#end?.();
    this.#end = null;
  }
}

function weight(text) {
  return text.length + 2 * (text.match(WIDE) ?? []).length;
}

// Return the language that the text's script shows, otherwise the person's.
function languageOf(text, language) {
  if (/[\u3040-\u30ff]/.test(text)) return "ja-JP";
  if (/[\uac00-\ud7af]/.test(text)) return "ko-KR";
  if (/[\u4e00-\u9fff]/.test(text)) return "zh-CN";
  if (/[\u0400-\u04ff]/.test(text)) return "ru-RU";
  return language.startsWith("zh") ? "en-US" : language;
}
