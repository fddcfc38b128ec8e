// Requests about recordings on the server: uploading, transcribing again, sending and deleting them.

function send(url, fields = {}) {
  const body = new FormData();
  for (const [name, value] of Object.entries(fields)) for (const one of [value].flat()) body.append(name, one);
  const headers = JSON.parse(document.body.getAttribute("hx-headers"));
  return fetch(url, { method: "POST", headers, body, credentials: "same-origin" });
}

// Resolve with the response's JSON and status, or {status: 0} if the server could not be reached.
async function told(asking) {
  try {
    const response = await asking;
    const isJson = response.headers.get("content-type")?.includes("json");
    return { ...(isJson ? await response.json() : {}), status: response.status };
  } catch {
    return { status: 0 };
  }
}

export class Recordings {
  constructor(url) {
    this.url = url;
  }

  add(blob, language) {
    return told(send(this.url, { file: new File([blob], "recording", { type: blob.type }), language }));
  }

  hearAgain(id, language) {
    return told(send(`${this.url}${id}/transcribe/`, { language }));
  }

  send(id, text, clientId, { quoted = "", attachments = [] } = {}) {
    return told(send(`${this.url}${id}/send/`, { text, client_id: clientId, quoted, attachments }));
  }

  drop(id) {
    return told(send(`${this.url}${id}/delete/`));
  }
}
