// An emotion that came with what the companion says, told to whatever body it has on this page.

export function show({ emotion, intensity }) {
  document.dispatchEvent(new CustomEvent("kith:emotion", { detail: { emotion, intensity } }));
}
