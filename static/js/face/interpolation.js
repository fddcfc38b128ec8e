// Attributes as the words between numbers, and the numbers: so that one drawing goes over into another.

const NUMBER = /-?\d+(?:\.\d+)?/g;

export function numbersOf(text) {
  return Float64Array.from(text.match(NUMBER) ?? [], Number);
}

export function wordsOf(text) {
  return text.split(NUMBER);
}

export function written(words, numbers) {
  let text = words[0];
  for (let at = 0; at < numbers.length; at += 1) text += numbers[at].toFixed(2) + words[at + 1];
  return text;
}

// `here` with that share of the way to `there` gone, in place; the most that any number moved.
export function goTowards(here, there, share) {
  let most = 0;
  for (let at = 0; at < here.length; at += 1) {
    const step = (there[at] - here[at]) * share;
    here[at] += step;
    most = Math.max(most, Math.abs(step));
  }
  return most;
}
