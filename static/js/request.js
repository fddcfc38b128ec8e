// Requests to Kith's own pages, with the page's CSRF token.

export async function fetchPart(url) {
  const response = await fetch(url, { headers: { "HX-Request": "true" }, credentials: "same-origin" });
  if (response.redirected) location.assign(response.url);
  return response;
}

export function post(url, fields = {}) {
  const headers = JSON.parse(document.body.getAttribute("hx-headers"));
  const body = new URLSearchParams(fields);
  return fetch(url, { method: "POST", headers, body, credentials: "same-origin", keepalive: true }); // also as one leaves
}
