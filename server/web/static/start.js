// Choosing a game shows its roles at once, also a game that was chosen before this script was there.

import { fetchedPage } from "./parts.js";

const form = document.querySelector("[data-choose-game]");
const games = form?.querySelector("select");
const shown = Math.max(0, [...(games?.options ?? [])].findIndex((option) => option.defaultSelected));
let nChosen = 0; // only the game that was chosen last is shown

// Puts the form of the game in the place of that of another; the choice keeps the focus.
async function showRoles() {
  const number = ++nChosen;
  const address = `${form.action}?${new URLSearchParams(new FormData(form))}`;
  const order = document.querySelector("form[data-once]");
  order.inert = true; // it is of another game than the one that is chosen
  try {
    const fresh = (await fetchedPage(address)).querySelector("form[data-once]");
    if (number !== nChosen) return;
    if (!fresh) return form.submit(); // another page has come, such as the one that asks for a token
    form.parentElement.querySelector(":scope > [role=alert]")?.remove();
    order.replaceWith(fresh);
    history.replaceState(null, "", address);
  } catch {
    form.submit();
  }
}

games?.addEventListener("change", showRoles);
form?.querySelector("button").setAttribute("hidden", "");
if (games && games.selectedIndex !== shown) showRoles();
