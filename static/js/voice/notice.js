// Says the notice at the beginning of a call aloud, by the server's speech engine or by the browser if there is none.

const BROWSER_SPEAKS = 409;
const LONGEST_MS = 15000;

// Resolves when the notice is said, at the latest after LONGEST_MS; never rejects, since the page shows the notice too.
export async function playNotice(url, context, language) {
  try {
    const response = await fetch(url, { credentials: "same-origin" });
    if (response.status === BROWSER_SPEAKS) await bySelf(await response.json(), language);
    else if (response.ok) await played(await response.arrayBuffer(), context);
  } catch {
    // it stands on the page
  }
}

async function played(content, context) {
  const source = context.createBufferSource();
  source.buffer = await context.decodeAudioData(content);
  source.connect(context.destination);
  await soon((done) => {
    source.onended = done;
    source.start();
  });
}

function bySelf({ text }, language) {
  if (!window.speechSynthesis) return undefined;
  const saying = new SpeechSynthesisUtterance(text);
  saying.lang = language;
  return soon((done) => {
    saying.onend = saying.onerror = done;
    speechSynthesis.speak(saying);
  });
}

function soon(begin) {
  return new Promise((done) => {
    setTimeout(done, LONGEST_MS);
    begin(done);
  });
}
