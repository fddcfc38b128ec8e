// The transcript of a call, shown live: of the companion's replies only what has been heard, without Markdown's signs.

// What is removed in turn, or what is put in its place. A sentence may end within bold text, so its signs need no pair.
const SIGNS = [
  [/^[ \t]*(?:`{3}[^`\n]*|~{3}.*)$\n?/gm, ""], // code fences
  [/^(?:[ \t]*(?:[-*_][ \t]*){3,}|(?=[ \t:|-]{3,}$)[ \t:|]*-.*)$\n?/gm, ""], // rules, also below a table's head
  [/^[ \t]*(?:#{1,6}[ \t]+|(?:>[ \t]?)+|[-*+][ \t]+)/gm, ""],
  [/^[ \t]*\|(.+)\|[ \t]*$/gm, (_row, cells) => cells.replaceAll("|", " ")],
  [/!?\[([^[\]\n]*)\]\([^()\s]*\)/g, "$1"], // links
  [/(`+)([^`\n]+)\1/g, "$2"],
  [/~~(?=\S)([^~\n]+)~~/g, "$1"],
  [/(?<!\d)\*\*(?=\S)|(?<=\S)\*\*(?!\d)/g, ""],
  [/(?<![\p{L}\p{N}_])__(?=\S)([^_\n]+)__(?![\p{L}\p{N}_])/gu, "$1"],
  [/(?<![\p{L}\p{N}_])_(?=\S)([^_\n]+)(?<=\S)_(?![\p{L}\p{N}_])/gu, "*$1*"],
];
const EMPHASIS = /(?<!\*)\*(?=\S)([^*\n]+)(?<=\S)\*/; // emphasised words, or what the companion does while it speaks

export class Transcript {
  #replies = new Map();

  constructor(place, names) {
    this.place = place;
    this.names = names; // {person, companion}
    new ResizeObserver(() => this.#follow()).observe(place); // what is said of the call's end takes room from it
  }

  person(id, text) {
    if (this.place.querySelector(`[data-message="${CSS.escape(id)}"]`)) return;
    this.#line("person", text).dataset.message = id;
  }

  // Set the text of a reply so far; it is shown only as far as it was heard.
  knows(reply, text) {
    this.#of(reply).text = text;
    this.#show(reply);
  }

  hears(reply, until) {
    this.#of(reply).until = Math.max(until, this.#of(reply).until);
    this.#show(reply);
  }

  // Show exactly this text of a reply, and no more; an empty one removes its line.
  is(reply, text) {
    const one = this.#of(reply);
    Object.assign(one, { text, until: Infinity });
    this.#show(reply);
    if (!text) one.line?.remove();
  }

  textOf(reply) {
    return this.#of(reply).text;
  }

  #of(reply) {
    if (!this.#replies.has(reply)) this.#replies.set(reply, { text: "", until: 0, line: null });
    return this.#replies.get(reply);
  }

  #show(reply) {
    const one = this.#of(reply);
    const shown = one.until === Infinity ? one.text : [...one.text].slice(0, one.until).join("");
    if (!shown) return;
    one.line ??= this.#line("companion", "");
    one.line.querySelector(".call-words").replaceChildren(...render(shown));
    this.#follow();
  }

  #line(by, text) {
    const line = document.createElement("li");
    line.className = `call-line call-line-${by}`;
    if (this.names[by]) {
      const who = document.createElement("span");
      who.className = "unseen";
      who.textContent = `${this.names[by]}: `;
      line.append(who);
    }
    const words = document.createElement("span");
    words.className = "call-words";
    words.dir = "auto";
    words.textContent = text;
    line.append(words);
    this.place.append(line);
    this.#follow();
    return line;
  }

  #follow() {
    this.place.scrollTop = this.place.scrollHeight;
  }
}

// Return the nodes that show Markdown as it is heard: its words, of which those between single asterisks are emphasised.
function render(markdown) {
  const text = SIGNS.reduce((rest, [signs, words]) => rest.replace(signs, words), markdown);
  return text.split(EMPHASIS).map((words, at) => {
    if (at % 2 === 0) return words;
    const emphasised = document.createElement("em");
    emphasised.textContent = words;
    return emphasised;
  });
}
