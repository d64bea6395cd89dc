// Reads a chosen rule file into the text field, where it can be corrected and checked again, and shows that a check runs.

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

function showWork(sent) {
  const button = sent.querySelector(".submit button");
  const status = document.createElement("p");
  const bar = document.createElement("progress");
  const words = document.createElement("span");
  const began = Date.now();
  const tell = () => {
    words.textContent = `Checking for ${Math.round((Date.now() - began) / 1000)} s`;
  };
  status.className = "working";
  status.setAttribute("role", "status");
  bar.setAttribute("aria-label", "The check runs");
  status.append(bar, " ", words);
  sent.append(status);
  button.disabled = true;
  tell();
  const timer = setInterval(tell, 1000);
  window.addEventListener("pageshow", () => {
    clearInterval(timer); // the browser shows the page again as it was left
    status.remove();
    button.disabled = false;
  }, { once: true });
}

for (const sent of document.querySelectorAll("[data-rules-form], form.keep")) {
  sent.addEventListener("submit", () => showWork(sent));
}

document.querySelector(".result h2")?.focus();
