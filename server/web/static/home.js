// Keeps the live matches of the first page up to date, as long as the page is visible.

const PAUSE_MS = 3000;
const live = document.querySelector("[data-refresh]");

async function refresh() {
  if (document.hidden || live.contains(document.activeElement)) return;
  try {
    const answer = await fetch(live.dataset.refresh, { headers: { Accept: "text/html" } });
    if (answer.ok) live.innerHTML = await answer.text(); // our own server's, and escaped there
  } catch {
    // The server is away; the next time may find it again.
  }
}

if (live) setInterval(refresh, PAUSE_MS);
