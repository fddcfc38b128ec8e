// In the audio's own thread: what the microphone hears, drawn to 16,000 samples a second, 20 ms at a time.

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

  // Each sample given is the mean of those that fall into its time: a simple filter against what is too high for it.
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
