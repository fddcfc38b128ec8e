// The text of an answer while it is made. A code block is shown as code from its first line on; any other block that has
// Markdown is shown as the server renders it, once it is complete, and a list or a table about once a second before that;
// until then, emphasis and code within a line are shown by this script.
// What cannot be fetched stays as it was written until the whole answer comes.

import { submit } from "../request.js";
import { clone } from "./turns.js";

const FENCE = /^( {0,3})(`{3,}(?=[^`]*$)|~{3,})(.*)/;
const FENCE_END = /(?:^|\n) {0,3}(?:`+|~+)[ \t]*\n?$/;
const FORMULA = /^ {0,3}\$\$(?!.*\$\$)/; // one that goes on in the next lines
const ITEM = /^ {0,3}(?:[-*+]|\d{1,9}[.)])\s([^]*)/;
const MAY_BE_ITEM = /^(?:[-*+]|\d{1,9}[.)])(?:\s|$)|^\d{1,9}$/;
const SIGNS = /[*_`~|#>[\]\\$&=@]|:\/\/|^[ \t]*(?:[-+]|\d{1,9}[.)])\s|^ {4}|-{3}/m;
const IN_ROWS = /^(?: {0,3}(?:[-*+]|\d{1,9}[.)])\s|\|)/m; // a list or a table
// Code, bold text (also if its end is yet to come) and emphasis.
const INLINE = /`([^`\n]+)`|\*\*(?=[^\s*])([^*\n]+?)(?<=\S)\*\*|(?<![\w*])\*\*(?=[^\s*])([^*\n]+)$|(?<![\w*])\*(?=[^\s*])([^*\n]+?)(?<=\S)\*(?![\w*])/;
const TAGS = ["code", "strong", "strong", "em"]; // of its groups
const ROWS_PAUSE_MS = 1000;
const MAX_ROWS = 6000; // characters: all rows so far are rendered each time
const MAX_TOGETHER = 15_000; // characters of complete blocks in one request
const PATIENCE_MS = 10_000;

export class Formatting {
  #done = ""; // the text of the complete blocks
  #block = null; // the last block, which is open
  #open = null; // its element
  #rows = null; // of the last block: the text that the server has rendered, and the places for what follows it there
  #askedAt = 0;
  #isAsking = false;
  #later = 0;
  #complete = []; // blocks, with their elements, that are yet to be rendered
  #isFormatting = false;

  constructor(place, url) {
    Object.assign(this, { place, url });
  }

  show(received) {
    const text = received.replace(/\r\n?/g, "\n");
    if (!text.startsWith(this.#done) || !this.#open) {
      this.#done = "";
      this.#complete = [];
      this.place.replaceChildren();
      this.#begin();
    }
    for (const block of split(text.slice(this.#done.length))) {
      this.#block = block;
      this.#paint();
      if (block.isOpen) this.#askForRows();
      else {
        this.#done += block.text;
        this.#complete.push({ element: this.#open, ...block });
        this.#begin();
      }
    }
    this.#format();
  }

  #begin() {
    this.#open = clone("plain-template");
    this.#rows = null;
    this.place.append(this.#open);
  }

  #paint() {
    const { text, isCode } = this.#block;
    const isShownAsCode = this.#open.matches("figure");
    if (isCode !== isShownAsCode) this.#turnInto(clone(isCode ? "code-template" : "plain-template"));
    if (isCode) return paintCode(this.#open, text);
    if (!this.#rows) return write(this.#open, text);
    const rest = text.slice(this.#rows.text.length);
    const item = this.#rows.list && rest.match(ITEM);
    const isUnclear = rest.startsWith("|") || MAY_BE_ITEM.test(rest); // a row of a table comes whole
    write(this.#rows.item, item ? item[1] : "");
    return write(this.#rows.plain, item || isUnclear ? "" : rest);
  }

  #turnInto(element) {
    this.#open.replaceWith(element);
    this.#open = element;
  }

  // Have the complete blocks rendered. What is complete meanwhile goes together: after a reload that may be many.
  async #format() {
    if (this.#isFormatting) return;
    this.#isFormatting = true;
    while (this.#complete.length) {
      const blocks = this.#complete.splice(0, 1);
      let length = blocks[0].text.length;
      while (this.#complete.length && (length += this.#complete[0].text.length) <= MAX_TOGETHER) blocks.push(this.#complete.shift());
      if (blocks.every(({ text, isCode }) => isCode || !SIGNS.test(text))) continue;
      const nodes = await this.#render(blocks.map(({ text }) => text).join(""));
      if (!nodes) continue;
      blocks[0].element.before(...nodes);
      for (const { element } of blocks) element.remove();
    }
    this.#isFormatting = false;
  }

  async #askForRows() {
    const { text, isCode } = this.#block;
    const whole = text.slice(0, text.lastIndexOf("\n") + 1);
    const isNew = whole.trim() && whole !== this.#rows?.text && whole.length <= MAX_ROWS;
    if (isCode || !isNew || document.hidden || !IN_ROWS.test(whole)) return;
    if (this.#isAsking || performance.now() - this.#askedAt < ROWS_PAUSE_MS) {
      this.#later ||= setTimeout(() => this.#askAgain(), ROWS_PAUSE_MS);
      return;
    }
    const element = this.#open;
    this.#isAsking = true;
    this.#askedAt = performance.now();
    const nodes = await this.#render(whole);
    this.#isAsking = false;
    if (nodes && element === this.#open) this.#showRows(whole, nodes);
  }

  // Nothing more of the answer may have come meanwhile.
  #askAgain() {
    this.#later = 0;
    if (this.place.isConnected && this.#block.isOpen) this.#askForRows();
  }

  #showRows(text, nodes) {
    const list = nodes.at(-1)?.matches("ol, ul") ? nodes.at(-1) : null;
    const [item, plain] = [document.createElement("li"), clone("plain-template")];
    item.className = "words-plain";
    list?.append(item);
    this.#rows = { text, list, item, plain };
    this.#turnInto(document.createElement("div"));
    this.#open.className = "prose";
    this.#open.append(...nodes, plain);
    this.#paint();
  }

  async #render(text) {
    const body = new FormData();
    body.set("text", text);
    try {
      const response = await submit(this.url, body, AbortSignal.timeout(PATIENCE_MS));
      if (!response.ok || response.redirected) return null;
      const template = document.createElement("template");
      template.innerHTML = await response.text();
      return [...template.content.children];
    } catch {
      return null;
    }
  }
}

function write(element, text) {
  const parts = text.replace(/^\s*\n/, "").trimEnd().split(INLINE);
  const group = TAGS.length + 1;
  const nodes = parts.map((part, at) => (at % group ? part && emphasise(TAGS[(at % group) - 1], part) : part));
  element.replaceChildren(...nodes.filter(Boolean));
  element.hidden = !element.textContent;
}

function emphasise(tag, text) {
  const element = document.createElement(tag);
  element.textContent = text;
  return element;
}

function paintCode(figure, text) {
  const [, language, rest] = text.match(/^\s*(?:`{3,}|~{3,})([^\n]*)\n?([^]*)/);
  const [name] = language.trim().split(/\s+/);
  const pre = figure.querySelector("pre");
  figure.querySelector("figcaption span").textContent = name;
  pre.ariaLabel = [figure.dataset.label, name].filter(Boolean).join(" ");
  const isAtEnd = pre.scrollHeight - pre.scrollTop - pre.clientHeight < 1;
  pre.firstElementChild.textContent = rest.replace(FENCE_END, "");
  if (isAtEnd) pre.scrollTop = pre.scrollHeight;
}

