// A face of uploaded pictures, for single emotions or for all; for an emotion without one the drawing is shown.

import { Body } from "./body.js";

const SWELLS = 0.035; // how much it grows with the voice

export class Picture extends Body {
  #life = "paused";

  constructor(element, pictures, drawn) {
    super();
    this.image = element.querySelector(".face-picture");
    this.drawing = element.querySelector("svg");
    this.pictures = pictures;
    this.drawn = drawn;
  }

  feel(emotion, intensity) {
    const url = this.pictures[emotion] ?? this.pictures.always;
    if (url && this.image.getAttribute("src") !== url) this.image.src = url;
    this.image.hidden = !url;
    this.drawing.toggleAttribute("hidden", Boolean(url));
    this.drawn.feel(emotion, intensity);
  }

  look(x, y) {
    this.drawn.look(x, y);
  }

  speak(level) {
    this.image.style.scale = this.#life === "alive" ? 1 + SWELLS * level : 1;
    this.drawn.speak(level);
  }

  live(life) {
    this.#life = life;
    if (life !== "alive") this.image.style.scale = 1;
    this.drawn.live(life);
  }
}
