// Brings in what the server works out after a page was sent: the parts of the page that have changed since.
//
// Without this script a browser loads the whole page again (the head's noscript).

import { fetchedPage, isInUse } from "./parts.js";

const wanted = () => document.head.querySelector('meta[name="refresh-s"]');

async function refresh() {
  const fresh = await fetchedPage(location.href);
  replaceParts(document.getElementById("content"), fresh.getElementById("content"));
  const again = fresh.head.querySelector('meta[name="refresh-s"]');
  if (again) wanted().content = again.content;
  else wanted().remove();
}

// Whether a person has chosen something in the part.
function isChosen(part) {
  return [...part.querySelectorAll("select > option")].some((one) => one.selected !== one.defaultSelected);
}

// The parts by what they are called, which tells them again when others come or go.
function named(parts) {
  const found = new Map();
  for (const part of parts) {
    const name = part.id || part.getAttribute("aria-labelledby") || part.className;
    const isTaken = found.has(name);
    found.set(isTaken ? `${name} ${found.size}` : name, part);
  }
  return found;
}

// Puts in the place of each part its successor; one in use, or without a change, stays as it is.
function replaceParts(old, fresh) {
  const parts = named(old.children);
  const successors = named(fresh.children);
  for (const [name, part] of parts) if (!successors.has(name)) part.remove();
  let before = null;
  for (const [name, successor] of successors) {
    const part = parts.get(name);
    const isKept = part && (part.id === "connection" || isInUse(part) || isChosen(part) || part.outerHTML === successor.outerHTML);
    if (!part && before) before.after(successor);
    else if (!part) old.prepend(successor);
    else if (!isKept) part.replaceWith(successor);
    before = isKept ? part : successor;
  }
}

// A hidden page asks for nothing until it is seen again.
function refreshSeen() {
  if (document.hidden) document.addEventListener("visibilitychange", refreshSeen, { once: true });
  else refresh().catch(() => {}).finally(refreshLater);
}

function refreshLater() {
  if (wanted()) setTimeout(refreshSeen, Number(wanted().content) * 1000);
}

refreshLater();
