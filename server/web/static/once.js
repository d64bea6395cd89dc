// A form that orders something is sent once where its button is pushed twice: each time would order one more.

const PAUSE_MS = 3_000;

addEventListener("submit", (event) => {
  const form = event.target;
  if (!form.matches("[data-once]")) return;
  if (form.dataset.sent) return event.preventDefault();
  form.dataset.sent = "yes";
  setTimeout(() => delete form.dataset.sent, PAUSE_MS); // who stops the page, or comes back to it, can send it again
});
