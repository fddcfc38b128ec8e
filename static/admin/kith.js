// What the admin's own scripts leave unsaid or say amiss to those who hear a page, put right when they have run.

// What a try of a model or a download came to stands below its button, and may be below the window's edge.
document.addEventListener("htmx:afterSwap", ({ detail }) => {
  if (detail.target.id.startsWith("outcome")) detail.target.scrollIntoView({ block: "nearest" });
});

addEventListener("load", () => setTimeout(() => {
  // Of two boxes that scroll, none is a landmark: both would have one name.
  for (const box of document.querySelectorAll(".simplebar-content-wrapper[role=region]")) box.setAttribute("role", "group");
  // On a narrow screen each value has its column's name beside it, which is written as in a sentence.
  for (const cell of document.querySelectorAll("#result_list [data-label]")) {
    const name = cell.dataset.label;
    cell.dataset.label = name.charAt(0).toUpperCase() + name.slice(1);
  }
  // A sign with a name is a picture.
  for (const sign of document.querySelectorAll(".help-tooltip[aria-label]")) sign.setAttribute("role", "img");
}));
