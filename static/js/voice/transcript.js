// The transcript of a call, shown live: of the companion's replies only what has been heard.

export class Transcript {
  #replies = new Map();

  constructor(place, names) {
    this.place = place;
    this.names = names; // {person, companion}
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

  notice(text) {
    this.#line("notice", text);
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
    one.line.querySelector(".call-words").textContent = shown;
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
