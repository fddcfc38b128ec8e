// The page of a call: connects the microphone, the line, the voice and the transcript.

import { announce } from "../announce.js";
import { Line } from "./call_connection.js";
import { Microphone } from "./microphone.js";
import { playNotice } from "./notice.js";
import { languageOf } from "./recognition.js";
import { Speaking } from "./speaking.js";
import { Texts } from "./texts.js";
import { Transcript } from "./transcript.js";
import { TurnTaking } from "./turn_taking.js";

const part = (name) => document.getElementById(`call-${name}`);
const call = document.getElementById("call");
const words = JSON.parse(part("words").textContent);
const { companion, worklet, notice } = call.dataset;
const language = document.documentElement.lang;
const said = new Transcript(part("lines"), { person: words.you, companion: words.companion });

let line = null;
let turns = null;
let microphone = null;
let texts = null;
let sound = null; // what it is heard and said with
let lasts = null; // aborted when the call ends
let isWhole = true; // nothing that the person said was refused

// Show the state. Screen readers are not told: they would speak into the microphone whenever the turn passes.
function show(state) {
  call.dataset.state = state;
  const isTrue = !line || line.isOpen || state === "speaking"; // without a line, nobody listens
  part("state").textContent = isTrue ? words[state] : "";
}

function trouble(words) {
  part("trouble").textContent = words;
}

// -- beginning and ending --

async function begin() {
  part("start").disabled = true;
  trouble("");
  isWhole = true;
  show("opening");
  const context = (sound = new AudioContext());
  const { signal } = (lasts = new AbortController());
  microphone = new Microphone(worklet);
  try {
    if (!navigator.mediaDevices) throw new DOMException("", "SecurityError");
    await microphone.open(context);
  } catch (error) {
    return hangUp(words[WHY[error.name] ?? "failed"]);
  }
  takeOver(signal);
  stayAwake(signal);
  const introduction = playNotice(notice, { context, language, signal });
  connect(context, introduction);
  part("mute").textContent = words.mute;
  for (const name of ["mute", "end", "level"]) part(name).hidden = false;
  part("start").hidden = true;
  part("end").focus();
  microphone.isRaised = true;
  await introduction;
  return signal.aborted || turned(call.dataset.state === "opening" ? "listening" : call.dataset.state);
}

const WHY = {
  NotAllowedError: "denied",
  SecurityError: "insecure",
  NotFoundError: "no_microphone",
  NotReadableError: "in_use",
};

// End the call that another window of this browser is in: two would answer, and hear, each other.
function takeOver(signal) {
  const over = new Promise((done) => signal.addEventListener("abort", done));
  const isTaken = ({ name }) => name === "AbortError" && !signal.aborted;
  navigator.locks?.request("kith.call", { steal: true }, () => over).catch((error) => isTaken(error) && hangUp(words.elsewhere));
}

// Keep a phone's screen on, since a locked phone takes the microphone away; and go on when the page is seen again.
function stayAwake(signal) {
  const wake = async () => {
    if (document.hidden) return;
    sound.resume();
    const lock = await navigator.wakeLock?.request("screen").catch(() => null); // e.g. when the battery is low
    if (signal.aborted) lock?.release();
    else signal.addEventListener("abort", () => lock?.release());
  };
  document.addEventListener("visibilitychange", wake, { signal });
  wake();
}

function connect(context, introduction) {
  line = new Line(companion);
  texts = new Texts((frame) => line.ask(frame));
  const speaking = Object.assign(new Speaking(companion, context), { before: introduction });
  turns = new TurnTaking(speaking, line, said);
  const here = line;
  const during = (deed) => (event) => here === line && deed(event.detail); // what comes later is another call's, or none's
  line.addEventListener("up", during(up));
  line.addEventListener("down", during(down));
  line.addEventListener("frame", during(take));
  line.addEventListener("refused", during(refused));
  turns.addEventListener("state", ({ detail }) => turned(detail));
  turns.addEventListener("voiceless", ({ detail }) => trouble(detail.detail || words.voiceless));
  microphone.addEventListener("begins", () => turns.begins());
  microphone.addEventListener("ends", ({ detail }) => turns.ends(detail.sound, languageOf(language)));
  microphone.addEventListener("dropped", () => turns.drops());
  microphone.addEventListener("level", ({ detail }) => (part("level").value = detail.level));
  microphone.addEventListener("lost", ({ detail }) => hangUp(detail.name === "NotAllowedError" ? words.denied : words.lost));
  line.open();
}

const FINAL = ["signed_out", "gone"]; // no line comes after these

function down(reason) {
  if (!words[reason]) return;
  if (FINAL.includes(reason)) return hangUp(words[reason]);
  trouble(words[reason]);
  show(call.dataset.state);
}

function up() {
  trouble("");
  show(call.dataset.state);
  texts.resumeAll();
}

function hangUp(why = "") {
  microphone?.finish();
  let farewell = isWhole ? words.ended : words.partly;
  if (line?.isHeard === false) farewell = line.isOpen ? words.last : words.unheard;
  lasts?.abort();
  turns?.hangsUp();
  microphone?.close();
  line?.close();
  sound?.close();
  line = turns = microphone = texts = sound = lasts = null;
  ended(why || farewell);
}

function ended(why) {
  for (const name of ["mute", "end", "level"]) part(name).hidden = true;
  Object.assign(part("start"), { hidden: false, disabled: false });
  call.dataset.state = "ended";
  part("state").textContent = why;
  trouble("");
  announce(why);
  part("start").focus(); // the button that had it is hidden
}

// -- during the call --

function turned(state) {
  microphone.isRaised = state === "speaking";
  show(microphone.isMuted && state === "listening" ? "muted" : state);
}

function take(frame) {
  const text = texts.take(frame);
  if (text !== null) said.knows(frame.id, text);
  if (frame.type === "message.saved") saved(frame);
  if (frame.type === "message.said") told(frame.message);
  if (frame.type === "call.nothing") turns.nothing(frame.client_id);
  if (frame.type === "call.begun" && frame.call !== line.name) hangUp(words.elsewhere);
  if (frame.type === "reply.heard") said.is(frame.id, frame.text);
  if (["reply.failed", "reply.interrupted"].includes(frame.type)) trouble(frame.detail ?? words.failed);
}

function saved({ message, reply }) {
  trouble("");
  said.person(message.id, message.text);
  texts.expect(reply.id);
  turns.saved(message.client_id, reply);
}

// Say a message that the companion wrote unasked; a notice of Kith itself is shown, not read in the companion's voice.
function told(message) {
  if (message.role === "system") return trouble(`Kith: ${message.text}`);
  said.knows(message.id, message.text);
  turns.say("messages", message.id);
}

function refused({ client_id: clientId, detail }) {
  trouble(detail);
  if (!clientId) return;
  isWhole = false;
  turns.nothing(clientId);
}

// -- the buttons --

part("start").addEventListener("click", begin);
part("end").addEventListener("click", () => hangUp());
part("mute").addEventListener("click", () => {
  microphone.isMuted = !microphone.isMuted;
  part("mute").textContent = microphone.isMuted ? words.unmute : words.mute;
  turns.drops();
});
addEventListener("pagehide", () => turns && hangUp());
