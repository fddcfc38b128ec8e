// The text of an answer while it is made. A code block is shown as code from its first line on; any other block is
// sketched by this page, and shown as the server renders it once it is complete.
// What cannot be fetched stays as it was sketched until the whole answer comes.

import { submit } from "../request.js";
import { endOfCode, paintCode, showSketch } from "./sketch.js";
import { clone } from "./turns.js";

const FENCE = /^( {0,3})(`{3,}(?=[^`]*$)|~{3,})(.*)/;
const FORMULA = /^ {0,3}\$\$(?!.*\$\$)/; // one that goes on in the next lines
const ITEM = /^ {0,3}(?:[-*+]|\d{1,9}[.)])\s([^]*)/;
const MAY_BE_ITEM = /^(?:[-*+]|\d{1,9}[.)])(?:\s|$)|^\d{1,9}$/;
const SIGNS = /[*_`~|#>[\]\\$&=@]|:\/\/|^[ \t]*(?:[-+]|\d{1,9}[.)])\s|^ {4}|-{3}/m;
const MAX_TOGETHER = 15_000; // characters of complete blocks in one request
const PATIENCE_MS = 10_000;

export class Formatting {
  #done = ""; // the text of the complete blocks
  #block = null; // the last block, which is open
  #open = null; // its element
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
      if (!block.isOpen) {
        this.#done += block.text;
        this.#complete.push({ element: this.#open, ...block });
        this.#begin();
      }
    }
    this.#format();
  }

  #begin() {
    this.#open = clone("sketch-template");
    this.place.append(this.#open);
  }

  #paint() {
    const { text, isCode } = this.#block;
    if (isCode !== this.#open.matches("figure")) {
      const other = clone(isCode ? "code-template" : "sketch-template");
      this.#open.replaceWith(other);
      this.#open = other;
    }
    if (isCode) paintCode(this.#open, text);
    else showSketch(this.#open, text);
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
      const isEnd = next <= text.length && endOfCode(fence.sign).test(line);
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
