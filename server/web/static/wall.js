// The wall of a tournament: as many live boards as fit, page after page, then the standings, and so on.

import { setServerTime, showClocks } from "./clock.js";
import { Feed } from "./feed.js";
import { fetchedBoards, fetchedPage } from "./parts.js";

const PAUSE_MS = 700;
const TICK_MS = 100;
const CLOCKS_MS = 3000; // within a step a clock stops when its player has answered, which no step tells
const query = new URLSearchParams(location.search);
const PAGE_MS = 1000 * Math.min(Math.max(Number(query.get("seconds")) || 15, 2), 600);
const MOST = Math.min(Math.max(Number(query.get("boards")) || 8, 1), 24);
const SMALLEST = { width: 300, height: 330 }; // of a board with its players, in pixels

const address = document.body.dataset.tournament;
const boards = document.getElementById("wall-boards");
let latest = null; // what the server told last
let page = 0;
let isBusy = false;
let drawnAt = 0;
let turnedAt = 0;

const live = () => Object.keys(latest?.steps ?? {});
const shownIds = () => [...boards.querySelectorAll("[data-board]")].map((one) => one.dataset.board);

// How many boards fit, and in how many columns so many are largest.
function capacity() {
  const columns = Math.max(1, Math.floor(innerWidth / SMALLEST.width));
  const rows = Math.max(1, Math.floor((innerHeight - 80) / SMALLEST.height));
  return Math.min(MOST, columns * rows);
}

function columnsFor(n) {
  let best = { size: 0, columns: 1 };
  for (let columns = 1; columns <= n; columns++) {
    const rows = Math.ceil(n / columns);
    const size = Math.min(innerWidth / columns, (innerHeight - 80) / rows - 70);
    if (size > best.size) best = { size, columns };
  }
  return best.columns;
}

// The pages are those of the live boards, and one of the standings, if these are not all that there is.
function pages() {
  const ids = live();
  const n = capacity();
  const found = [];
  for (let first = 0; first < ids.length; first += n) found.push(ids.slice(first, first + n));
  return [...found, null];
}

async function showPage(ids) {
  const isStandings = ids === null;
  turnedAt = Date.now();
  document.getElementById("wall-standings").hidden = !isStandings;
  boards.hidden = isStandings;
  if (isStandings) {
    boards.querySelector("#boards").replaceChildren();
  } else {
    boards.replaceChildren((await fetchedBoards(address, ids)).querySelector("#boards"));
    drawnAt = Date.now();
  }
  lay();
  showClocks();
}

function lay() {
  const n = shownIds().length;
  const columns = columnsFor(Math.max(1, n));
  boards.style.setProperty("--columns", columns);
  boards.style.setProperty("--rows", Math.max(1, Math.ceil(n / columns)));
  const all = pages().length;
  document.getElementById("wall-page").textContent = all > 2 ? `${(page % all) + 1} / ${all}` : "";
}

// Shows the page that is so many after this one; there may be fewer now.
async function turn(by) {
  const all = pages();
  page = (page + by) % all.length;
  await showPage(all[page]);
}

// Draws anew the boards that have gone on, or ended, since they were drawn.
async function refreshBoards() {
  const isDue = Date.now() - drawnAt > CLOCKS_MS;
  const stale = [...boards.querySelectorAll("[data-board]")].filter((one) => {
    const steps = latest.steps[one.dataset.board];
    return steps === undefined ? !("over" in one.dataset) : isDue || steps > Number(one.dataset.steps);
  });
  if (!stale.length) return;
  if (isDue) drawnAt = Date.now();
  const found = await fetchedBoards(address, stale.map((one) => one.dataset.board));
  for (const fresh of found.querySelectorAll("[data-board]")) {
    if (latest.steps[fresh.dataset.board] === undefined) fresh.dataset.over = "";
    boards.querySelector(`[data-board="${CSS.escape(fresh.dataset.board)}"]`)?.replaceWith(fresh);
  }
  showClocks();
}

async function refreshHead() {
  const found = await fetchedPage(`${address}/wall`);
  for (const name of ["wall-head", "wall-standings"]) {
    const old = document.getElementById(name);
    const fresh = found.getElementById(name);
    fresh.hidden = old.hidden;
    old.replaceWith(fresh);
  }
  lay();
}

async function alone(work) {
  if (isBusy || document.hidden || latest === null) return;
  isBusy = true;
  try {
    await work();
  } catch {
    // The server is away; the next look may find it again.
  }
  isBusy = false;
}

async function refresh() {
  if (document.getElementById("wall-head").dataset.shape !== latest.shape) await refreshHead();
  const isTooMuch = shownIds().length > capacity();
  const isOver = shownIds().every((id) => latest.steps[id] === undefined);
  const isDue = isOver && live().length && !(boards.hidden && Date.now() - turnedAt < PAGE_MS);
  if (isTooMuch || isDue) {
    page = 0;
    await showPage(pages()[0]); // a round has begun, all that is shown is over, or the screen is a small one
  } else if (!boards.hidden) {
    await refreshBoards();
  }
}

setServerTime(Number(document.body.dataset.now));
new Feed(`${address}/events`, ["tournament"], (_, event) => {
  latest = JSON.parse(event.data);
  setServerTime(latest.now);
}, () => {});
setInterval(() => alone(refresh), PAUSE_MS);
setInterval(() => alone(() => turn(1)), PAGE_MS);
setInterval(showClocks, TICK_MS);
addEventListener("resize", () => alone(() => turn(0)));
lay();
showClocks();
