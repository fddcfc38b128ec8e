// Announces a text to screen readers, politely; with `isSeen` it is also shown for a moment.

const SHOWN_MS = 2500; // and as long as it takes to read more
const READ_MS = 50; // a character
let timer = 0;

export function announce(text, isSeen = false) {
  const place = document.getElementById("announcer");
  clearTimeout(timer);
  hide(place);
  setTimeout(() => {
    place.textContent = text;
    place.classList.toggle("unseen", !isSeen);
    place.classList.toggle("toast", isSeen);
    if (isSeen) timer = setTimeout(() => hide(place), Math.max(SHOWN_MS, READ_MS * text.length));
  }, 50);
}

function hide(place) {
  place.textContent = "";
  place.className = "unseen";
}
