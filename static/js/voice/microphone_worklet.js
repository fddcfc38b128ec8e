// Runs in the audio thread: resamples the microphone's sound to 16 kHz and posts it in frames of 20 ms.

const RATE = 16000;
const FRAME = RATE / 50;

class Drawing extends AudioWorkletProcessor {
  constructor() {
    super();
    this.step = sampleRate / RATE;
    this.frame = new Float32Array(FRAME);
    this.filled = 0;
    this.sum = 0;
    this.weight = 0;
  }

  // Each output sample is the mean of the input samples in its time span, which acts as a simple low-pass filter.
  process([input]) {
    const samples = input[0];
    if (!samples) return true;
    for (const one of samples) this.#take(one);
    return true;
  }

  #take(one) {
    let left = 1;
    while (this.weight + left >= this.step) {
      const part = this.step - this.weight;
      this.#give((this.sum + one * part) / this.step);
      left -= part;
      this.sum = this.weight = 0;
    }
    this.sum += one * left;
    this.weight += left;
  }

  #give(sample) {
    this.frame[this.filled] = sample;
    this.filled += 1;
    if (this.filled < FRAME) return;
    this.port.postMessage(this.frame, [this.frame.buffer]);
    this.frame = new Float32Array(FRAME);
    this.filled = 0;
  }
}

registerProcessor("kith-drawing", Drawing);
