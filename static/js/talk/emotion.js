// Passes the emotion of a companion's message on to its faces on this page.

export function show({ emotion, intensity }) {
  document.dispatchEvent(new CustomEvent("kith:emotion", { detail: { emotion, intensity } }));
}
