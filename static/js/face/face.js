// The faces on a page: each has a body, and all follow the companion's emotion, its voice's loudness and the pointer.
//
// Other scripts dispatch `kith:emotion` {emotion, intensity}, `kith:speaking` {level} and `kith:said` on the document.

import { Picture } from "./picture.js";
import { Portrait } from "./portrait.js";

const RESTS_MS = 4000; // so long it looks after a pointer that moves no more
const LASTS_MS = 20000; // so long an emotion shows that nothing follows; then the mood is seen again
const REACH = 360; // pixels from where it looks all the way aside
const still = matchMedia("(prefers-reduced-motion: reduce)");
const bodies = new Map();
const moods = new WeakMap(); // as the page came
let rest = 0;
let calm = 0;

function adopt() {
  for (const element of bodies.keys()) if (!element.isConnected) drop(element);
  for (const element of document.querySelectorAll("[data-face]")) if (!bodies.has(element)) bodies.set(element, body(element));
  live();
}

function body(element) {
  const [poses, pictures] = [...element.querySelectorAll("script")].map((one) => JSON.parse(one.textContent));
  const drawn = new Portrait(element, poses);
  const whole = Object.keys(pictures).length ? new Picture(element, pictures, drawn) : drawn;
  moods.set(element, { ...element.dataset });
  whole.feel(element.dataset.emotion, element.dataset.intensity);
  return whole;
}

function drop(element) {
  bodies.get(element).live("paused");
  bodies.delete(element);
}

function live() {
  const life = document.hidden ? "paused" : still.matches ? "still" : "alive";
  for (const [element, one] of bodies) {
    element.dataset.life = life;
    one.live(life);
  }
}

export function feel(emotion, intensity) {
  clearTimeout(calm);
  for (const element of bodies.keys()) show(element, { emotion, intensity });
}

function show(element, { emotion, intensity }) {
  Object.assign(element.dataset, { emotion, intensity });
  bodies.get(element).feel(emotion, intensity);
}

function calmDown() {
  for (const element of bodies.keys()) show(element, moods.get(element));
}

// Show an emotion for LASTS_MS, also on the small face beside the answer that is being made.
function felt({ emotion, intensity = 1 }) {
  feel(emotion, intensity);
  calm = setTimeout(calmDown, LASTS_MS);
  const image = document.querySelector("[data-reply]:not(.is-waiting) > img.face");
  if (image) image.src = `${image.src.split("?")[0]}?emotion=${encodeURIComponent(emotion)}`;
}

function speak(level) {
  for (const one of bodies.values()) one.speak(level);
}

function lookAt(x, y) {
  for (const [element, one] of bodies) {
    const box = element.getBoundingClientRect();
    one.look((x - box.left - box.width / 2) / REACH, (y - box.top - box.height / 2) / REACH);
  }
}

document.addEventListener("kith:emotion", ({ detail }) => felt(detail));
document.addEventListener("kith:speaking", ({ detail }) => speak(detail.level));
document.addEventListener("kith:said", () => speak(0));
document.addEventListener("visibilitychange", live);
document.addEventListener("htmx:afterSettle", adopt);
still.addEventListener("change", live);
addEventListener(
  "pointermove",
  ({ clientX, clientY }) => {
    if (still.matches) return;
    lookAt(clientX, clientY);
    clearTimeout(rest);
    rest = setTimeout(() => bodies.forEach((one) => one.look(0, 0)), RESTS_MS);
  },
  { passive: true },
);
adopt();
