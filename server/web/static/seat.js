// The seat of a person: clicks, keys and touches on the board make moves, and the page follows the match.

import { Board } from "./board.js";
import { clockText } from "./clock.js";
import { Feed } from "./feed.js";
import { announce, eventually, keepOpen, parse } from "./parts.js";

const SOON_MS = 60;
const LATER_MS = 400;
const WAITING_MS = 3000;
const TICK_MS = 100;
const SHORT_MS = 2000;

const root = document.querySelector("[data-seat-page]");
const board = new Board(() => document.querySelector("#seat svg.board"), choose);
let clicked = []; // cells, in order
let endsAt = 0;
let soon = null;
let waiting = null;
let isSending = false;
let nAsked = 0; // counts what was asked of the server
let shown = 0; // the number of what is shown: an answer that was asked for before it comes too late
let source = null;

const buttons = () => [...document.querySelectorAll("[data-choices] button")];
const cellsOf = (button) => (button.dataset.cells ? button.dataset.cells.split(" ") : []);
const isLine = (button) => "line" in button.dataset;

// Whether the clicks so far may become this move.
function fits(button, clicks) {
  const cells = cellsOf(button);
  if (isLine(button)) return clicks.length === 1 && cells.includes(clicks[0]);
  return clicks.length <= cells.length && clicks.every((cell, i) => cells[i] === cell);
}

const isWhole = (button, clicks) => isLine(button) || cellsOf(button).length === clicks.length;

function prepare() {
  clicked = [];
  const turn = document.getElementById("turn");
  endsAt = turn.dataset.left ? performance.now() + Number(turn.dataset.left) : 0;
  const isOnBoard = buttons().some((button) => button.dataset.cells);
  const help = document.querySelector("[data-help]");
  if (help) {
    help.hidden = !(isOnBoard && document.querySelector("#seat [data-cell]"));
    const isOneClick = buttons().every((button) => isLine(button) || cellsOf(button).length < 2);
    const how = isOneClick ? "Click on the board, or choose from the list." : "Click where the piece stands, then where it goes; or choose from the list.";
    const keys = "By keys: arrows move on the board, Enter chooses, Escape begins anew.";
    help.textContent = matchMedia("(pointer: coarse)").matches ? how : `${how} ${keys}`;
  }
  if ("soon" in turn.dataset) setTimeout(refreshSoon, LATER_MS); // what is known is still being worked out
  clearTimeout(waiting);
  if ("waits" in turn.dataset) waiting = setTimeout(refreshSoon, WAITING_MS); // no event tells what for
  mark();
}

// Shows which cells may be chosen next: pieces that can move, and places where they can go.
function mark() {
  const marks = new Map();
  for (const button of buttons()) {
    const cells = cellsOf(button);
    if (clicked.length > 0 && fits(button, [cells[0]]) && !marks.has(cells[0])) marks.set(cells[0], "source");
    if (isLine(button)) cells.forEach((cell) => marks.set(cell, "target"));
    else if (cells.length > clicked.length && fits(button, clicked)) {
      const isLast = cells.length === clicked.length + 1;
      marks.set(cells[clicked.length], isLast || clicked.length > 0 ? "target" : "source");
    }
    button.parentElement.hidden = clicked.length > 0 && !fits(button, clicked);
  }
  board.mark(marks, clicked);
}

function choose(name) {
  if (name === null) clicked = [];
  else if (clicked.length > 0 && clicked.at(-1) === name) clicked = [];
  else if (buttons().some((button) => fits(button, [...clicked, name]))) clicked.push(name);
  else clicked = buttons().some((button) => fits(button, [name])) ? [name] : [];
  const found = clicked.length ? buttons().filter((button) => fits(button, clicked)) : [];
  if (found.length === 1 && isWhole(found[0], clicked)) send(found[0]);
  else mark();
}

async function send(button) {
  if (isSending) return;
  isSending = true;
  const form = button.form;
  const isFromList = form.contains(document.activeElement);
  const body = new URLSearchParams(new FormData(form));
  body.set("move", button.value);
  for (const one of buttons()) one.disabled = true;
  const number = ++nAsked;
  try {
    const answer = await fetch(form.action, { method: "POST", body, headers: { Accept: "text/html" } });
    if (!take(await answer.text(), number)) await again(`The server did not take the move (error ${answer.status}). Try again.`);
    if (isFromList && document.activeElement === document.body) document.getElementById("turn").focus({ preventScroll: true });
  } catch {
    await again("The server could not be reached. Try again.");
  }
  isSending = false;
}

