// The browser's own speech recognition. Final results are kept, even if the browser ends it and it is restarted.

const DEFAULTS = { en: "en-US", "zh-hans": "zh-CN" };
const SIMPLIFIED = ["zh-cn", "zh-sg", "zh-my", "zh-hans"];
const PAUSE = "no-speech"; // nobody spoke for a while: no failure
const BARREN_MS = 300;
const MOST_BARREN = 4; // a browser that ends whatever is begun would be begun for ever
const OVER = ["not-allowed", "service-not-allowed", "audio-capture", "language-not-supported", "network"];

export function engine() {
  return window.SpeechRecognition ?? window.webkitSpeechRecognition ?? null;
}

// Return the person's regional variant of the page's language: e.g. en-GB for `en`, if the browser prefers that.
export function languageOf(page, spoken = navigator.languages ?? []) {
  const isTheirs = (tag) =>
    page === "zh-hans"
      ? SIMPLIFIED.some((one) => tag.toLowerCase().startsWith(one))
      : tag.toLowerCase().split("-")[0] === page.split("-")[0] && tag.includes("-");
  return spoken.find(isTheirs) ?? DEFAULTS[page] ?? page;
}

// Return whether this browser can recognise the language on the device, without sending the sound anywhere.
export async function isAtHome(language) {
  const Engine = engine();
  if (!Engine?.available || !("processLocally" in Engine.prototype)) return false;
  try {
    return (await Engine.available({ langs: [language], processLocally: true })) === "available";
  } catch {
    return false;
  }
}

// Events: words {text} with all text so far, and at the end ended {text, reason} with the code of a failure or null.
export class Recognition extends EventTarget {
  #kept = ""; // of runs that the browser has ended
  #finals = []; // of this run, by their index
  #unsure = "";
  #reason = null;
  #isWanted = false;
  #beganAt = 0;
  #barren = 0; // runs that ended at once

  constructor(language, { isLocal = false } = {}) {
    super();
    this.language = language;
    this.isLocal = isLocal;
  }

  get text() {
    return joined([this.#kept, ...this.#finals, this.#unsure]);
  }

  start() {
    this.#isWanted = true;
    this.#begin();
  }

  stop() {
    this.#isWanted = false;
    this.engine?.stop();
  }

  #begin() {
    const one = (this.engine = new (engine())());
    Object.assign(one, { lang: this.language, continuous: true, interimResults: true });
    if (this.isLocal) one.processLocally = true;
    one.onresult = (event) => this.#take(event);
    one.onerror = (event) => (this.#reason = event.error === PAUSE ? this.#reason : event.error);
    one.onend = () => this.#ended();
    this.#beganAt = performance.now();
    one.start();
  }

  // Results before `resultIndex` have not changed; those from it on replace the earlier ones.
  #take({ resultIndex, results }) {
    const unsure = [];
    for (let at = resultIndex; at < results.length; at += 1) {
      const said = results[at][0].transcript;
      if (results[at].isFinal) this.#finals[at] = said;
      else unsure.push(said);
    }
    this.#unsure = joined(unsure);
    this.#tell("words", { text: this.text });
  }

  // Browsers end the recognition after some silence or a minute; restart it as long as it is wanted.
  #ended() {
    this.#kept = this.text; // what was still unsure was heard, too
    this.#finals = [];
    this.#unsure = "";
    this.#barren = performance.now() - this.#beganAt < BARREN_MS ? this.#barren + 1 : 0;
    if (this.#isWanted && this.#barren < MOST_BARREN && !OVER.includes(this.#reason)) {
      this.#reason = null;
      return this.#begin();
    }
    const reason = this.#isWanted ? (this.#reason ?? "network") : null;
    return this.#tell("ended", { text: this.text, reason });
  }

  #tell(name, detail) {
    this.dispatchEvent(new CustomEvent(name, { detail }));
  }
}

// Join the parts with spaces, except between characters of scripts that are written without spaces.
export function joined(parts) {
  const said = parts.map((part) => part?.trim()).filter(Boolean);
  return said.reduce((text, part) => (text && !isTight(text.at(-1), part[0]) ? `${text} ${part}` : text + part), "");
}

function isTight(before, after) {
  const unspaced = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}，。！？、；：]/u;
  return unspaced.test(before) && unspaced.test(after);
}
