// Files attached in the composer: uploaded at once, with their progress, and sent with the next message.

import { headers, post } from "../request.js";
import { keep, kept } from "../storage.js";
import { clone } from "./turns.js";

export class Attachments {
  #items = []; // {id, name, url, isText, element}; without an id it is under way, or has failed

  // `onReady` is called once no file is in the way of sending any more.
  constructor(companion, words, onReady) {
    Object.assign(this, { words, onReady });
    this.name = `kith.attached.${companion}`;
    this.all = document.getElementById("attached-all");
    this.list = document.getElementById("attached");
    const input = document.getElementById("files");
    input.addEventListener("change", () => {
      this.add(input.files);
      input.value = "";
    });
    this.attach(JSON.parse(kept(this.name) ?? "[]"));
    this.#listen();
  }

  // Add files that are pasted or dropped anywhere on the page; pasted and dropped text is left to the browser.
  #listen() {
    const mark = (isOver) => document.getElementById("composer").classList.toggle("is-dropping", isOver);
    document.addEventListener("paste", (event) => {
      if (!event.clipboardData?.files.length || document.querySelector("dialog[open]")) return;
      event.preventDefault();
      this.add(event.clipboardData.files);
    });
    document.addEventListener("dragover", (event) => {
      if (!event.dataTransfer?.types.includes("Files")) return;
      event.preventDefault();
      mark(true);
    });
    document.addEventListener("dragleave", (event) => event.relatedTarget || mark(false));
    document.addEventListener("drop", (event) => {
      mark(false);
      if (!event.dataTransfer?.files.length) return;
      event.preventDefault();
      this.add(event.dataTransfer.files);
    });
  }

  // The text of a message that consists of files alone.
  get names() {
    return this.#items.map(({ name }) => name).join(", ");
  }

  get isEmpty() {
    return !this.#items.length;
  }

  // The reason why the message cannot be sent now, or null if it can.
  get obstacle() {
    if (this.#items.every(({ id }) => id)) return null;
    return this.#items.some((item) => item.hasFailed) ? this.words.attached_failed : this.words.attached_under_way;
  }

  add(files) {
    for (const file of files) this.#upload(this.#show({ name: file.name, file }));
  }

  // Attach files that have been uploaded before.
  attach(files) {
    for (const file of files) this.#arrived(this.#show(file), file);
  }

  // Return the attached files for the message that is being sent, and clear them here.
  take() {
    const taken = this.#items.map(toKeep);
    this.#items = [];
    this.list.replaceChildren();
    this.#keep();
    return taken;
  }

  #show(item) {
    item.element = clone("attached-template");
    item.element.querySelector(".attached-name").textContent = item.name;
    item.element.querySelector(".unseen").textContent = ` · ${item.name}`;
    item.element.querySelector("[data-removes]").addEventListener("click", () => this.#remove(item));
    item.element.querySelector("[data-again]").addEventListener("click", () => this.#upload(item));
    this.#items.push(item);
    this.list.append(item.element);
    this.all.hidden = false;
    return item;
  }

  #upload(item) {
    const [progress, why, again] = ["progress", ".attached-why", "[data-again]"].map((part) => item.element.querySelector(part));
    item.hasFailed = false;
    why.hidden = again.hidden = true;
    progress.hidden = false;
    const body = new FormData();
    body.append("file", item.file);
    const request = (item.request = new XMLHttpRequest()); // fetch does not tell how far it is
    request.open("POST", this.all.dataset.url);
    for (const [name, value] of Object.entries(headers())) request.setRequestHeader(name, value);
    request.upload.onprogress = ({ loaded, total }) => (progress.value = loaded / total);
    request.onloadend = () => {
      const told = read(request.responseText);
      if (request.status === 201) return this.#arrived(item, { ...told, isText: told.file_id === null });
      item.hasFailed = true;
      progress.hidden = true;
      why.hidden = false;
      why.textContent = told.detail ?? this.words.attached_lost;
      again.hidden = [413, 422].includes(request.status); // the same file would fail in the same way
      item.element.scrollIntoView({ block: "nearest" }); // the list may be longer than its place
      return undefined;
    };
    request.send(body);
  }

  #arrived(item, { id, name, url, isText }) {
    Object.assign(item, { id, name, url, isText, file: null });
    item.element.querySelector("progress").hidden = true;
    const image = item.element.querySelector("img");
    if (!isText) image.src = url;
    image.hidden = isText;
    this.#keep();
  }

  #remove(item) {
    item.request?.abort();
    if (item.id) post(`${this.all.dataset.url}../${item.id}/delete/`).catch(() => {}); // or what is unsent goes in a day
    this.#items = this.#items.filter((other) => other !== item);
    item.element.remove();
    this.#keep();
    document.getElementById("message").focus();
  }

  #keep() {
    const here = this.#items.filter(({ id }) => id).map(toKeep);
    keep(this.name, here.length ? JSON.stringify(here) : null);
    this.all.hidden = this.isEmpty;
    if (!this.obstacle) this.onReady();
  }
}

const toKeep = ({ id, name, url, isText }) => ({ id, name, url, isText });

function read(text) {
  try {
    return JSON.parse(text);
  } catch {
    return {};
  }
}
