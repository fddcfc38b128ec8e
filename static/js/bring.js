// A form with one file: what is dropped anywhere on the page is sent by it, and what is chosen too.
const form = document.querySelector("[data-bring]");
const input = form.querySelector("input[type=file]");
const hasFiles = (event) => event.dataTransfer?.types.includes("Files");

function show(isSending) {
  form.classList.toggle("is-sending", isSending);
  form.querySelector("[data-sending]").hidden = !isSending;
}

form.addEventListener("submit", () => show(true));
// Whoever goes back finds the form as it was, not as it was sent.
window.addEventListener("pageshow", () => show(false));

input.addEventListener("change", () => input.files.length && form.requestSubmit());
document.addEventListener("dragover", (event) => {
  if (!hasFiles(event)) return;
  event.preventDefault();
  form.classList.add("is-dropping");
});
document.addEventListener("dragleave", (event) => {
  if (!event.relatedTarget) form.classList.remove("is-dropping");
});
document.addEventListener("drop", (event) => {
  if (!hasFiles(event)) return;
  event.preventDefault();
  form.classList.remove("is-dropping");
  input.files = event.dataTransfer.files;
  if (input.files.length) form.requestSubmit();
});
