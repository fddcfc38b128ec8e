// The editor of a character's texts: shows their size while the person types, and tries out a sentence with them,
// whether or not they are saved.
import { announce } from "./announce.js";
import { submit } from "./request.js";

const PAUSE_MS = 500; // in which nothing was typed
const form = document.getElementById("character-form");
const size = document.getElementById("character-size");
const warning = document.getElementById("character-warning");

let timer = 0;
let counting;

form.addEventListener("input", () => {
  clearTimeout(timer);
  timer = setTimeout(count, PAUSE_MS);
});
// Screen readers are told the size when a field is left, not while the person types.
form.addEventListener("change", async (event) => {
  clearTimeout(timer);
  if (event.target.matches("textarea") && (await count())) announce(size.textContent);
});

// Fetch and show the counts; return whether the total has changed. After a failure the former counts stay.
async function count() {
  counting?.abort();
  counting = new AbortController();
  try {
    const response = await submit(form.dataset.count, new FormData(form), counting.signal);
    if (!response.ok) return false;
    const told = await response.json();
    for (const place of form.querySelectorAll("[data-counts]")) place.textContent = told.counts[place.dataset.counts];
    const isNew = size.textContent !== told.total;
    size.textContent = told.total;
    if (told.warning && warning.hidden) announce(told.warning);
    warning.hidden = !told.warning;
    warning.querySelector("span").textContent = told.warning;
    return isNew;
  } catch {
    return false;
  }
}

// -- trying it out

const trial = document.getElementById("trial");
const asking = trial.querySelector("form");
const text = document.getElementById("trial-text");
const go = asking.querySelector("button:not([type])");
const stop = asking.querySelector("[data-stops]");
const answer = document.getElementById("trial-answer");
let trying;

trial.hidden = false;
trial.open = matchMedia("(min-width: 1240px)").matches;
stop.addEventListener("click", () => trying?.abort());
text.addEventListener("keydown", (event) => {
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) asking.requestSubmit();
});

asking.addEventListener("submit", async (event) => {
  event.preventDefault();
  if (trying || !text.value.trim()) return;
  trying = new AbortController();
  go.disabled = true;
  stop.hidden = answer.hidden = false;
  answer.setAttribute("aria-busy", "true");
  for (const name of ["words", "stopped", "error", "rehearsed", "recalled"]) show(name, false);
  show("thinking");
  try {
    const said = await listen(trying.signal);
    announce(said);
  } catch (error) {
    if (trying.signal.aborted) show("stopped");
    else fail(error.detail ?? asking.dataset.wrong);
  } finally {
    show("thinking", false);
    answer.removeAttribute("aria-busy");
    trying = undefined;
    go.disabled = false;
    stop.hidden = true;
  }
});

// Show the answer while it streams, and return it when it is complete. Throws an object, with the server's `detail`.
async function listen(signal) {
  const body = new FormData(form);
  body.set("text", text.value);
  const response = await submit(asking.action, body, signal);
  if (!response.ok) throw await response.json().catch(() => ({}));
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  let words = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) throw {};
    const lines = (rest + value).split("\n");
    rest = lines.pop();
    for (const line of lines) {
      const told = JSON.parse(line);
      if (told.rehearsed) show("rehearsed");
      if (told.again) words = "";
      words += told.piece ?? "";
      say("words", words);
      show("thinking", !words);
      if (told.error) throw { detail: told.error };
      if (told.done) {
        place("recalled").innerHTML = told.recalled ?? ""; // a part of the page, as a talk has it
        show("recalled", Boolean(told.recalled));
        return words;
      }
    }
  }
}

const place = (name) => answer.querySelector(`[data-shows="${name}"]`);

function show(name, isSeen = true) {
  place(name).hidden = !isSeen;
}

function say(name, words) {
  (place(name).querySelector("span") ?? place(name)).textContent = words;
  show(name, Boolean(words));
}

function fail(detail) {
  say("error", detail);
  announce(detail);
}
