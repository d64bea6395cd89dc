// Keeps the live matches of the first page up to date, as long as the page is visible.

import { Feed } from "./feed.js";

const live = document.querySelector("[data-events]");

function show(event) {
  if (live.contains(document.activeElement)) return; // the next one may do
  live.innerHTML = JSON.parse(event.data).html; // our own server's, and escaped there
}

// What the page shows is sent whole at once, so nothing is missing when the connection stands again.
new Feed(live.dataset.events, ["live"], (_, event) => show(event), () => {});
