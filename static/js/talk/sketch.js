// A sketch of the Markdown that is still being written, drawn so that little moves once the server has rendered it:
// paragraphs, headings, quotations, lists, tables and code; within a line emphasis, code and links.

import { clone } from "./turns.js";

const HEADING = /^ {0,3}(#{1,6})[ \t]+(.*)$/;
const HEADING_END = /(?:^|(?<!\s)\s+)#+$/;
const RULE = /^ {0,3}([-*_])(?:[ \t]*\1){2,}[ \t]*$/;
const FENCE = /^ {0,3}(`{3,}(?=[^`]*$)|~{3,})/;
const FENCE_END = /(?:^|\n) {0,3}(?:`+|~+)[ \t]*\n?$/;
const QUOTE = /^ {0,3}>[ \t]?/;
const ITEM = /^( {0,3}(?:[-*+]|(\d{1,9})[.)]))(?:([ \t]+)(.*)|$)/;
const TASK = /^\[([ xX])\](?=\s)/;
const ROW = /^ {0,3}\|/;
const BELOW_HEAD = /^[ \t|:-]*$/; // the second line of a table
const BLOCKS = [
  [/^[ \t]*$/, (lines) => void lines.shift()],
  [HEADING, readHeading],
  [RULE, (lines) => lines.shift() && make("hr")],
  [FENCE, readCode],
  [QUOTE, readQuotation],
  [ITEM, readList],
  [ROW, readTable],
  [/^/, readParagraph],
];
const INTERRUPTING = [HEADING, RULE, FENCE, QUOTE, ROW, /^ {0,3}(?:[-*+]|1[.)])[ \t]+\S/];
const UNCLEAR = /(?:(?<=^|\n)[ \t>]{0,20}(?:[-*+#>|`~]{1,6}|\d{1,9}[.)]?)?[ \t]{0,20}|(?<=\s)[*~`]{1,3})$/; // it may become anything
// Code, bold, deleted and emphasised text, whose ends may be yet to come, and the words of a link.
const INLINE =
  /`([^`\n]+)(?:`|$)|\*\*(?=[^\s*])((?:[^*\n]|\*(?!\*))+?)(?:(?<=\S)\*\*|\*?$)|~~(?=\S)([^~\n]+?)(?:~~|~?$)|(?<![\w*])\*(?=[^\s*])([^*\n]+?)(?:(?<=\S)\*(?![\w*])|$)|\[([^[\]\n]+)\]\([^()\s]*(?:\)|$)/;
const TAGS = ["code", "strong", "s", "em", "a"]; // of its groups
const MAX_CELLS = 5000; // of a table, which is drawn anew with each piece
const MAX_BLOCK = 20_000; // characters, as on the server; a longer one stays as it was written, too
const MAX_DEPTH = 8; // of quotations and lists in each other; what is deeper stays as it was written

export function showSketch(element, text) {
  const fresh = make("div", text.length > MAX_BLOCK ? [make("p", [text])] : readBlocks(text.replace(UNCLEAR, "").split("\n")));
  change(element, fresh);
  element.hidden = !element.hasChildNodes();
}

export function paintCode(figure, text) {
  const [, language, rest] = text.match(/^\s*(?:`{3,}|~{3,})([^\n]*)\n?([^]*)/);
  const [name] = language.trim().split(/\s+/);
  const pre = figure.querySelector("pre");
  figure.querySelector("figcaption span").textContent = name;
  pre.ariaLabel = [figure.dataset.label, name].filter(Boolean).join(" ");
  const isAtEnd = pre.scrollHeight - pre.scrollTop - pre.clientHeight < 1;
  pre.firstElementChild.textContent = rest.replace(FENCE_END, "");
  if (isAtEnd) pre.scrollTop = pre.scrollHeight;
}

// Return the elements of the lines, which are used up.
function readBlocks(lines, depth = 0) {
  const nodes = [];
  while (lines.length) {
    const [, read] = depth > MAX_DEPTH ? BLOCKS.at(-1) : BLOCKS.find(([begins]) => begins.test(lines[0]));
    nodes.push(read(lines, depth));
  }
  return nodes.filter(Boolean);
}

// Take the first line and those after it for which `goesOn` is true of the line and the one before it.
function take(lines, goesOn) {
  const taken = [lines.shift()];
  while (lines.length && goesOn(lines[0], taken.at(-1))) taken.push(lines.shift());
  return taken;
}

function readHeading(lines) {
  const [, signs, words] = lines.shift().match(HEADING);
  return make(`h${Math.min(signs.length + 2, 6)}`, readInline(words.trimEnd().replace(HEADING_END, "")));
}

function readCode(lines) {
  const [, signs] = lines[0].match(FENCE);
  const end = endOfCode(signs);
  let isOpen = true;
  const code = take(lines, (line) => {
    const wasOpen = isOpen;
    isOpen &&= !end.test(line);
    return wasOpen;
  });
  const figure = clone("code-template");
  paintCode(figure, code.join("\n"));
  return figure;
}

// Return the pattern of the line that ends a code block which these signs have begun.
export function endOfCode(signs) {
  return new RegExp(`^ {0,3}\\${signs[0]}{${signs.length},}[ \\t]*$`);
}

function readQuotation(lines, depth) {
  const quoted = take(lines, (line) => QUOTE.test(line) || (line.trim() && !isInterrupting(line)));
  return make("blockquote", readBlocks(quoted.map((line) => line.replace(QUOTE, "")), depth + 1));
}

function readList(lines, depth) {
  const [, sign, number] = lines[0].match(ITEM);
  const list = make(number ? "ol" : "ul");
  if (number && number !== "1") list.start = number;
  let isLoose = false;
  const next = () => {
    const item = lines[0]?.match(ITEM);
    return item?.[1].at(-1) === sign.at(-1) ? item : null;
  };
  for (let item; (item = next()); ) {
    const width = item[1].length + (item[3]?.length < 5 ? item[3].length : 1);
    const indent = " ".repeat(width);
    const own = take(lines, (line, before) => !line.trim() || line.startsWith(indent) || (before.trim() && !isInterrupting(line) && !ITEM.test(line)));
    const blank = own.findIndex((line) => !line.trim());
    isLoose ||= blank >= 0 && (next() !== null || own.slice(blank).some((line) => line.trim()));
    const inner = own.slice(1).map((line) => (line.startsWith(indent) ? line.slice(width) : line.trim()));
    const words = (item[4] ?? "").replace(TASK, (_, mark) => (mark === " " ? "☐" : "☑"));
    const element = make("li", readBlocks([words, ...inner], depth + 1));
    if (TASK.test(item[4])) element.className = "task";
    list.append(element);
  }
  if (!isLoose) for (const words of list.querySelectorAll(":scope > li > p")) words.replaceWith(...words.childNodes);
  return list;
}

function readTable(lines) {
  const rows = take(lines, (line) => line.trim());
  if (rows.length > 1 && !BELOW_HEAD.test(rows[1])) return make("p", readInline(rows.join("\n")));
  const head = cells(rows[0]);
  if (rows.length * head.length > MAX_CELLS) return make("p", readInline(rows.join("\n")));
  const below = rows.length > 2 ? cells(rows[1]) : []; // before that it is not complete
  const sides = below.map((cell) => (cell.endsWith(":") ? (cell.startsWith(":") ? "center" : "right") : ""));
  const row = (tag, words) =>
    make("tr", head.map((_, at) => {
      const cell = make(tag, readInline(words[at] ?? ""));
      if (sides[at]) cell.align = sides[at];
      return cell;
    }));
  const table = make("table", [make("thead", [row("th", head)]), make("tbody", rows.slice(2).map((line) => row("td", cells(line))))]);
  table.tabIndex = 0;
  return table;
}

function cells(line) {
  return line.trim().replace(/^\||(?<!\\)\|$/g, "").split(/(?<!\\)\|/).map((cell) => cell.trim());
}

function readParagraph(lines) {
  return make("p", readInline(take(lines, (line) => line.trim() && !isInterrupting(line)).map((line) => line.trim()).join("\n")));
}

function isInterrupting(line) {
  return INTERRUPTING.some((begins) => begins.test(line));
}

// Return the nodes of the text. No kind of emphasis holds another of its own kind, so none goes deep.
function readInline(text) {
  const group = TAGS.length + 1;
  return text.split(INLINE).flatMap((part, at) => {
    if (!part) return [];
    const tag = TAGS[(at % group) - 1];
    if (tag) return [make(tag, tag === "code" ? [part] : readInline(part))];
    return part.split("\n").flatMap((line, number) => (number ? [make("br"), line] : [line])).filter((node) => node !== "");
  });
}

function make(tag, children = []) {
  const element = document.createElement(tag);
  element.append(...children);
  return element;
}

// Change the children into those of the other element. What is as it should be stays, with what is selected or scrolled.
function change(element, fresh) {
  const [old, wanted] = [[...element.childNodes], [...fresh.childNodes]];
  wanted.forEach((node, at) => {
    const before = old[at];
    if (before?.nodeName !== node.nodeName) return before ? before.replaceWith(node) : element.append(node);
    if (node.nodeType === Node.TEXT_NODE) return void (before.data === node.data || (before.data = node.data));
    for (const { name, value } of node.attributes) before.setAttribute(name, value);
    return change(before, node);
  });
  old.slice(wanted.length).forEach((node) => node.remove());
}
