// Clocks that count down to a moment of the server's time.

let skewMs = 0; // how far this machine's clock is ahead of the server's

export function setServerTime(nowMs) {
  skewMs = Date.now() - nowMs;
}

export function leftMs(deadlineMs) {
  return Math.max(0, deadlineMs - (Date.now() - skewMs));
}

export function clockText(ms) {
  const seconds = ms / 1000;
  if (seconds >= 60) {
    const whole = Math.ceil(seconds);
    return `${Math.floor(whole / 60)}:${String(whole % 60).padStart(2, "0")}`;
  }
  return seconds < 10 ? `${seconds.toFixed(1)} s` : `${Math.ceil(seconds)} s`;
}

const SHORT_MS = 2000;

// Shows on `element` how long it is to `deadlineMs`; without one, nothing.
export function showClock(element, deadlineMs) {
  const left = deadlineMs === undefined ? null : leftMs(deadlineMs);
  const text = left === null ? "" : clockText(left);
  if (element.textContent !== text) element.textContent = text;
  element.classList.toggle("runs", left !== null);
  element.classList.toggle("is-short", left !== null && left < SHORT_MS);
}

// Shows on each clock of the page how long it is to the moment that it names itself, if any.
export function showClocks() {
  for (const clock of document.querySelectorAll("[data-clock]")) {
    showClock(clock, clock.dataset.ends ? Number(clock.dataset.ends) : undefined);
  }
}
