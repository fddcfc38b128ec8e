// Fetches the spoken sentences of a reply or a message, by number, as they become available.

const GONE = 404;
const ALL_SAID = 204;

// A sentence cannot be said; with the server's error code and its sentence for people.
export class SpeechError extends Error {
  constructor({ code = "network", detail = "" } = {}) {
    super(code);
    this.code = code;
    this.detail = detail;
  }
}

// Resolve with {number, start, end, emotion, intensity, content} as sound, or {…, text, language, speed} for the
// browser to say; null if there is no sentence with this number. Throws SpeechError if it cannot be fetched.
export async function fetchSentence(url, number, signal) {
  for (;;) {
    const response = await fetched(`${url}${number}/`, signal);
    if (response.status === ALL_SAID || response.status === GONE) return null;
    if (response.ok) return sounded(response, number);
    const told = await response.json().catch(() => ({}));
    if (told.code === "browser_speaks") return { number, ...told };
    if (told.code !== "not_said_yet") throw new SpeechError(told);
  }
}

async function fetched(url, signal) {
  try {
    return await fetch(url, { credentials: "same-origin", signal });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new SpeechError();
  }
}

async function sounded(response, number) {
  const told = (name) => response.headers.get(`X-Kith-${name}`);
  const place = { number, start: Number(told("Start")), end: Number(told("End")) };
  const content = await response.arrayBuffer();
  return { ...place, emotion: told("Emotion"), intensity: Number(told("Intensity")), content };
}
