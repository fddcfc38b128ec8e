// The page of a talk: connects the socket, the composer and the turns.

import { announce } from "../announce.js";
import { PATIENCE_MS, post } from "../request.js";
import "../voice/playback.js";
import { PushToTalk } from "../voice/push_to_talk.js";
import { Attachments } from "./attachments.js";
import { ReadingAloud } from "./read_aloud.js";
import { Composer } from "./composer.js";
import { CHECK_MS, Connection } from "./connection.js";
import { watchKeys } from "./keys.js";
import { Outbox } from "./outbox.js";
import { Quote } from "./quote.js";
import { Place, Reading } from "./reading.js";
import { Replies, showEmotion } from "./replies.js";
import { Turns } from "./turns.js";
import { TalkWindow } from "./window.js";

const LATER_MS = 4000;
const WAITS_MS = 2500; // what is not stored sooner is said to wait
const QUIET_MS = 800; // a connection that is back sooner was not worth a word

const talk = document.getElementById("talk");
const companion = talk.dataset.companion;
const words = JSON.parse(document.getElementById("talk-words").textContent);
const line = document.getElementById("connection");
const stop = document.getElementById("stop");

const connection = new Connection(`/ws/companions/${companion}/`);
const outbox = new Outbox(companion);
const turns = new Turns(talk);
const replies = new Replies(turns, words, (frame) => connection.send(frame));
const isStreaming = (turn) => replies.isStreaming(turn);
const place = new Place(talk, turns, {
  onMove: () => replies.catchUp(),
  toNewest: () => turns.catchUp(isStreaming, true).catch(() => {}), // without a network what is here stays
});
const reading = new Reading(talk);
const aloud = new ReadingAloud(talk, words, (detail) => (line.textContent = detail));
const mine = new Set(); // what was sent from here
let hint = ""; // about what is being written
const tell = (text) => (line.textContent = hint = text);
const endHint = () => {
  if (hint && line.textContent === hint) line.textContent = "";
  hint = "";
};
const attachments = new Attachments(companion, words, endHint);
const send = (text) => {
  endHint();
  document.querySelector(".composer .notices")?.remove(); // who goes on has read it
  return write(outbox.add(text, { recording: pushToTalk.take(), quoted: quote.take(), files: attachments.take() }));
};
const composer = new Composer(companion, send, {
  standsFor: () => attachments.names,
  isHeld: () => attachments.obstacle && tell(attachments.obstacle),
  onCut: () => tell(words.cut),
});
const quote = new Quote(companion, composer.area);
const pushToTalk = new PushToTalk(composer, companion);

// -- sending --

function write(letter) {
  mine.add(letter.clientId);
  aloud.stop();
  turns.add(letter);
  place.toEnd();
  if (letter.refused) turns.refused(letter.clientId, `${words.not_sent} ${letter.refused}`);
  flush();
  setTimeout(markWaiting, WAITS_MS);
}

const markWaiting = () => outbox.toSend.forEach(({ clientId }) => turns.waiting(clientId));

let isReady = false; // the socket is up, and what was missed is here
let isFlushing = false;
const underWay = new Set(); // sent by this socket, and not yet stored
let speaking = null; // aborts what is being sent with its recording once the line falls: it may lead nowhere

// Send all waiting letters in order, one after the other.
async function flush() {
  if (!isReady) return connection.open();
  if (isFlushing) return undefined;
  isFlushing = true;
  let letter;
  while (isReady && (letter = outbox.toSend.find(({ clientId }) => !underWay.has(clientId)))) {
    underWay.add(letter.clientId);
    const isOut = letter.recording
      ? await sendSpoken(letter)
      : connection.send({
          type: "message.send",
          text: letter.text,
          client_id: letter.clientId,
          quoted: letter.quoted?.id,
          attachments: (letter.files ?? []).map(({ id }) => id),
        });
    if (!isOut) break;
  }
  isFlushing = false;
  return undefined;
}

function alone(clientId) {
  outbox.withoutRecording(clientId);
  underWay.delete(clientId);
}

// Send a message with its recording; without it if the recording is gone or was sent before, so that the words are
// never lost. Returns false if it is tried again later.
async function sendSpoken({ clientId, text, recording, quoted, files = [] }) {
  const besides = { quoted: quoted?.id, attachments: files.map(({ id }) => id) };
  speaking = new AbortController();
  const told = await pushToTalk.recordings.send(recording.id, text, clientId, besides, speaking.signal);
  if (told.status === 201) {
    outbox.drop(clientId);
    if (turns.unsent(clientId)) saved(told);
    await turns.refresh(told.message.id);
  } else if (told.status === 404 || told.code === "recording_sent") alone(clientId);
  else if (told.status === 0 || told.status >= 500) {
    underWay.delete(clientId);
    setTimeout(flush, LATER_MS);
    return false;
  } else refused({ client_id: clientId, detail: told.detail ?? words.failed });
  return true;
}

