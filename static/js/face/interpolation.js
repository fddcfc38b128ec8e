// SVG attributes split into numbers and the text between them, so that one drawing can be interpolated to another.

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

// Move the numbers `here`, in place, by a share of the way to `there`; return the largest step.
export function goTowards(here, there, share) {
  let most = 0;
  for (let at = 0; at < here.length; at += 1) {
    const step = (there[at] - here[at]) * share;
    here[at] += step;
    most = Math.max(most, Math.abs(step));
  }
  return most;
}
