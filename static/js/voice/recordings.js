// Recordings of the microphone: made here, and kept by the server, which transcribes, sends and deletes them.

import { submit } from "../request.js";

const KINDS = ["audio/webm;codecs=opus", "audio/mp4", "audio/ogg;codecs=opus"];
const LEVEL_MS = 80;

// Events: level {level, seconds} while it records, level from 0 to 1, and over when `mostSeconds` are
// reached or the microphone is gone.
export class Recorder extends EventTarget {
  #parts = [];
  #timer = 0;

  constructor(mostSeconds) {
    super();
    this.mostSeconds = mostSeconds;
  }

  static get isOffered() {
    return Boolean(navigator.mediaDevices?.getUserMedia && window.MediaRecorder);
  }

  // Start recording. Throws what getUserMedia throws.
  async start() {
    const wanted = { echoCancellation: true, noiseSuppression: true, autoGainControl: true };
    this.stream = await navigator.mediaDevices.getUserMedia({ audio: wanted });
    const mimeType = KINDS.find((kind) => MediaRecorder.isTypeSupported(kind));
    this.recorder = new MediaRecorder(this.stream, mimeType ? { mimeType, audioBitsPerSecond: 48000 } : {});
    this.recorder.ondataavailable = ({ data }) => data.size && this.#parts.push(data);
    this.recorder.onstop = () => this.#over();
    this.recorder.start(1000); // a part a second: a page that breaks has most of it
    this.startedAt = performance.now();
    this.#watch();
  }

  // Stop and resolve with the whole recording as a Blob.
  stop() {
    return new Promise((done) => {
      this.recorder.onstop = () => done(new Blob(this.#parts, { type: this.recorder.mimeType }));
      if (this.recorder.state === "inactive") this.recorder.onstop();
      else this.recorder.stop();
      this.#close();
    });
  }

  cancel() {
    if (this.recorder) this.recorder.onstop = null;
    if (this.recorder?.state === "recording") this.recorder.stop();
    this.#close();
  }

  get seconds() {
    return (performance.now() - this.startedAt) / 1000;
  }

  #watch() {
    this.context = new AudioContext();
    const analyser = this.context.createAnalyser();
    analyser.fftSize = 1024;
    this.context.createMediaStreamSource(this.stream).connect(analyser);
    const samples = new Float32Array(analyser.fftSize);
    this.#timer = setInterval(() => {
      analyser.getFloatTimeDomainData(samples);
      const power = samples.reduce((sum, one) => sum + one * one, 0) / samples.length;
      const level = Math.min(1, Math.sqrt(power) * 4);
      this.dispatchEvent(new CustomEvent("level", { detail: { level, seconds: this.seconds } }));
      if (this.seconds >= this.mostSeconds) this.#over();
    }, LEVEL_MS);
  }

  #over() {
    this.dispatchEvent(new CustomEvent("over"));
  }

  #close() {
    clearInterval(this.#timer);
    this.context?.close();
    this.context = null;
    for (const track of this.stream?.getTracks() ?? []) track.stop();
  }
}

// -- at the server --

function send(url, fields = {}, signal = null) {
  const body = new FormData();
  for (const [name, value] of Object.entries(fields)) for (const one of [value].flat()) body.append(name, one);
  return submit(url, body, signal);
}

// Resolve with the response's JSON and status, or {status: 0} if the server could not be reached.
async function told(asking) {
  try {
    const response = await asking;
    const isJson = response.headers.get("content-type")?.includes("json");
    return { ...(isJson ? await response.json() : {}), status: response.status };
  } catch {
    return { status: 0 };
  }
}

export class Recordings {
  constructor(url) {
    this.url = url;
  }

  add(blob, language, signal) {
    return told(send(this.url, { file: new File([blob], "recording", { type: blob.type }), language }, signal));
  }

  hearAgain(id, language, signal) {
    return told(send(`${this.url}${id}/transcribe/`, { language }, signal));
  }

  send(id, text, clientId, { quoted = "", attachments = [] }, signal) {
    return told(send(`${this.url}${id}/send/`, { text, client_id: clientId, quoted, attachments }, signal));
  }

  drop(id) {
    return told(send(`${this.url}${id}/delete/`));
  }
}
