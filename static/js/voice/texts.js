// The texts of replies, assembled from frames; missing pieces are requested again.

const ENDINGS = ["reply.done", "reply.stopped", "reply.interrupted", "reply.failed"];

export class Texts {
  #open = new Map();

  constructor(ask) {
    this.ask = ask; // sends a frame
  }

  // Process a frame; return the text so far of its reply, or null if the frame adds nothing to it.
  take(frame) {
    if (frame.type === "reply.started") {
      const one = this.#open.get(frame.id);
      if (!one || frame.after >= one.seq) this.#open.set(frame.id, { text: frame.text, seq: frame.after });
      return this.#open.get(frame.id).text;
    }
    if (frame.type === "reply.piece" || frame.type === "reply.thought") return this.#piece(frame);
    if (!ENDINGS.includes(frame.type)) return null;
    this.#open.delete(frame.id);
    return frame.message?.text ?? null;
  }

  resumeAll() {
    for (const [id, { seq }] of this.#open) this.ask({ type: "reply.resume", id, after: seq });
  }

  expect(id) {
    if (!this.#open.has(id)) this.#open.set(id, { text: "", seq: 0 });
  }

  #piece({ type, id, seq, text }) {
    const one = this.#open.get(id);
    if (!one || seq <= one.seq) return null;
    if (seq > one.seq + 1) {
      this.ask({ type: "reply.resume", id, after: one.seq });
      return null;
    }
    one.seq = seq;
    if (type === "reply.piece") one.text += text;
    return one.text;
  }
}
