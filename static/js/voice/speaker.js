// Plays sounds, one at a time, and reports how loud each is at each moment.

const LOUD = 4; // speech at an ordinary level moves a mouth about half-way

export class Speaker {
  #context = null;
  #analyser = null;
  #source = null;
  #begunAt = 0;
  #frame = 0;
  #playing = null; // the call of `play` that has not been stopped

  constructor(context = null) {
    this.#context = context;
  }

  // Created at the first use, since browsers allow a page to play sound only after a user's action.
  get context() {
    this.#context ??= new AudioContext();
    if (!this.#analyser) {
      this.#analyser = this.#context.createAnalyser();
      this.#analyser.fftSize = 1024;
      this.#analyser.connect(this.#context.destination);
    }
    return this.#context;
  }

  // Let the sound begin that is to come: Safari allows that only within a user's action, not when the sound is there.
  wake() {
    if (this.context.state !== "running") this.context.resume().catch(() => {}); // closed, as after a call
  }

  decode(content) {
    return this.context.decodeAudioData(content);
  }

  // Play the sound; resolves when it ends or is stopped.
  async play(sound, onLevel) {
    const { context } = this;
    const playing = (this.#playing = {});
    if (context.state === "suspended") await context.resume();
    if (playing !== this.#playing) return;
    const source = (this.#source = context.createBufferSource());
    source.buffer = sound;
    source.connect(this.#analyser);
    this.#begunAt = context.currentTime;
    this.#measure(onLevel);
    await new Promise((done) => {
      source.onended = done;
      source.start();
    });
    if (this.#source === source) this.stop();
  }

  // How many seconds of the sound have been heard.
  get seconds() {
    if (!this.#source) return 0;
    const latency = this.context.outputLatency || 0; // what is on its way to the ear has not been heard
    return Math.min(this.#source.buffer.duration, Math.max(0, this.context.currentTime - this.#begunAt - latency));
  }

  stop() {
    cancelAnimationFrame(this.#frame);
    const source = this.#source;
    this.#source = this.#playing = null;
    source?.stop();
    source?.disconnect();
  }

  #measure(onLevel) {
    cancelAnimationFrame(this.#frame);
    const samples = new Float32Array(this.#analyser.fftSize);
    const look = () => {
      if (!this.#source) return;
      this.#analyser.getFloatTimeDomainData(samples);
      const power = samples.reduce((sum, one) => sum + one * one, 0) / samples.length;
      onLevel(Math.min(1, Math.sqrt(power) * LOUD));
      this.#frame = requestAnimationFrame(look);
    };
    look();
  }
}
