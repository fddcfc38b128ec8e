// The microphone of a call: it reports when somebody begins to speak, and gives the utterance once they have ended.

import { Activity, FRAME_SECONDS, LONGEST_SECONDS, loudness } from "./activity.js";
import { wav } from "./wav.js";

const RATE = 16000;
const BEFORE_FRAMES = 25; // half a second: a voice is noticed a little after it has begun
const AFTER_FRAMES = 12; // of the silence that told its end
const QUIETEST_DB = -60;
const WANTED = { echoCancellation: true, noiseSuppression: true, autoGainControl: true, channelCount: 1 };

// Events: begins; ends {sound, seconds} with the utterance as a WAV file; dropped, if it was muted while somebody
// spoke; level {level}, 0 to 1; lost {name: the error's}, if the device was removed and there is no other.
export class Microphone extends EventTarget {
  isRaised = false;
  #drawing = null;
  #source = null;
  #stream = null;
  #isOver = false;
  #activity = new Activity();
  #frames = [];
  #isMuted = false;

  constructor(worklet) {
    super();
    this.worklet = worklet;
  }

  // Open the microphone. Rejects if there is none or the person denies access.
  async open(context) {
    await context.audioWorklet.addModule(this.worklet);
    this.#drawing = new AudioWorkletNode(context, "kith-drawing", { numberOfOutputs: 0 });
    this.#drawing.port.onmessage = ({ data }) => this.#hear(data);
    await this.#take();
  }

  // Listen to the microphone that the browser gives; once that is gone, as with headphones, to the next.
  async #take() {
    this.#source?.disconnect();
    this.#stream = await navigator.mediaDevices.getUserMedia({ audio: WANTED });
    if (this.#isOver) return this.close();
    this.#source = this.#drawing.context.createMediaStreamSource(this.#stream);
    this.#source.connect(this.#drawing);
    for (const track of this.#stream.getTracks()) {
      track.enabled = !this.#isMuted;
      track.onended = () => this.#take().catch(({ name }) => this.#tell("lost", { name }));
    }
    return undefined;
  }

  close() {
    this.#isOver = true;
    for (const track of this.#stream?.getTracks() ?? []) {
      track.onended = null;
      track.stop();
    }
    this.#stream = null;
  }

  // Give an utterance in progress as far as it was said, as on hanging up right after a goodbye.
  finish() {
    if (this.#activity.isVoice && this.#frames.length) this.#give();
    this.#activity = new Activity();
  }

  get isMuted() {
    return this.#isMuted;
  }

  // Mute or unmute. An utterance in progress is discarded.
  set isMuted(isMuted) {
    this.#isMuted = isMuted;
    for (const track of this.#stream?.getTracks() ?? []) track.enabled = !isMuted;
    if (this.#activity.isVoice) this.#tell("dropped");
    this.#activity = new Activity();
    this.#frames = [];
    this.#tell("level", { level: 0 });
  }

  #hear(frame) {
    if (this.#isMuted || !this.#stream) return;
    this.#frames.push(frame);
    const happened = this.#activity.hear(frame, this.isRaised);
    this.#tell("level", { level: Math.min(Math.max((loudness(frame) - QUIETEST_DB) / -QUIETEST_DB, 0), 1) });
    if (happened === "begins") this.#tell("begins");
    if (happened === "ends") this.#give();
    else if (!this.#activity.isVoice && this.#frames.length > BEFORE_FRAMES) this.#frames.shift();
  }

  #give() {
    const most = LONGEST_SECONDS / FRAME_SECONDS;
    const quiet = Math.max(this.#activity.quiet - AFTER_FRAMES, 0);
    const frames = this.#frames.slice(0, Math.min(this.#frames.length - quiet, most));
    this.#frames = [];
    const samples = new Float32Array(frames.length * frames[0].length);
    frames.forEach((frame, n) => samples.set(frame, n * frame.length));
    this.#tell("ends", { sound: wav(samples, RATE), seconds: samples.length / RATE });
  }

  #tell(name, detail = {}) {
    this.dispatchEvent(new CustomEvent(name, { detail }));
  }
}
