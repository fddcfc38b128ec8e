// The search of the talk by its keys, and messages that are marked to be found again.

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
