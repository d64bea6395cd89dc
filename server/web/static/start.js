// Choosing a game shows its roles at once.

const form = document.querySelector("[data-choose-game]");
form?.querySelector("select").addEventListener("change", () => form.submit());
form?.querySelector("button").setAttribute("hidden", "");
