// Says the notice at the beginning of a call aloud, by the server's speech engine or by the browser if there is none.

const BROWSER_SPEAKS = 409;
const LONGEST_MS = 15000;

// Resolves when the notice is said or the signal aborts it, at the latest after LONGEST_MS, also if the engine is slow;
// never rejects, since the page shows the notice too.
export async function playNotice(url, { context, language, signal }) {
  const until = AbortSignal.any([signal, AbortSignal.timeout(LONGEST_MS)]);
  try {
    const response = await fetch(url, { credentials: "same-origin", signal: until });
    if (response.status === BROWSER_SPEAKS) await bySelf(await response.json(), language, until);
    else if (response.ok) await played(await response.arrayBuffer(), context, until);
  } catch {
    // it stands on the page
  }
}

async function played(content, context, until) {
  const source = context.createBufferSource();
  source.buffer = await context.decodeAudioData(content);
  source.connect(context.destination);
  until.throwIfAborted();
  await new Promise((done) => {
    source.onended = done;
    until.addEventListener("abort", done);
    source.start();
  });
}

function bySelf({ text }, language, until) {
  if (!window.speechSynthesis) return undefined;
  const saying = new SpeechSynthesisUtterance(text);
  saying.lang = language;
  until.throwIfAborted();
  return new Promise((done) => {
    const over = new AbortController(); // after it, an answer may be said, which must not be cancelled
    saying.onend = saying.onerror = () => over.abort();
    over.signal.addEventListener("abort", done);
    until.addEventListener("abort", () => speechSynthesis.cancel(), { signal: over.signal });
    speechSynthesis.speak(saying);
  });
}