for (const letter of outbox.letters) {
  if (talk.querySelector(`[data-client-id="${CSS.escape(letter.clientId)}"]`)) outbox.drop(letter.clientId);
  else write(letter);
}

// -- receiving --

let wasUp = false;
let quiet = 0;

connection.addEventListener("up", async () => {
  clearTimeout(quiet);
  line.textContent = "";
  underWay.clear();
  const missed = wasUp ? turns.catchUp(isStreaming) : turns.catchUpOnce(isStreaming);
  wasUp = true;
  await Promise.race([missed.catch(() => {}), new Promise((done) => setTimeout(done, LATER_MS))]); // what waits is sent all the same
  isReady = connection.isOpen;
  if (!isReady) return; // it fell meanwhile, and comes back after a pause
  replies.resumeAll();
  flush();
});

document.addEventListener("signed-out", () => {
  line.textContent = words.signed_out;
  document.getElementById("signed-out").hidden = false;
});

connection.addEventListener("down", ({ detail: reason }) => {
  replies.lose();
  speaking?.abort();
  clearTimeout(quiet);
  isReady = false;
  underWay.clear();
  if (reason === "idle") return;
  setTimeout(markWaiting, QUIET_MS);
  document.getElementById("signed-out").hidden = reason !== "signed_out";
  const say = () => (line.textContent = navigator.onLine ? words[reason] : words.offline);
  if (reason === "reconnecting") quiet = setTimeout(say, line.textContent ? 0 : QUIET_MS);
  else say();
});

// A socket that was closed because nothing was sent for long is opened anew for what the companion writes unasked.
document.body.addEventListener("outreach", () => connection.open());

// The line is checked while an answer is to come, and when the page is looked at again, until anything comes.
let isLookedAtAgain = false;
let isLeft = false; // and nothing has come since
document.addEventListener("visibilitychange", () => {
  isLookedAtAgain = !document.hidden;
  isLeft = document.hidden;
});

setInterval(() => {
  if (underWay.size || replies.current || isLookedAtAgain) connection.check({ type: "ping" });
}, CHECK_MS);

connection.addEventListener("frame", ({ detail: frame }) => {
  isLookedAtAgain = false;
  if (frame.type === "pong") return;
  if (frame.type === "message.saved") saved(frame);
  else if (frame.type === "message.said") saying = saying.then(() => said(frame.message, frame.emotions)).catch(() => {});
  else if (["reply.heard", "forget.ended"].includes(frame.type)) refreshKnown(frame.message_id);
  else if (frame.type === "branch.chosen") followBranch();
  else if (frame.type === "messages.missed") turns.catchUp(isStreaming).catch(() => {});
  else if (frame.type === "messages.deleted") remove(frame.ids);
  else if (frame.type === "message.corrected") refreshKnown(frame.message.id);
  else if (frame.type === "error") refused(frame);
  else replies.take(frame);
});

function refreshKnown(id) {
  if (turns.find(id)) turns.refresh(id);
}

// A branch chosen in this window loads the page anyway; one chosen elsewhere is followed by reloading it.
let leftAt = -LATER_MS;
document.addEventListener("submit", ({ target }) => target.method === "post" && (leftAt = performance.now()));

function followBranch() {
  if (performance.now() - leftAt < LATER_MS) return;
  if (location.search) location.replace(location.pathname); // the place that was looked at may be on another branch
  else location.reload();
}

function saved({ message, reply }) {
  if (message.client_id) outbox.drop(message.client_id);
  const isEnded = !["queued", "thinking", "streaming"].includes(reply.state);
  turns.saved(message);
  if (isEnded) turns.refresh(message.id);
  else replies.expect(message.id, reply.id);
  if (mine.has(message.client_id)) aloud.answer(reply.id);
}

// Show a message that the companion or Kith wrote unasked; it is a turn of its own. Each waits for the one before it.
let saying = Promise.resolve();
async function said(message, emotions = []) {
  if (turns.find(message.id)) return;
  emotions.slice(0, 1).forEach(showEmotion);
  document.getElementById("beginning")?.remove();
  await turns.refresh(message.id);
  if (isLeft) turns.markNew(message.id);
  isLeft = false;
  const isNotice = message.role === "system"; // Kith's own word: it is not read in the companion's voice
  announce(`${isNotice ? "Kith:" : words.says} ${message.text}`);
  if (!isNotice) aloud.message(message.id);
}

