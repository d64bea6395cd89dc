// Brings in what the server works out after a page was sent: the parts of the page that have changed since.
//
// Without this script a browser loads the whole page again (the head's noscript).

const wanted = () => document.head.querySelector('meta[name="refresh-s"]');

async function refresh() {
  const answer = await fetch(location.href, { headers: { Accept: "text/html" } });
  if (!answer.ok) throw new Error(`the server answered ${answer.status}`);
  const fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
  replaceParts(document.getElementById("content"), fresh.getElementById("content"));
  const again = fresh.head.querySelector('meta[name="refresh-s"]');
  if (again) wanted().content = again.content;
  else wanted().remove();
}

// Whether a person is filling in a form of the part.
function isInUse(part) {
  const isFilled = [...part.querySelectorAll("input:not([type=hidden]), textarea")].some((one) => one.value !== one.defaultValue);
  const isChosen = [...part.querySelectorAll("select > option")].some((one) => one.selected !== one.defaultSelected);
  return isFilled || isChosen || part.contains(document.activeElement);
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
    if (part.id !== "connection" && !isInUse(part) && part.outerHTML !== successors[n].outerHTML) part.replaceWith(successors[n]);
  });
}

function refreshLater() {
  if (wanted()) setTimeout(() => refresh().catch(() => {}).finally(refreshLater), Number(wanted().content) * 1000);
}

refreshLater();
