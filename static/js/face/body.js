// What any body of a companion can do, be it drawn, a picture or a model: it feels, it looks, it speaks.

export class Body {
  // An emotion by its name, from 0 to 1; one that it does not know is neutral.
  feel(emotion, intensity) {}

  // Where it looks: from -1 (left, up) to 1 (right, down).
  look(x, y) {}

  // How loud its voice is at this moment, from 0 to 1.
  speak(level) {}

  // Moves, or keeps still: "alive", "still" (whoever is shown it wants no motion), "paused" (nobody sees it).
  live(life) {}
}
