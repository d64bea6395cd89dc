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

// Calls `put`, which puts something in the place of a part, or of what is in it, and returns it. The focus stays with
// the link of the same address, or with what has none; of several with the one in the same place.
export function keepFocus(part, put) {
  const focused = part.contains(document.activeElement) ? document.activeElement : null;
  const address = focused?.getAttribute("href");
  const alike = (within) => [...within.querySelectorAll("a, button, summary, [tabindex]")].filter((one) => one.getAttribute("href") === address);
  const place = focused ? alike(part).indexOf(focused) : -1;
  const found = put();
  if (place >= 0) alike(found)[place]?.focus({ preventScroll: true });
}

// Puts `fresh` in the place of a part; the focus stays.
export function replace(part, fresh) {
  keepFocus(part, () => {
    part.replaceWith(fresh);
    return fresh;
  });
}

// Whether a person is filling in a form of the part.
export function isInUse(part) {
  const fields = [...part.querySelectorAll("input:not([type=hidden], [type=checkbox]), textarea")];
  return part.contains(document.activeElement) || fields.some((one) => one.value !== one.defaultValue);
}
