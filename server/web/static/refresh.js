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

// Puts in the place of each part its successor; one in use, or without a change, stays as it is.
function replaceParts(old, fresh) {
  const parts = [...old.children];
  const successors = [...fresh.children];
  if (parts.length !== successors.length) {
    old.replaceChildren(...successors);
    return;
  }
  parts.forEach((part, n) => {
    const isKept = part.id === "connection" || isInUse(part) || isChosen(part);
    if (!isKept && part.outerHTML !== successors[n].outerHTML) part.replaceWith(successors[n]);
  });
}

function refreshLater() {
  if (wanted()) setTimeout(() => refresh().catch(() => {}).finally(refreshLater), Number(wanted().content) * 1000);
}

refreshLater();
