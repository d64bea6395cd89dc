// The page of a match: steps through its history without loading the page anew, and follows it while it is played.

import { setServerTime, showClock } from "./clock.js";
import { Feed } from "./feed.js";
import { announce, eventually, fetchedPage, parse, replace } from "./parts.js";
import { Replay } from "./replay.js";

const KINDS = ["started", "state", "asked", "answered", "step", "completed", "aborted", "failed", "closed"];
const SOON_MS = 60;
const LATER_MS = 300;
const TICK_MS = 100;
const AGAIN_MS = 1000;
const LONGEST_MS = 10_000;
const WAITING_MS = 3000;
const ADDRESS_MS = 500; // WebKit takes 100 addresses in 10 seconds, or 30 in older ones, and fails from then on

const deadlines = new Map(); // by seat
let root = document.querySelector("[data-match]");
let kept = new Map(); // answers by step, of a match that is over
let wanted = 0; // counts what was asked for
let shown = 0; // which of that is shown: answers that come after a later one are not
let asked = null; // the step that was asked for last, until it is shown
let source = null;
let soon = null;
let repeating = null;
let retrying = null;
let naming = null;
let namedAt = -ADDRESS_MS;

const position = () => document.getElementById("position");
const shownStep = () => Number(position().dataset.step);
const lastStep = () => Number(position().dataset.last);
const isLive = () => root.dataset.live === "yes";
const isWaiting = () => ["lobby", "queued"].includes(position().dataset.status);
const isFollowing = () => isLive() && shownStep() === lastStep();

async function fetched(step) {
  const query = new URLSearchParams();
  if (step !== null) query.set("step", step);
  if (root.dataset.as) query.set("as", root.dataset.as);
  const answer = await fetch(`${root.dataset.parts}?${query}`);
  if (answer.ok) return answer.text();
  const error = new Error(`the server answered ${answer.status}`);
  error.isFinal = answer.status < 500 && answer.status !== 429;
  throw error;
}

function parts(step) {
  if (isLive()) return fetched(step);
  if (!kept.has(step)) kept.set(step, fetched(step));
  return kept.get(step);
}

// Shows a step; null is the last that there is. Returns whether it is what is shown now. One that fails to load is asked
// for again, ever less often, until another one is.
async function show(step, pause = AGAIN_MS) {
  const number = ++wanted;
  clearTimeout(retrying);
  asked = step;
  try {
    const found = parse(await parts(step));
    if (number === wanted) asked = null;
    if (number < shown) return false;
    shown = number;
    put(found);
    return true;
  } catch (error) {
    kept.delete(step); // the next attempt asks again
    if (number !== wanted) return false;
    if (error.isFinal) asked = null;
    else retrying = setTimeout(() => show(step, Math.min(2 * pause, LONGEST_MS)), pause);
    return false;
  }
}

// Puts what changes in the place of what there was; what has the focus stays.
function put(found) {
  const from = found.getElementById("position");
  const to = position();
  replace(to.querySelector(".board-frame"), from.querySelector(".board-frame"));
  to.querySelector("figcaption").replaceWith(from.querySelector("figcaption"));
  if (to.dataset.status !== from.dataset.status) document.getElementById("status").replaceChildren(from.querySelector("template").content);
  for (const name of ["step", "last", "status"]) to.dataset[name] = from.dataset[name];
  for (const link of to.querySelectorAll("[data-to]")) {
    const other = from.querySelector(`[data-to="${link.dataset.to}"]`);
    link.href = other.getAttribute("href");
    if (other.hasAttribute("aria-disabled")) link.setAttribute("aria-disabled", "true");
    else link.removeAttribute("aria-disabled");
  }
  const slider = to.querySelector("#slider");
  slider.max = from.dataset.last;
  slider.value = asked ?? from.dataset.step; // it stays where it is drawn to
  if (isLive()) {
    replace(document.getElementById("seats"), found.getElementById("seats"));
    replace(document.querySelector("#moves tbody"), found.querySelector("#moves tbody"));
    tick();
  } else {
    document.querySelector("#moves [aria-current]")?.removeAttribute("aria-current");
    document.querySelector(`#moves [data-row="${from.dataset.step}"]`)?.setAttribute("aria-current", "step");
  }
  replace(document.getElementById("thoughts"), found.getElementById("thoughts"));
  clearTimeout(repeating);
  if ("soon" in from.dataset) again(Number(from.dataset.step));
  showRow();
  announce(words(position().querySelector("figcaption")));
  nameStep();
}

// Lets the address of the page, and those of other views of it, name the step.
function nameStep() {
  for (const link of document.querySelectorAll(".views a")) link.href = atShownStep(link.href);
  clearTimeout(naming);
  const pause = namedAt + ADDRESS_MS - performance.now();
  if (pause > 0) naming = setTimeout(nameAddress, pause);
  else nameAddress();
}

