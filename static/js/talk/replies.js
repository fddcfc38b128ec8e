// Replies while they are made: puts pieces in order, requests missing ones again, shows the text at a readable pace.

import { announce } from "../announce.js";
import { Formatting } from "./formatting.js";

const FRAMES_BEHIND = 14; // at 60 frames a second what waits is shown within about a quarter of a second
const PATIENCE_MS = 500;
const LATE_MS = 10_000; // without a piece of the answer, after which the page says so
const still = matchMedia("(prefers-reduced-motion: reduce)");

export class Replies {
  constructor(turns, words, ask) {
    Object.assign(this, { turns, words, ask }); // `ask` sends a frame
    this.open = new Map();
    this.frame = 0;
    turns.addEventListener("arrived", () => this.adopt());
    this.adopt();
  }

  // Track every open reply on the page and show its text so far in its element. For a newly found one, request how it
  // went on, since it may have ended meanwhile.
  adopt() {
    for (const element of document.querySelectorAll("[data-reply]")) {
      const id = element.dataset.reply;
      const isNew = !this.open.has(id);
      const reply = this.open.get(id) ?? this.#begin(id);
      if (isNew) this.#resume(reply);
      if (reply.element === element) continue;
      if (!reply.seq && !reply.text) reply.text = element.querySelector(".words").textContent;
      reply.shown = Math.min(reply.shown || reply.text.length, reply.text.length);
      this.#showIn(element, reply);
      element.classList.toggle("is-thinking", !reply.text);
      if (reply.thought) this.#showThought(reply);
    }
    this.arrange();
  }

  // Of a reply whose turn was deleted while nobody listened, nothing more comes.
  resumeAll() {
    for (const reply of this.open.values()) {
      if (reply.element?.isConnected) this.#resume(reply);
      else this.open.delete(reply.id);
    }
  }

  // Without a connection, nothing is known of the model.
  lose() {
    for (const reply of this.open.values()) this.#endWait(reply);
  }

  // The id of the reply that is being made now, i.e. the first open one on the page, or null.
  get current() {
    return document.querySelector("[data-reply]")?.dataset.reply ?? null;
  }

  isStreaming(turn) {
    return [...turn.querySelectorAll("[data-reply]")].some((one) => this.open.has(one.dataset.reply));
  }

  async take(frame) {
    const kind = frame.type.slice("reply.".length);
    if (kind === "started") return this.#started(frame);
    if (kind === "emotion") return showEmotion(frame);
    const reply = this.open.get(frame.id);
    if (reply && kind !== "recalled") this.#endWait(reply); // what is recalled comes before the model is asked
    if (["done", "stopped", "interrupted", "failed"].includes(kind)) return this.#ended(frame, reply);
    if (!reply) return undefined;
    if (kind === "piece" || kind === "thought") this.#piece(reply, kind, frame);
    if (kind === "tool") this.#trace(reply, this.words[`tool_${frame.name}`] ?? this.words.tool);
    return undefined;
  }

  expect(messageId, replyId) {
    if (this.open.has(replyId)) return;
    const element = this.turns.replyTo(messageId, replyId);
    if (element) this.#showIn(element, this.#begin(replyId));
    this.arrange();
  }

  // Show all text received so far at once.
  catchUp() {
    for (const reply of this.open.values()) reply.shown = reply.text.length;
    this.#paint();
  }

  arrange() {
    const current = this.current;
    for (const { element, id, text } of this.open.values()) {
      const waits = id !== current;
      element?.classList.toggle("is-waiting", waits);
      if (waits) element?.classList.remove("is-thinking");
      else if (!text) element?.classList.add("is-thinking");
      const trace = element?.querySelector(".trace");
      if (trace && (waits || trace.textContent === this.words.waiting)) trace.textContent = waits ? this.words.waiting : "";
    }
    document.getElementById("stop").hidden = current === null;
  }