// Lets the person choose once more after what is told, by a token of the form that is valid now. Where the seat shows
// that only the answer was lost, there is nothing to tell.
async function again(text) {
  const { step } = document.getElementById("turn").dataset;
  await refresh().catch(() => {});
  for (const one of buttons()) one.disabled = false;
  choose(null);
  const turn = document.getElementById("turn");
  if (turn.dataset.asked === "yes" && turn.dataset.step === step) tell(text, { untilRefresh: true });
}

function tell(text, { untilRefresh = false } = {}) {
  const place = document.getElementById("problem");
  place.replaceChildren();
  if (!text) return;
  const notice = document.createElement("p");
  notice.toggleAttribute("data-until-refresh", untilRefresh);
  notice.className = "notice bad";
  notice.setAttribute("role", "alert");
  notice.textContent = text;
  place.append(notice);
}

// Shows what the server answered to the question of that number; returns whether that was this seat.
function take(text, number) {
  const found = parse(text);
  const seat = found.getElementById("seat");
  if (!seat) return false;
  const problem = found.getElementById("problem");
  const turn = found.getElementById("turn");
  const old = document.getElementById("turn");
  const wasAsked = old.dataset.asked;
  const isSame = wasAsked === "yes" && turn.dataset.asked === "yes" && old.dataset.step === turn.dataset.step;
  if (problem) tell(problem.textContent.trim());
  if (number < shown) {
    if (problem?.textContent.trim()) for (const one of buttons()) one.disabled = false; // the move was refused
    return true;
  }
  shown = number;
  if (isSame && !problem && !("soon" in old.dataset)) {
    // The same question: what was clicked stays.
    const [own, fresh] = [document, seat].map((place) => place.querySelector("[data-choices] [name=csrf_token]"));
    own.value = fresh.value;
    if (turn.dataset.left) endsAt = performance.now() + Number(turn.dataset.left); // a server that restarts asks anew
    return true;
  }
  const wasOnBoard = board.hasFocus();
  const wasHere = wasOnBoard || document.getElementById("seat").contains(document.activeElement) || document.activeElement === old;
  old.replaceWith(turn);
  keepOpen(document.getElementById("seat"), seat);
  document.getElementById("seat").replaceWith(seat);
  prepare();
  if (!(wasOnBoard && board.focus()) && wasHere) turn.focus({ preventScroll: true }); // what had the focus is gone
  const caption = seat.querySelector("figcaption").textContent.replace(/\s+/g, " ").trim();
  announce(`${turn.querySelector("[data-told]").textContent.trim()} ${caption}`);
  document.title = document.title.replace(/^[^:]*/, turn.dataset.asked === "yes" ? "Your turn" : "You play");
  return true;
}

// Shows the seat as it is now; returns whether the server told that, or will not.
async function refresh() {
  const number = ++nAsked;
  const answer = await fetch(root.dataset.parts, { headers: { Accept: "text/html" } });
  if (answer.ok) {
    take(await answer.text(), number);
    document.querySelector("#problem [data-until-refresh]")?.remove();
  }
  return answer.status < 500;
}

// Shows how the match ended; returns whether the server has noted it.
async function showEnd() {
  await refresh();
  return document.getElementById("turn").dataset.over !== "no";
}

function refreshSoon() {
  clearTimeout(soon);
  soon = setTimeout(() => eventually(refresh), SOON_MS);
}

document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-choices] button");
  if (!button) return;
  event.preventDefault();
  send(button);
});

document.addEventListener("keydown", (event) => {
  if (event.key === "Escape" && clicked.length) choose(null);
});

setInterval(() => {
  const clock = document.querySelector("[data-clock]");
  if (!clock || !endsAt) return;
  const left = Math.max(0, endsAt - performance.now());
  clock.textContent = clockText(left);
  clock.classList.toggle("is-short", left < SHORT_MS);
}, TICK_MS);

function takeEvent(kind) {
  if (kind !== "closed") refreshSoon();
  else {
    source.close();
    eventually(showEnd);
  }
}

prepare();
if (root.dataset.live === "yes") {
  // Hidden, too: the title of the page tells a person elsewhere whose turn it is.
  source = new Feed(root.dataset.events, ["changed", "closed"], takeEvent, refreshSoon, { whileHidden: true });
}
