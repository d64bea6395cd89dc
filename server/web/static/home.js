// Keeps the live matches of the first page up to date, as long as the page is visible.

const AGAIN_MS = 3000;
const live = document.querySelector("[data-events]");
let source = null;
let timer = null;

function show(event) {
  if (live.contains(document.activeElement)) return; // the next one may do
  live.innerHTML = JSON.parse(event.data).html; // our own server's, and escaped there
}

function follow() {
  source = new EventSource(live.dataset.events);
  source.addEventListener("live", show);
  source.addEventListener("error", () => {
    // Browsers give up where a proxy answers for a server that is away.
    if (source.readyState === EventSource.CLOSED) timer = setTimeout(follow, AGAIN_MS);
  });
}

function keepUp() {
  clearTimeout(timer);
  source?.close();
  if (!document.hidden) follow();
}

if (live) {
  document.addEventListener("visibilitychange", keepUp);
  keepUp();
}
