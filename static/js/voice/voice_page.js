// The page of a companion's voice: shows the speed while it is set, and plays a sample before anything is saved.

import { post } from "../request.js";
import { BrowserVoice } from "./browser_voice.js";
import { Speaker } from "./speaker.js";

const form = document.getElementById("voice-form");
const button = document.getElementById("sample");
const trouble = document.getElementById("sample-trouble");
const speed = form.elements.speed;
const speaker = new Speaker();
const browser = new BrowserVoice();
let turn = 0;

speed.addEventListener("input", () => (document.getElementById("speed-shown").textContent = `${speed.value}×`));

button.addEventListener("click", async () => {
  const isOn = button.getAttribute("aria-pressed") === "true";
  stop();
  if (isOn) return;
  const mine = turn;
  speaker.wake();
  button.setAttribute("aria-pressed", "true");
  try {
    await hear(await post(button.dataset.url, Object.fromEntries(new FormData(form))), () => mine === turn);
  } catch ({ detail }) {
    if (mine === turn) trouble.textContent = detail || trouble.dataset.failed;
  }
  if (mine === turn) button.setAttribute("aria-pressed", "false");
});

addEventListener("pagehide", stop);

function stop() {
  turn += 1;
  trouble.textContent = "";
  button.setAttribute("aria-pressed", "false");
  speaker.stop();
  browser.stop();
}

async function hear(response, isWanted) {
  if (response.ok) {
    const sound = await speaker.decode(await response.arrayBuffer());
    if (isWanted()) await speaker.play(sound, () => {});
    return;
  }
  const told = await response.json();
  if (!isWanted()) return;
  if (told.code === "browser_speaks" && BrowserVoice.isThere) await browser.play(told, () => {});
  else trouble.textContent = told.detail;
}
