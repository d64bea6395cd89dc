// Keeps the live matches of the first page up to date, as long as the page is visible.

import { Feed } from "./feed.js";
import { keepFocus } from "./parts.js";

const live = document.querySelector("[data-events]");

function show(event) {
  if (live.querySelector(":active")) return; // what is pressed just now would get no click; the next one may do
  keepFocus(live, () => {
    live.innerHTML = JSON.parse(event.data).html; // our own server's, and escaped there
    return live;
  });
}

// What the page shows is sent whole at once, so nothing is missing when the connection stands again.
new Feed(live.dataset.events, ["live"], (_, event) => show(event), () => {});
