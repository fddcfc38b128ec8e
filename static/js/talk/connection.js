// A WebSocket to Kith that reconnects with growing pauses whenever it is closed.

const SOONEST_MS = 400;
const LATEST_MS = 15000;
const STEADY_MS = 3000;
const OPENING_MS = 15000; // a line that leads nowhere says nothing
export const CHECK_MS = 5000; // how often Kith is asked for a sign
const MOST_UNANSWERED = 2; // after which the line leads nowhere: it would not say so for many minutes
const NORMAL = 1000;
const SIGNED_OUT = 4401;
const GONE = 4404;
const IDLE = 4408;
const TOO_FAST = 4429;

export class Connection extends EventTarget {
  #socket = null;
  #tries = 0;
  #timer = 0;
  #unanswered = 0; // checks since the last frame

  constructor(path) {
    super();
    const scheme = location.protocol === "https:" ? "wss" : "ws";
    this.url = `${scheme}://${location.host}${path}`;
    addEventListener("online", () => this.open());
    addEventListener("offline", () => this.renew());
    addEventListener("pageshow", (event) => event.persisted && this.open());
    document.addEventListener("visibilitychange", () => document.hidden || this.open());
  }

  get isOpen() {
    return this.#socket?.readyState === WebSocket.OPEN;
  }

  open() {
    if (this.isOver || (this.#socket && this.#socket.readyState <= WebSocket.OPEN)) return;
    clearTimeout(this.#timer);
    const socket = (this.#socket = new WebSocket(this.url));
    let steady = 0;
    const opening = setTimeout(() => socket.close(), OPENING_MS);
    socket.onopen = () => {
      clearTimeout(opening);
      this.#unanswered = 0;
      steady = setTimeout(() => (this.#tries = 0), STEADY_MS);
      this.#tell("up");
    };
    socket.onmessage = (event) => {
      if (socket !== this.#socket) return;
      this.#unanswered = 0;
      this.#tell("frame", JSON.parse(event.data));
    };
    socket.onclose = (event) => {
      clearTimeout(opening);
      clearTimeout(steady);
      if (socket === this.#socket) this.#fell(event.code);
    };
  }

  // Send the frame, and the bytes that belong to it; return whether the socket was open.
  send(frame, bytes = null) {
    if (this.isOpen) {
      this.#socket.send(JSON.stringify(frame));
      if (bytes) this.#socket.send(bytes);
    } else this.open();
    return this.isOpen;
  }

  // Ask by the frame, which Kith answers at once, whether the line still leads there; connect anew if MOST_UNANSWERED
  // checks, and `more` for what is still on its way, went without an answer.
  check(frame, more = 0) {
    if (!this.isOpen) return;
    if (this.#unanswered >= MOST_UNANSWERED + more) return this.renew();
    this.#unanswered += 1;
    this.send(frame);
  }

  // Drop a socket that leads nowhere, without waiting for a farewell that cannot come, and connect anew.
  renew() {
    if (!this.isOpen) return;
    const socket = this.#socket;
    this.#socket = null;
    socket.close();
    this.#fell();
  }

  // Close the connection for good, without reconnecting.
  close() {
    this.isOver = true;
    clearTimeout(this.#timer);
    this.#socket?.close(NORMAL);
  }

  #fell(code) {
    this.isOver ||= code === SIGNED_OUT || code === GONE;
    const reason = { [SIGNED_OUT]: "signed_out", [GONE]: "gone", [TOO_FAST]: "too_fast" }[code] ?? "reconnecting";
    this.#tell("down", code === IDLE ? "idle" : reason);
    if (this.isOver || code === IDLE) return;
    const pause = Math.min(LATEST_MS, SOONEST_MS * 2 ** this.#tries) * (code === TOO_FAST ? 10 : 1);
    this.#tries += 1;
    this.#timer = setTimeout(() => this.open(), pause * (0.5 + Math.random() / 2));
  }

  #tell(name, detail) {
    this.dispatchEvent(new CustomEvent(name, { detail }));
  }
}
