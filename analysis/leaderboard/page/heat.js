// Visited states: one square per bin, on one logarithmic scale for all methods of a task.

const BIN = 8; // pixels of the drawing, which the page scales
const MOVES = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowDown: [0, -1], ArrowUp: [0, 1] };

function shade(visits, most) {
  const share = most > 1 ? Math.log(visits) / Math.log(most) : 1;
  return DATA.ramp[Math.round(share * (DATA.ramp.length - 1))];
}

function binEnds([low, high], index, count) {
  const edge = (place) => +(low + ((high - low) * place) / count).toPrecision(3);
  return `${edge(index)} to ${edge(index + 1)}`;
}

class Heat {
  constructor(figure, panel, most) {
    this.panel = panel;
    [this.columns, this.rows] = [panel.visits[0].length, panel.visits.length];
    this.bin = [0, 0]; // column, and row from the bottom, that the keys are at
    this.canvas = this.draw(most);
    this.listen();
    figure.prepend(this.canvas, make("small", {}, `→ ${panel.names[0]}, ↑ ${panel.names[1]}`));
  }

  draw(most) {
    const { name, share, names } = this.panel;
    const label = `Visited states of ${name}: ${(100 * share).toFixed(1)} % of bins; across ${names[0]}, up ${names[1]}`;
    const size = { width: this.columns * BIN, height: this.rows * BIN };
    const canvas = make("canvas", { ...size, role: "img", tabindex: 0, "aria-label": label });
    const pen = canvas.getContext("2d");
    this.panel.visits.forEach((line, row) => line.forEach((visits, column) => {
      if (!visits) return;
      pen.fillStyle = shade(visits, most);
      pen.fillRect(column * BIN, (this.rows - 1 - row) * BIN, BIN, BIN);
    }));
    return canvas;
  }

  listen() {
    this.canvas.addEventListener("pointermove", (event) => {
      const column = Math.floor((event.offsetX / this.canvas.clientWidth) * this.columns);
      const row = this.rows - 1 - Math.floor((event.offsetY / this.canvas.clientHeight) * this.rows);
      this.tell(column, row, event.clientX, event.clientY);
    });
    for (const end of ["pointerleave", "blur"]) this.canvas.addEventListener(end, hideTip);
    this.canvas.addEventListener("keydown", (event) => {
      if (event.key === "Escape") hideTip();
      if (!(event.key in MOVES)) return;
      event.preventDefault();
      this.step(MOVES[event.key], event.shiftKey ? 10 : 1);
    });
  }

  // Moves the keys' place, within the map; the first key shows where it is.
  step([across, up], size) {
    const [column, row] = tip.hidden ? this.bin : [this.bin[0] + across * size, this.bin[1] + up * size];
    this.bin = [clamp(column, this.columns), clamp(row, this.rows)];
    const box = this.canvas.getBoundingClientRect();
    const x = box.left + ((this.bin[0] + 0.5) / this.columns) * box.width;
    const y = box.bottom - ((this.bin[1] + 0.5) / this.rows) * box.height;
    this.tell(...this.bin, x, y);
  }

  tell(column, row, x, y) {
    const [across, up] = [clamp(column, this.columns), clamp(row, this.rows)];
    const { names, ends, visits } = this.panel;
    showTip(x, y, make("b", {}, `${visits[up][across]} visits`),
      make("p", {}, `${names[0]} ${binEnds(ends[0], across, this.columns)}`),
      make("p", {}, `${names[1]} ${binEnds(ends[1], up, this.rows)}`));
  }
}

function clamp(place, count) {
  return Math.min(count - 1, Math.max(0, place));
}

for (const maps of document.querySelectorAll(".maps")) {
  const figures = [...maps.querySelectorAll(".heat")].map((figure) => [figure, DATA.heat[figure.id]]);
  const most = Math.max(...figures.flatMap(([, panel]) => panel.visits.flat()));
  for (const [figure, panel] of figures) new Heat(figure, panel, most);
  const key = DATA.ramp.map((colour, index) =>
    make("rect", { x: 5 * index, y: 0, width: 5, height: 10, fill: colour }));
  maps.after(make("p", { class: "key" }, "1 visit ",
    make("svg", { width: 5 * DATA.ramp.length, height: 10, "aria-hidden": "true" }, ...key),
    ` ${most} visits, logarithmic; empty: never visited`));
}
