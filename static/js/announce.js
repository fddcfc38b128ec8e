// Says something to a screen reader, politely.
export function announce(text) {
  const place = document.getElementById("announcer");
  place.textContent = "";
  setTimeout(() => (place.textContent = text), 50);
}
