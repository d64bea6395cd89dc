// Choosing a game shows its roles at once, also a game that was chosen before this script was there.

const form = document.querySelector("[data-choose-game]");
const games = form?.querySelector("select");
const shown = Math.max(0, [...(games?.options ?? [])].findIndex((option) => option.defaultSelected));
games?.addEventListener("change", () => form.submit());
form?.querySelector("button").setAttribute("hidden", "");
if (games && games.selectedIndex !== shown) form.submit();
