// A page that the browser kept for the way back is for its visitor, and not for the next one at the same machine.
//
// WebKit also keeps what it must not store (`no-store`), and shows it after the visitor has logged out.

addEventListener("pageshow", async (event) => {
  if (!event.persisted) return;
  const { style } = document.documentElement;
  style.visibility = "hidden";
  const answer = await fetch(location.href, { method: "HEAD", redirect: "manual" }).catch(() => null);
  if (answer?.ok) style.visibility = "";
  else location.reload();
});