  #begin(id) {
    const reply = { id, seq: 0, text: "", thought: "", shown: 0, onPage: "", element: null, isAsking: false, begunAt: performance.now() };
    this.open.set(id, reply);
    return reply;
  }

  #showIn(element, reply) {
    reply.element = element;
    reply.formatting = new Formatting(element.querySelector(".words"), this.turns.talk.dataset.markdown);
    if (reply.text) reply.formatting.show(reply.text.slice(0, reply.shown));
  }

  #resume(reply) {
    reply.isAsking = true;
    this.ask({ type: "reply.resume", id: reply.id, after: reply.seq });
  }

  async #started(frame) {
    this.expect(frame.message_id, frame.id);
    const reply = this.open.get(frame.id);
    if (!reply) return this.turns.catchUp((turn) => this.isStreaming(turn));
    const onPage = reply.text.slice(0, reply.shown);
    Object.assign(reply, { text: frame.text, shown: frame.text.length, seq: frame.after, isAsking: false, onPage });
    this.#leaveOnPage(reply);
    this.#wait(reply, frame.after ? this.words.silent : this.words.late);
    return this.#paint();
  }

  // Leave what the page shows already, as after a reload, until the answer has come as far again, or another one comes.
  #leaveOnPage(reply) {
    if (reply.text.length < reply.onPage.length && reply.onPage.startsWith(reply.text)) return;
    if (reply.text.startsWith(reply.onPage)) reply.shown = Math.max(reply.shown, reply.onPage.length);
    reply.onPage = "";
  }

  // Say so if nothing comes for a while.
  #wait(reply, words) {
    this.#endWait(reply);
    reply.late = setTimeout(() => this.#trace(reply, words), LATE_MS);
  }

  #endWait(reply) {
    clearTimeout(reply.late);
    const said = reply.element?.querySelector(".trace").textContent;
    if (said === this.words.late || said === this.words.silent) this.#trace(reply, "");
  }

  #piece(reply, kind, { seq, text }) {
    if (seq <= reply.seq) return;
    if (seq > reply.seq + 1) {
      if (!reply.isAsking) this.#resume(reply);
      return;
    }
    reply.seq = seq;
    reply.isAsking = false;
    this.#wait(reply, this.words.silent);
    if (kind === "thought") {
      reply.thought += text;
      this.#showThought(reply);
    } else {
      reply.text += text;
      if (reply.onPage) this.#leaveOnPage(reply);
      this.#trace(reply, "");
      this.#schedule();
    }
  }

  async #ended(frame, reply) {
    if (frame.message && frame.type !== "reply.failed") announce(`${this.words.says} ${frame.message.text}`);
    if (frame.type === "reply.failed") announce(frame.detail ?? this.words.failed);
    const turn = reply?.element?.closest(".turn");
    if (!turn) {
      this.open.delete(frame.id);
      return this.turns.catchUp((one) => this.isStreaming(one)); // it began before this page heard anything
    }
    if (frame.type === "reply.done") await this.#typedOut(reply);
    this.open.delete(frame.id);
    if (frame.type === "reply.done") {
      const seconds = (performance.now() - reply.begunAt) / 1000;
      const detail = { seconds, message: frame.message?.id ?? null };
      document.dispatchEvent(new CustomEvent("answer-done", { detail }));
    }
    reply.element.removeAttribute("data-reply");
    reply.element.classList.remove("is-thinking");
    this.arrange();
    return this.turns.refresh(turn.dataset.turn);
  }

  #typedOut(reply) {
    if (document.hidden || still.matches) return undefined;
    const until = performance.now() + PATIENCE_MS;
    return new Promise((done) => {
      const look = () => (reply.shown >= reply.text.length || performance.now() > until ? done() : setTimeout(look, 16));
      look();
    });
  }

  #schedule() {
    if (document.hidden || still.matches) return this.catchUp();
    this.frame ||= requestAnimationFrame(() => {
      this.frame = 0;
      let isBehind = false;
      for (const reply of this.open.values()) {
        if (reply.onPage) continue;
        const behind = reply.text.length - reply.shown;
        reply.shown = whole(reply.text, reply.shown + Math.ceil(behind / FRAMES_BEHIND));
        isBehind ||= reply.shown < reply.text.length;
      }
      this.#paint();
      if (isBehind) this.#schedule();
    });
    return undefined;
  }

  #paint() {
    for (const { element, formatting, text, shown, onPage } of this.open.values()) {
      if (!element || !text || onPage) continue;
      element.classList.remove("is-thinking");
      formatting.show(text.slice(0, shown));
    }
  }

  #trace(reply, text) {
    const trace = reply.element?.querySelector(".trace");
    if (trace) trace.textContent = text;
  }

  #showThought(reply) {
    if (!reply.element) return;
    let place = reply.element.querySelector(".thought-text");
    if (!place) {
      reply.element.querySelector(".words").before(document.getElementById("thought-template").content.cloneNode(true));
      place = reply.element.querySelector(".thought-text");
    }
    place.textContent = reply.thought;
  }
}

// Return the length, plus one if it would otherwise split a surrogate pair.
function whole(text, length) {
  const code = text.charCodeAt(length - 1);
  return code >= 0xd800 && code <= 0xdbff ? length + 1 : length;
}

// Pass the emotion of a companion's message on to its faces on this page.
export function showEmotion({ emotion, intensity }) {
  document.dispatchEvent(new CustomEvent("kith:emotion", { detail: { emotion, intensity } }));
}
