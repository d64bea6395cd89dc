// A board that is played on: one tab stop, arrows from cell to cell, and marks on what may be chosen.

const SVG = "http://www.w3.org/2000/svg";
const WAYS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
const INSET = 3;

const centre = (cell) => {
  const box = cell.querySelector(".ground").getBoundingClientRect();
  return [box.x + box.width / 2, box.y + box.height / 2];
};

const inside = (box) => ({ x: box.x + INSET, y: box.y + INSET, width: box.width - 2 * INSET, height: box.height - 2 * INSET, rx: 5 });

export class Board {
  // `picture` returns the board of the page, if there is one now; `choose` is called with the name of a cell.
  constructor(picture, choose) {
    this.picture = picture;
    this.choose = choose;
    this.current = null; // the name of the cell that has the tab stop
    this.isByKeys = false; // WebKit shows no focus that a key moves after a click
    document.addEventListener("click", (event) => this.click(event));
    document.addEventListener("keydown", (event) => this.press(event));
    document.addEventListener("focusin", (event) => {
      const cell = this.cellOf(event);
      if (cell) this.stopAt(cell);
    });
  }

  cells() {
    return [...(this.picture()?.querySelectorAll("[data-cell][aria-label]") ?? [])];
  }

  cellOf(event) {
    const cell = event.target.closest?.("[data-cell][aria-label]");
    return cell && this.picture()?.contains(cell) ? cell : null;
  }

  hasFocus() {
    return this.picture()?.contains(document.activeElement) ?? false;
  }

  // Puts the focus where the tab stop is; returns whether there is one.
  focus() {
    const cell = this.cells().find((one) => one.dataset.cell === this.current);
    cell?.focus({ preventScroll: true });
    return Boolean(cell);
  }

  // Marks cells by name as a "source" or a "target" of a move, and those that are chosen.
  mark(marks, chosen) {
    const cells = this.cells();
    for (const cell of cells) this.markCell(cell, marks.get(cell.dataset.cell), chosen.includes(cell.dataset.cell));
    const stop = cells.find((cell) => cell.dataset.cell === this.current) ?? cells.find((cell) => marks.has(cell.dataset.cell)) ?? cells[0];
    if (stop) this.stopAt(stop);
  }

  markCell(cell, kind, isChosen) {
    cell.classList.toggle("can-choose", kind !== undefined);
    cell.classList.toggle("chosen", isChosen);
    cell.setAttribute("role", "button");
    cell.setAttribute("aria-pressed", String(isChosen));
    cell.setAttribute("aria-disabled", String(kind === undefined && !isChosen));
    cell.querySelector(".choice")?.remove();
    if (kind || isChosen) cell.append(this.sign(cell, isChosen ? "chosen" : kind));
  }

  sign(cell, kind) {
    const ground = cell.querySelector(".ground").getBBox();
    const isDot = kind === "target" && ground.width <= ground.height * 1.5;
    if (!isDot) return this.drawn("rect", `choice ${kind}`, inside(ground));
    const place = { cx: ground.x + ground.width / 2, cy: ground.y + ground.height / 2, r: ground.height / 7 };
    return this.drawn("circle", `choice ${kind}`, place);
  }

  drawn(shape, kind, place) {
    const found = document.createElementNS(SVG, shape);
    for (const [name, value] of Object.entries({ ...place, class: kind })) found.setAttribute(name, value);
    return found;
  }

  stopAt(stop) {
    this.current = stop.dataset.cell;
    for (const cell of this.cells()) cell.setAttribute("tabindex", cell === stop ? "0" : "-1");
    this.picture().querySelector(".focus")?.remove(); // neighbours would cover an outline
    stop.append(this.drawn("rect", this.isByKeys ? "focus by-keys" : "focus", inside(stop.querySelector(".ground").getBBox())));
  }

  click(event) {
    const cell = this.cellOf(event);
    if (!cell) return;
    this.isByKeys = false;
    this.stopAt(cell);
    if (cell.matches(".can-choose, .chosen")) this.choose(cell.dataset.cell);
  }

  press(event) {
    const cell = this.cellOf(event);
    if (!cell || event.altKey || event.ctrlKey || event.metaKey) return;
    this.isByKeys = true;
    if (event.key in WAYS) this.neighbour(cell, WAYS[event.key])?.focus();
    else if (event.key === "Home" || event.key === "End") this.last(cell, WAYS[event.key === "Home" ? "ArrowLeft" : "ArrowRight"]).focus();
    else if (event.key !== "Enter" && event.key !== " ") return;
    else if (cell.matches(".can-choose, .chosen")) this.choose(cell.dataset.cell);
    event.preventDefault();
  }

  // Returns the nearest cell in the direction [dx, dy], whatever the board looks like.
  neighbour(from, [dx, dy]) {
    const [x, y] = centre(from);
    let best = null;
    let least = Infinity;
    for (const cell of this.cells()) {
      const [a, b] = centre(cell);
      const along = (a - x) * dx + (b - y) * dy;
      const aside = Math.abs((a - x) * dy) + Math.abs((b - y) * dx);
      if (along <= 1 || aside > along) continue;
      if (along + 2 * aside < least) [best, least] = [cell, along + 2 * aside];
    }
    return best;
  }

  last(from, way) {
    let found = from;
    for (let next = from; next; next = this.neighbour(next, way)) found = next;
    return found;
  }
}
