// Plays the steps of a match like a film: play and pause, speed, and the board from the other side.

const STEP_MS = 1000;

export class Replay {
  // `next` shows the next step and returns whether there is one after it; `rewind` goes to the first if it is the last.
  constructor(next, rewind) {
    this.next = next;
    this.rewind = rewind;
    this.timer = null;
    document.addEventListener("click", (event) => this.click(event));
    document.addEventListener("input", (event) => event.target.id === "speed" && this.isPlaying() && this.play());
  }

  // Shows the buttons in a part of the page, which do nothing without this script.
  show(part) {
    for (const bar of part.querySelectorAll(".replay[hidden]")) bar.hidden = false;
  }

  isPlaying() {
    return this.timer !== null;
  }

  play() {
    clearInterval(this.timer);
    const speed = Number(document.getElementById("speed")?.value) || 1;
    this.timer = setInterval(() => this.next() || this.pause(), STEP_MS / speed);
    this.tell();
  }

  pause() {
    clearInterval(this.timer);
    this.timer = null;
    this.tell();
  }

  toggle() {
    if (this.isPlaying()) {
      this.pause();
      return;
    }
    this.rewind();
    this.play();
  }

  flip() {
    const isFlipped = document.getElementById("position").classList.toggle("flipped");
    document.querySelector('[data-replay="flip"]')?.setAttribute("aria-pressed", String(isFlipped));
  }

  tell() {
    const button = document.querySelector('[data-replay="play"]');
    if (button) button.textContent = this.isPlaying() ? "Pause" : "Play";
  }

  click(event) {
    const what = event.target.closest?.("[data-replay]")?.dataset.replay;
    if (what === "play") this.toggle();
    else if (what === "flip") this.flip();
    else if (event.target.closest?.("[data-to], [data-step-link]")) this.pause();
  }

  // Returns whether a key means something where it is pressed; a letter does on the board alone (WCAG 2.1.4), since
  // speech input dictates letters.
  press(key, target) {
    if (key === " ") this.toggle();
    else if (key.toLowerCase() === "f" && target.closest?.("#position")) this.flip();
    else return false;
    return true;
  }
}
