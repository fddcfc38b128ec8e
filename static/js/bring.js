// A form with one file, which is submitted as soon as a file is chosen or dropped anywhere on the page.
const form = document.querySelector("[data-bring]");
const input = form.querySelector("input[type=file]");
const hasFiles = (event) => event.dataTransfer?.types.includes("Files");

function show(isSending) {
  form.classList.toggle("is-sending", isSending);
  form.querySelector("[data-sending]").hidden = !isSending;
}

form.addEventListener("submit", () => show(true));
// After going back in the history, the form is shown as it was before it was submitted.
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
