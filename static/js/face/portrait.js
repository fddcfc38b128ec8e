// The drawn face: eases from one expression to the next, blinks, looks around, and moves its mouth with the voice.

import { Body } from "./body.js";

const EASE_MS = 110; // after so long a third of the way is left
const LOOK_MS = 90;
const VOICE_MS = 45;
const BLINK_MS = 170;
const BLINKS_MS = [2200, 6000];
const LOOKS = [3.4, 2.4]; // how far an iris goes, in the drawing's units
const SETTLED = 0.004;
const FRAME_MS = 50; // a longer pause between two frames was none of looking at it
const NUMBER = /-?\d+(?:\.\d+)?/g;

export class Portrait extends Body {
  #parts = [];
  #emotions;
  #felt = { emotion: "neutral", intensity: 0 };
  #gaze = [0, 0];
  #looks = [0, 0];
  #level = 0;
  #voice = 0;
  #blinkAt = -1;
  #life = "paused";
  #frame = 0;
  #timer = 0;
  #last = 0;

  constructor(element, poses) {
    super();
    this.#emotions = poses;
    for (const [part, attributes] of Object.entries(poses.neutral.pose)) this.#take(element, part, attributes);
  }

  feel(emotion, intensity) {
    this.#felt = { emotion: this.#emotions[emotion] ? emotion : "neutral", intensity: within(intensity, 0) };
    this.#wake();
  }

  look(x, y) {
    this.#looks = [within(x, -1), within(y, -1)];
    this.#wake();
  }

  speak(level) {
    this.#level = within(level, 0);
    this.#wake();
  }

  live(life) {
    this.#life = life;
    clearTimeout(this.#timer);
    cancelAnimationFrame(this.#frame);
    this.#frame = 0;
    if (life === "alive") this.#blinkLater();
    this.#wake();
  }

  #take(element, part, attributes) {
    const found = element.querySelector(`[data-part="${part}"]`);
    if (!found) return;
    for (const [name, text] of Object.entries(attributes)) {
      const of = (pose) => (pose[part]?.[name] ? numbersOf(pose[part][name]) : null);
      const each = Object.entries(this.#emotions).map(([emotion, { pose, blink, voice }]) => [
        emotion,
        { pose: of(pose), blink: of(blink), voice: of(voice) },
      ]);
      const looks = part.endsWith("-iris");
      const now = numbersOf(found.getAttribute(name));
      this.#parts.push({ found, name, words: wordsOf(text), each: Object.fromEntries(each), now, looks });
    }
  }

  // Animate until everything has come to rest; if life is "still", draw the final state at once.
  #wake() {
    if (this.#life === "paused" || this.#frame) return;
    if (this.#life === "still") return void this.#step(Infinity);
    this.#last = performance.now();
    this.#frame = requestAnimationFrame((now) => this.#go(now));
  }

  #go(now) {
    this.#frame = 0;
    const moved = this.#step(Math.min(now - this.#last, FRAME_MS), now);
    this.#last = now;
    if (moved > SETTLED || this.#blinkAt >= 0) this.#frame = requestAnimationFrame((at) => this.#go(at));
  }

  #step(ms, now = 0) {
    const isStill = this.#life === "still";
    const moved = goTowards(this.#gaze, isStill ? [0, 0] : this.#looks, share(ms, LOOK_MS));
    const louder = ((isStill ? 0 : this.#level) - this.#voice) * share(ms, VOICE_MS);
    this.#voice += louder;
    const blink = isStill ? 0 : this.#blink(now);
    let most = Math.max(moved, Math.abs(louder));
    for (const one of this.#parts) most = Math.max(most, this.#draw(one, share(ms, EASE_MS), blink));
    return most;
  }

  #draw({ found, name, words, each, now, looks }, step, blink) {
    const { emotion, intensity } = this.#felt;
    const felt = each[emotion];
    const wanted = each.neutral.pose.slice();
    goTowards(wanted, felt.pose, intensity);
    const moved = goTowards(now, wanted, step);
    const shown = now.slice();
    if (felt.voice && this.#voice) goTowards(shown, felt.voice, this.#voice);
    if (felt.blink && blink) goTowards(shown, felt.blink, blink);
    if (looks) for (const axis of [0, 1]) shown[axis] += this.#gaze[axis] * LOOKS[axis];
    const text = written(words, shown);
    if (found.getAttribute(name) !== text) found.setAttribute(name, text);
    return moved;
  }

  // Return how far the eyelids are closed, from 0 to 1; schedules the next blink when this one ends.
  #blink(now) {
    if (this.#blinkAt < 0) return 0;
    const gone = (now - this.#blinkAt) / BLINK_MS;
    if (gone < 1) return Math.sin(Math.PI * Math.max(gone, 0));
    this.#blinkAt = -1;
    this.#blinkLater();
    return 0;
  }

  #blinkLater() {
    const [least, most] = BLINKS_MS;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      this.#blinkAt = performance.now();
      this.#wake();
    }, least + Math.random() * (most - least));
  }
}

function share(ms, easeMs) {
  return ms === Infinity ? 1 : 1 - Math.exp(-ms / easeMs);
}

function within(value, least) {
  return Math.min(1, Math.max(least, Number(value) || 0));
}

// SVG attributes are split into numbers and the text between them, so that one drawing can be interpolated to another.

function numbersOf(text) {
  return Float64Array.from(text.match(NUMBER) ?? [], Number);
}

function wordsOf(text) {
  return text.split(NUMBER);
}

function written(words, numbers) {
  let text = words[0];
  for (let at = 0; at < numbers.length; at += 1) text += numbers[at].toFixed(2) + words[at + 1];
  return text;
}

// Move the numbers `here`, in place, by a share of the way to `there`; return the largest step.
function goTowards(here, there, share) {
  let most = 0;
  for (let at = 0; at < here.length; at += 1) {
    const step = (there[at] - here[at]) * share;
    here[at] += step;
    most = Math.max(most, Math.abs(step));
  }
  return most;
}
