// Playback of recordings, one at a time, by any element that names its sound in `data-plays`.

import { announce } from "../announce.js";

const audio = new Audio();
let button = null;

function show(isPlaying) {
  button?.classList.toggle("is-on", isPlaying);
  button?.setAttribute("aria-pressed", String(isPlaying));
}

export function stop() {
  audio.pause();
  show(false);
  button = null;
}

async function play(next) {
  stop();
  button = next;
  audio.src = next.dataset.plays;
  try {
    await audio.play();
    show(button === next);
  } catch (error) {
    if (error.name === "AbortError") return; // something else is played by now
    announce(next.dataset.fails ?? "");
    stop();
  }
}

audio.addEventListener("ended", stop);
document.addEventListener("kith:recording", ({ detail }) => detail.isOn && stop());
document.addEventListener("click", (event) => {
  const next = event.target.closest("[data-plays]");
  if (!next) return;
  if (next === button) stop();
  else play(next);
});
