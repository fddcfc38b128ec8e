// The interface of a companion's body, whether it is drawn, a picture or a model: it feels, looks and speaks.

export class Body {
  // Show the named emotion with an intensity from 0 to 1; an unknown emotion is shown as neutral.
  feel(emotion, intensity) {}

  // Look in a direction, from -1 (left, up) to 1 (right, down).
  look(x, y) {}

  // Show how loud the voice is at this moment, from 0 to 1.
  speak(level) {}

  // Set whether it moves: "alive", "still" (the person prefers reduced motion) or "paused" (nobody sees it).
  live(life) {}
}