function refused({ client_id: clientId, detail }) {
  if (clientId && outbox.refuse(clientId, detail)) turns.refused(clientId, `${words.not_sent} ${detail}`);
  else line.textContent = detail;
  announce(detail);
}

// -- acting on messages --

stop.addEventListener("click", () => {
  aloud.stop();
  if (replies.current) connection.send({ type: "reply.stop", id: replies.current });
  composer.area.focus();
});

talk.addEventListener("click", async (event) => {
  const button = event.target.closest("button");
  if (!button) return;
  const { retries, continues, decides, replyOf } = button.dataset;
  if (retries) await again(button, `${retries}/retry/`);
  if (decides) await again(button, `${replyOf}/decide/`, { decision: decides, model: button.dataset.model });
  if (continues) await again(button, `${continues}/continue/`);
  if ("says" in button.dataset) {
    write(outbox.add(button.textContent.trim()));
    if (composer.sendsOnEnter) composer.area.focus(); // the button is gone
  }
  const clientId = button.closest("[data-client]")?.dataset.client;
  if ("sendsAgain" in button.dataset) sendAgain(clientId);
  if ("takesBack" in button.dataset) takeBack(clientId);
  if ("discards" in button.dataset) discard(clientId);
});

async function again(button, path, fields = {}) {
  button.disabled = true;
  const turn = button.closest(".turn").dataset.turn;
  const message = button.closest(".turn").querySelector(".said-by-person")?.dataset.message ?? turn;
  let detail = words.failed;
  try {
    const response = await post(`${talk.dataset.replies}${path}`, fields, AbortSignal.timeout(PATIENCE_MS));
    if (response.ok) return await turns.refresh(message, turns.find(turn));
    if (response.headers.get("content-type")?.includes("json")) ({ detail } = await response.json());
  } catch {
    // the network: the sentence above says enough
  }
  button.disabled = false;
  line.textContent = detail;
  return announce(detail);
}

function sendAgain(clientId) {
  const letter = outbox.refuse(clientId, null);
  turns.unsent(clientId)?.querySelector(".trouble")?.remove();
  underWay.delete(clientId);
  if (letter) flush();
}

function discard(clientId) {
  const letter = outbox.refuse(clientId, null);
  outbox.drop(clientId);
  turns.unsent(clientId)?.remove();
  turns.order();
  composer.area.focus();
  return letter;
}

function takeBack(clientId) {
  const letter = discard(clientId);
  if (letter) composer.put(composer.isEmpty ? letter.text : `${letter.text}\n${composer.area.value}`);
  if (letter?.quoted) quote.put(letter.quoted);
  if (letter) attachments.attach(letter.files ?? []);
  if (letter?.recording) pushToTalk.attach(letter.recording);
}

async function remove(ids) {
  quote.drop(ids);
  await turns.remove(ids);
  replies.arrange(); // an answer that was being made may be gone
}

document.body.addEventListener("messages-deleted", ({ detail }) => {
  closeDialog();
  announce(document.getElementById("announcer").dataset.deleted);
  remove(detail.ids);
});

document.body.addEventListener("turn-changed", ({ detail }) => {
  closeDialog();
  turns.refresh(detail.turn);
});

document.body.addEventListener("bookmark-changed", async ({ detail }) => {
  const turn = document.getElementById(`message-${detail.message}`)?.closest(".turn");
  if (!turn) return;
  await turns.refresh(turn.dataset.turn, turn);
  document.getElementById(`message-${detail.message}`)?.querySelector(".menu > summary")?.focus();
});

function closeDialog() {
  document.querySelector("#dialog-place dialog")?.close();
  composer.area.focus();
}

turns.addEventListener("arrived", () => reading.look());
turns.addEventListener("arrived", () => aloud.paint());
connection.open();
new TalkWindow(turns);
if (turns.start) announce(turns.start.textContent);
turns.addEventListener("new-since", () => announce(turns.start.textContent));
const isAtMessage = location.hash.startsWith("#message-");
watchKeys(talk, composer, stop);
if (!isAtMessage && !talk.querySelector(".is-found") && matchMedia("(hover: hover) and (pointer: fine)").matches) composer.area.focus({ preventScroll: true });
document.dispatchEvent(new CustomEvent("kith:live"));
