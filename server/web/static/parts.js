// Parts of pages that the server sends anew: fetched, and whether they may be replaced.

import { setServerTime } from "./clock.js";

const FIRST_PAUSE_MS = 300;
const LONGEST_PAUSE_MS = 10_000;

export function parse(text) {
  return new DOMParser().parseFromString(text, "text/html");
}

export async function fetchedPage(address) {
  const answer = await fetch(address, { headers: { Accept: "text/html" } });
  if (!answer.ok) throw new Error(`the server answered ${answer.status}`);
  return parse(await answer.text());
}

// Calls `look`, which may fail where the server is away, ever less often until it returns true.
export async function eventually(look) {
  for (let pause = FIRST_PAUSE_MS; !(await look().catch(() => false)); pause = Math.min(2 * pause, LONGEST_PAUSE_MS)) {
    await new Promise((go) => setTimeout(go, pause));
  }
}

// The page that has the boards of these matches of the tournament at `address`.
export async function fetchedBoards(address, ids) {
  const found = await fetchedPage(`${address}/boards?${new URLSearchParams(ids.map((id) => ["match", id]))}`);
  setServerTime(Number(found.querySelector("#boards").dataset.now));
  return found;
}

// In a page that was fetched, what browsers without scripts get is elements, too.
const FOCUSABLE = ":is(a, button, summary, input, select, textarea, [tabindex]):not(noscript *)";

// What tells an element again among those that take its place: its id or address, else where it is.
const named = (one) => one.id || one.getAttribute("href") || one.closest("[id]")?.id;

// Calls `put`, which puts something in the place of a part, or of what is in it, and returns it. The focus stays with
// what has the same name; of several with the one in the same place.
export function keepFocus(part, put) {
  const focused = part.contains(document.activeElement) ? document.activeElement : null;
  const name = focused && named(focused);
  const alike = (within) => [...within.querySelectorAll(FOCUSABLE)].filter((one) => named(one) === name);
  const place = focused ? alike(part).indexOf(focused) : -1;
  const found = put();
  if (place >= 0) alike(found)[place]?.focus({ preventScroll: true });
}

// Opens in `fresh` what a person has opened in the part whose place it takes.
export function keepOpen(part, fresh) {
  const before = part.querySelectorAll("details.more");
  fresh.querySelectorAll("details.more").forEach((one, n) => (one.open = before[n]?.open ?? false));
}

// Puts `fresh` in the place of a part; the focus stays, and what is open.
export function replace(part, fresh) {
  keepOpen(part, fresh);
  keepFocus(part, () => {
    part.replaceWith(fresh);
    return fresh;
  });
}

// Tells those who hear the page; the same words are not told again.
export function announce(text) {
  const place = document.getElementById("announcement");
  if (place.textContent !== text) place.textContent = text;
}

// Whether a person is filling in a form of the part.
export function isInUse(part) {
  const fields = [...part.querySelectorAll("input:not([type=hidden], [type=checkbox]), textarea")];
  return part.contains(document.activeElement) || fields.some((one) => one.value !== one.defaultValue);
}