// Return the blocks of the Markdown; the last one is open, and none is cut within what belongs together.
function split(text) {
  const blocks = [];
  let [start, at] = [0, 0];
  let fence = null;
  let isFormula = false;
  let [hasBegun, isList, isAfterBlank] = [false, false, false];
  const end = (until, isCode) => {
    blocks.push({ text: text.slice(start, until), isCode, isOpen: false });
    start = until;
    hasBegun = isAfterBlank = false;
  };
  for (const line of text.split("\n")) {
    const next = at + line.length + 1;
    const opens = fence ? null : line.match(FENCE);
    if (fence) {
      const isEnd = next <= text.length && new RegExp(`^ {0,3}\\${fence.sign[0]}{${fence.sign.length},}[ \\t]*$`).test(line);
      if (isEnd && fence.isApart) end(next, true);
      if (isEnd) fence = null;
    } else if (isFormula) isFormula = !line.includes("$$");
    else if (!line.trim()) isAfterBlank = true;
    else {
      const isApart = opens !== null && !opens[1];
      const goesOn = isList ? /^\s/.test(line) || MAY_BE_ITEM.test(line) : /^(?: {4}|\t)/.test(line);
      const begins = isAfterBlank && !goesOn;
      if (hasBegun && (isApart || begins)) end(at, false);
      if (!hasBegun) isList = ITEM.test(line);
      isFormula = FORMULA.test(line);
      if (opens) fence = { sign: opens[2], isApart };
      hasBegun = true;
      isAfterBlank = false;
    }
    at = next;
  }
  blocks.push({ text: text.slice(start), isCode: Boolean(fence?.isApart), isOpen: true });
  return blocks;
}
