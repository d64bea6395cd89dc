// The page of a tournament follows it: boards as their steps come, the rest when something else has changed.

import { setServerTime, showClocks } from "./clock.js";
import { Feed } from "./feed.js";
import { fetchedBoards, fetchedPage, isInUse, replace } from "./parts.js";

const PAUSE_MS = 700; // between two looks at the server, so that many matches at once cost no more than a few
const PARTS_MS = 2000; // between two looks at all that is not a board
const TICK_MS = 100;

const root = document.querySelector("[data-tournament]");
const address = root.dataset.tournament;
let latest = null; // what the server told last
let isBusy = false;
let partsAt = 0;

// Puts a section in the place of the one before; what was open stays open, and a link that has the focus keeps it.
function replacePart(old, fresh) {
  if ("keep" in old.dataset && isInUse(old)) return;
  const open = [...old.querySelectorAll("details[open]")].map((one) => one.id);
  for (const id of open) fresh.querySelector(`#${id}`)?.setAttribute("open", "");
  if (old.outerHTML === fresh.outerHTML) return;
  const scrolled = [...old.querySelectorAll(".table-frame")].map((one) => one.scrollLeft);
  replace(old, fresh);
  fresh.querySelectorAll(".table-frame").forEach((one, n) => (one.scrollLeft = scrolled[n] ?? 0));
}

// The matches of a round come when it is opened; those of all rounds would be many.
function openRounds() {
  return [...document.querySelectorAll("[data-round][open]")].map((one) => ["open", one.dataset.round]);
}

async function refreshParts() {
  partsAt = Date.now();
  const found = await fetchedPage(`${address}/parts?${new URLSearchParams(openRounds())}`);
  const parts = document.getElementById("parts");
  const fresh = [...found.querySelectorAll("body > section")];
  for (const old of [...parts.children]) if (!fresh.some((one) => one.id === old.id)) old.remove();
  let before = null;
  for (const one of fresh) {
    const old = document.getElementById(one.id);
    if (old) replacePart(old, one);
    else if (before) before.after(one);
    else parts.prepend(one);
    before = document.getElementById(one.id);
  }
  const status = document.getElementById("status-part");
  parts.dataset.shape = status.dataset.shape;
  const state = document.getElementById("state");
  const told = status.querySelector("template").innerHTML;
  if (state.innerHTML !== told) {
    state.innerHTML = told; // our own server's, and escaped there
    document.getElementById("announcement").textContent = `The tournament is ${state.textContent.trim()}.`;
  }
}

// Boards whose matches have gone on since they were drawn.
function staleBoards() {
  const shown = [...document.querySelectorAll("[data-board]")];
  return shown.filter((one) => latest.steps[one.dataset.board] > Number(one.dataset.steps)).map((one) => one.dataset.board);
}

async function refreshBoards(ids) {
  const found = await fetchedBoards(address, ids);
  for (const fresh of found.querySelectorAll("[data-board]")) {
    document.querySelector(`[data-board="${CSS.escape(fresh.dataset.board)}"]`)?.replaceWith(fresh);
  }
  showClocks();
}

async function refresh() {
  if (isBusy || document.hidden || latest === null) return;
  const isOther = document.getElementById("parts").dataset.shape !== latest.shape;
  const isDue = isOther && Date.now() - partsAt > PARTS_MS;
  const stale = isDue ? [] : staleBoards();
  if (isDue) await alone(refreshParts);
  else if (stale.length) await alone(() => refreshBoards(stale));
}

async function alone(work) {
  isBusy = true;
  try {
    await work();
  } catch {
    // The server is away; the next look may find it again.
  }
  isBusy = false;
}

document.addEventListener("toggle", (event) => {
  if (event.target.open && event.target.querySelector("[data-load]")) alone(refreshParts);
}, true);

setServerTime(Number(root.dataset.now));
new Feed(`${address}/events`, ["tournament"], (_, event) => {
  latest = JSON.parse(event.data);
  setServerTime(latest.now);
}, () => {});
setInterval(refresh, PAUSE_MS);
setInterval(showClocks, TICK_MS);
showClocks();
