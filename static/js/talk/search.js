// The keyboard shortcut of the search in a talk, and the refresh of messages after a bookmark was changed.

export function watchSearch(turns) {
  document.addEventListener("keydown", (event) => {
    if (event.key.toLowerCase() !== "k" || !(event.ctrlKey || event.metaKey) || event.altKey || event.shiftKey) return;
    event.preventDefault();
    if (!document.querySelector("dialog[open]")) document.getElementById("search-talk").click();
  });
  document.body.addEventListener("bookmark-changed", async ({ detail }) => {
    const turn = document.getElementById(`message-${detail.message}`)?.closest(".turn");
    if (!turn) return;
    await turns.refresh(turn.dataset.turn, turn);
    document.getElementById(`message-${detail.message}`)?.querySelector(".menu > summary")?.focus();
  });
}
