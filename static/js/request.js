// Requests to Kith's own pages, with the page's CSRF token.

const AGAIN_MS = 1000; // a line that fell is often back by then
export const PATIENCE_MS = 30000; // a line that leads nowhere says nothing

export async function fetchPart(url) {
  const ask = () =>
    fetch(url, { headers: { "HX-Request": "true" }, credentials: "same-origin", signal: AbortSignal.timeout(PATIENCE_MS) });
  const response = await ask().catch(() => new Promise((done) => setTimeout(done, AGAIN_MS)).then(ask));
  return response.redirected ? (leave(response.url), Response.error()) : response;
}

// Where a request was led away to the sign-in page, the session has ended: a talk says so and stays as it is, with a link
// to sign in; any other page goes there.
export function leave(url) {
  const link = document.querySelector("#signed-out a");
  if (link?.pathname === new URL(url).pathname) document.dispatchEvent(new CustomEvent("signed-out"));
  else location.assign(url);
}

// The headers of a request that changes something, with the token.
export const headers = () => JSON.parse(document.body.getAttribute("hx-headers"));

// Post fields, also as one leaves; the request can be aborted by the signal.
export function post(url, fields = {}, signal) {
  const body = new URLSearchParams(fields);
  return fetch(url, { method: "POST", headers: headers(), body, credentials: "same-origin", signal, keepalive: true });
}

// Post a form of any size; the request can be aborted by the signal.
export function submit(url, body, signal) {
  return fetch(url, { method: "POST", headers: headers(), body, credentials: "same-origin", signal });
}
