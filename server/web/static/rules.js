// Reads a chosen rule file into the text field, where it can be corrected and checked again.

const form = document.querySelector("[data-rules-form]");
const file = form?.querySelector("input[type=file]");
const text = form?.querySelector("textarea");

file?.addEventListener("change", async () => {
  const chosen = file.files[0];
  if (!chosen || chosen.size > 1_000_000) return; // the server says what is wrong with it
  try {
    text.value = new TextDecoder("utf-8", { fatal: true }).decode(await chosen.arrayBuffer());
    file.value = "";
    text.focus();
  } catch {
    // No text: it is sent as it is, and the server says so.
  }
});

document.querySelector(".result h2")?.focus();