function nameAddress() {
  clearTimeout(naming);
  const address = atShownStep(location.href);
  if (address === location.href) return;
  namedAt = performance.now();
  history.replaceState(null, "", address);
}

// The address of what is shown now; that of a match that is followed names no step.
function atShownStep(address) {
  const found = new URL(address);
  if (isFollowing()) found.searchParams.delete("step");
  else found.searchParams.set("step", shownStep());
  return found.href;
}

// What a role knew is still being worked out: asks again soon, as long as the step is shown. Another step that was
// asked for meanwhile comes first, and may fail to load, as this one may.
function again(step) {
  kept.delete(step);
  repeating = setTimeout(async () => {
    if (shownStep() === step && !(asked === null && (await show(step)))) again(step);
  }, LATER_MS);
}

// Scrolls the list of moves, but never the page.
function showRow() {
  const frame = document.getElementById("moves");
  const row = frame.querySelector("[aria-current]");
  if (!row) return;
  const top = row.offsetTop - frame.querySelector("thead").offsetHeight;
  if (top < frame.scrollTop || row.offsetTop + row.offsetHeight > frame.scrollTop + frame.clientHeight) frame.scrollTop = top - 40;
}

const words = (element) => element.textContent.replace(/\s+/g, " ").trim();

// From the step that was asked for, where keys come faster than steps are loaded.
function go(to) {
  const from = asked ?? shownStep();
  const steps = { first: 0, before: Math.max(0, from - 1), next: Math.min(lastStep(), from + 1), last: lastStep() };
  show(steps[to] ?? Number(to));
}

document.addEventListener("click", (event) => {
  const link = event.target.closest("[data-to], [data-step-link]");
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  go(link.dataset.to ?? link.dataset.stepLink);
});

document.addEventListener("input", (event) => {
  if (event.target.id !== "slider") return;
  replay.pause();
  show(Number(event.target.value));
});

const replay = new Replay(
  () => {
    if (asked === null) go("next"); // else the film would run ahead of what is loaded
    return (asked ?? shownStep()) < lastStep();
  },
  () => shownStep() === lastStep() && go("first"),
);

const KEYS = { ArrowLeft: "before", ArrowRight: "next", Home: "first", End: "last" };

document.addEventListener("keydown", (event) => {
  const isTaken = event.target.matches?.("input, textarea, select, #moves") || event.altKey || event.ctrlKey || event.metaKey;
  if (isTaken) return;
  const isPressed = event.key === " " && event.target.matches?.("button, a, summary"); // which the browser presses itself
  if (!isPressed && replay.press(event.key, event.target)) event.preventDefault();
  if (!(event.key in KEYS)) return;
  event.preventDefault();
  replay.pause();
  go(KEYS[event.key]);
});

// While the match is played

function tick() {
  for (const seat of document.querySelectorAll("#seats [data-seat]")) {
    const clock = seat.querySelector("[data-clock]");
    if (clock) showClock(clock, deadlines.get(Number(seat.dataset.seat)));
  }
}

function refreshSoon() {
  clearTimeout(soon);
  soon = setTimeout(() => show(asked ?? (isFollowing() ? null : shownStep())), SOON_MS);
}

function take(kind, data) {
  if (kind === "asked" && ["START", "PLAY", "PREVIEW"].includes(data.message)) deadlines.set(data.seat, data.deadlineMs - data.graceMs);
  else if (kind === "answered") deadlines.delete(data.seat);
  else if (kind === "step") deadlines.clear();
  if (["started", "state", "step"].includes(kind)) refreshSoon();
  if (kind === "closed") end();
  tick();
}

function end() {
  source.close();
  clearTimeout(soon);
  eventually(showEnd);
}

// Puts the page of the match that is over in the place of this one; returns whether the server has it.
async function showEnd() {
  nameAddress();
  const found = (await fetchedPage(location.href)).querySelector("[data-match]");
  if (found.dataset.live !== "no") return false;
  const isFlipped = position().classList.contains("flipped");
  const pending = asked;
  clearTimeout(retrying);
  shown = ++wanted;
  asked = null;
  replay.show(found);
  replace(root, found);
  root = found;
  kept = new Map();
  deadlines.clear();
  showRow();
  if (isFlipped) replay.flip();
  if (pending !== null) show(pending);
  announce(`The match is over. ${words(document.getElementById("seats"))}`);
  return true;
}

if (isLive()) {
  setServerTime(Number(root.dataset.now));
  source = new Feed(root.dataset.events, KINDS, (kind, event) => take(kind, JSON.parse(event.data)), refreshSoon);
  setInterval(tick, TICK_MS);
  setInterval(() => isWaiting() && show(null), WAITING_MS); // its journal has not begun, so no event tells who comes
}
showRow();
replay.show(root);
if ("soon" in position().dataset) again(shownStep());
