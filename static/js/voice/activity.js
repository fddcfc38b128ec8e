// Detects whether somebody speaks, by the loudness compared with the room's noise. Pure: it measures time in frames.

export const FRAME_SECONDS = 0.02;
export const LONGEST_SECONDS = 60;

const BEGINS_DB = 12; // over the room's own noise
const STAYS_DB = 7;
const RAISED_DB = 8; // more, while the companion speaks: what the echo canceller leaves of it is no voice
const FAINTEST_DB = -50;
const LOWEST_DB = -75;
const HIGHEST_DB = -28; // a room that is louder is not talked in
const BEGINS_FRAMES = 6; // 120 ms
const RAISED_FRAMES = 12;
const ENDS_FRAMES = 35; // 700 ms: longer than one who thinks is silent within a sentence
const FALLS = 0.3; // a share of the way to what is quieter, each frame
const RISES = 0.02;
const LEARNS = 0.25; // in the first frames, in which nothing is known of the room
const LEARNS_FRAMES = 15;
const STEADY_FRAMES = 75; // 1.5 s: a voice has gaps in it, a fan has none, so the quietest moment of these is the room's

export function loudness(samples) {
  let sum = 0;
  for (const one of samples) sum += one * one;
  return Math.max(10 * Math.log10(sum / Math.max(samples.length, 1) + 1e-10), LOWEST_DB);
}

export class Activity {
  isVoice = false;
  floor = FAINTEST_DB;
  #frames = 0;
  #loud = 0;
  quiet = 0; // frames of silence at its end
  #length = 0;
  #recent = []; // the levels of the last STEADY_FRAMES

  // Process the next 20 ms; return "begins" or "ends" when speech does, otherwise null.
  hear(samples, isRaised = false) {
    const level = loudness(samples);
    const isLoud = level > this.#threshold(isRaised);
    this.#learn(level, isLoud);
    return this.isVoice ? this.#goOn(isLoud) : this.#listen(isLoud, isRaised);
  }

  #threshold(isRaised) {
    if (this.isVoice) return Math.max(this.floor + STAYS_DB, FAINTEST_DB - 4);
    return Math.max(this.floor + BEGINS_DB, FAINTEST_DB) + (isRaised ? RAISED_DB : 0);
  }

  #listen(isLoud, isRaised) {
    this.#loud = Math.max(this.#loud + (isLoud ? 1 : -1), 0);
    if (this.#loud < (isRaised ? RAISED_FRAMES : BEGINS_FRAMES)) return null;
    this.isVoice = true;
    this.quiet = this.#length = 0;
    return "begins";
  }

  #goOn(isLoud) {
    this.quiet = isLoud ? 0 : this.quiet + 1;
    this.#length += 1;
    if (this.quiet < ENDS_FRAMES && this.#length * FRAME_SECONDS < LONGEST_SECONDS - 1) return null;
    this.isVoice = false;
    this.#loud = 0;
    return "ends";
  }

  #learn(level, isLoud) {
    this.#frames += 1;
    const isNew = this.#frames <= LEARNS_FRAMES;
    this.#recent = [...this.#recent.slice(1 - STEADY_FRAMES), level];
    if (level < this.floor) this.floor += (level - this.floor) * FALLS;
    else if (this.isVoice && this.#recent.length === STEADY_FRAMES) this.floor = Math.max(this.floor, Math.min(...this.#recent));
    else if (!isLoud || isNew) this.floor += (level - this.floor) * (isNew ? LEARNS : RISES);
    this.floor = Math.min(Math.max(this.floor, LOWEST_DB), HIGHEST_DB);
  }
}
