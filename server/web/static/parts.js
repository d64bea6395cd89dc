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

// Whether a person is filling in a form of the part.
export function isInUse(part) {
  const fields = [...part.querySelectorAll("input:not([type=hidden], [type=checkbox]), textarea")];
  return part.contains(document.activeElement) || fields.some((one) => one.value !== one.defaultValue);
}
