// The composer: it grows with the text, saves the draft, and sends on Enter on devices with a mouse, on Ctrl or ⌘ +
// Enter everywhere.

import { isComposing } from "../composing.js";
import { keep, kept } from "../storage.js";

export class Composer {
  // `standsFor` returns the text to send if nothing is written, `isHeld` whether nothing can be sent yet; `onCut` is
  // called if a pasted text is longer than a message can be.
  constructor(companion, onSend, { standsFor = () => "", isHeld = () => false, onCut = () => {} } = {}) {
    Object.assign(this, { standsFor, isHeld, onCut });
    this.form = document.getElementById("composer");
    this.area = document.getElementById("message");
    this.name = `kith.draft.${companion}`;
    this.onSend = onSend;
    this.sendsOnEnter = matchMedia("(hover: hover) and (pointer: fine)").matches;
    if (this.sendsOnEnter) this.area.enterKeyHint = "send";
    this.area.value ||= kept(this.name) ?? ""; // what was typed before this script came stays
    this.#takeShared();
    this.#changed();
    this.area.addEventListener("input", () => this.#changed());
    this.area.addEventListener("keydown", (event) => this.#key(event));
    this.area.addEventListener("paste", (event) => this.#paste(event));
    this.form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.send();
    });
    document.getElementById("send").disabled = false;
  }

  send() {
    const text = this.area.value.trim() || this.standsFor();
    if (!text || this.isHeld()) return;
    this.put("");
    this.onSend(text);
  }

  // Set the text without focusing the field, which would open a phone's keyboard.
  fill(text) {
    this.area.value = text;
    this.#changed();
  }

  put(text) {
    this.fill(text);
    if (this.sendsOnEnter || text) this.area.focus();
  }

  get isEmpty() {
    return !this.area.value.trim();
  }

  // Take over a text shared by another app. It comes in the address's fragment, which never reaches servers and logs.
  #takeShared() {
    if (!location.hash.startsWith("#draft=")) return;
    const shared = new URLSearchParams(location.hash.slice(1)).get("draft");
    this.area.value = [this.area.value, shared].filter(Boolean).join("\n");
    history.replaceState(history.state, "", location.pathname + location.search);
  }

  #key(event) {
    const isSending = this.sendsOnEnter || event.ctrlKey || event.metaKey;
    if (event.key !== "Enter" || event.shiftKey || isComposing(event) || !isSending) return;
    event.preventDefault();
    this.send();
  }

  #paste({ clipboardData }) {
    const { value, selectionStart, selectionEnd, maxLength } = this.area;
    const room = maxLength - value.length + selectionEnd - selectionStart;
    if (clipboardData?.getData("text/plain").length > room) this.onCut();
  }

  #changed() {
    keep(this.name, this.area.value || null);
    if (CSS.supports("field-sizing", "content")) return;
    this.area.style.height = "auto";
    this.area.style.height = `${this.area.scrollHeight}px`;
  }
}
