// Visited states: one square per bin, on one logarithmic scale for all methods of a task.

const BIN = 8; // pixels of the drawing, which the page scales

function shade(visits, most) {
  const share = most > 1 ? Math.log(visits) / Math.log(most) : 1;
  return DATA.ramp[Math.round(share * (DATA.ramp.length - 1))];
}

function binEnds([low, high], index, count) {
  const edge = (place) => +(low + ((high - low) * place) / count).toPrecision(3);
  return `${edge(index)} to ${edge(index + 1)}`;
}

function drawHeat(figure, panel, most) {
  const lines = panel.visits; // from bottom to top
  const [columns, rows] = [lines[0].length, lines.length];
  const label = `Visited states of ${panel.name}: ${(100 * panel.share).toFixed(1)} % of bins; across ${panel.names[0]}, up ${panel.names[1]}`;
  const canvas = make("canvas", { width: columns * BIN, height: rows * BIN, role: "img", "aria-label": label });
  const pen = canvas.getContext("2d");
  lines.forEach((line, row) => line.forEach((visits, column) => {
    if (!visits) return;
    pen.fillStyle = shade(visits, most);
    pen.fillRect(column * BIN, (rows - 1 - row) * BIN, BIN, BIN);
  }));
  canvas.addEventListener("pointermove", (event) => {
    const column = Math.min(columns - 1, Math.floor((event.offsetX / canvas.clientWidth) * columns));
    const row = rows - 1 - Math.min(rows - 1, Math.floor((event.offsetY / canvas.clientHeight) * rows));
    if (!(column >= 0 && row >= 0)) return;
    showTip(event.clientX, event.clientY, make("b", {}, `${lines[row][column]} visits`),
      make("p", {}, `${panel.names[0]} ${binEnds(panel.ends[0], column, columns)}`),
      make("p", {}, `${panel.names[1]} ${binEnds(panel.ends[1], row, rows)}`));
  });
  canvas.addEventListener("pointerleave", hideTip);
  figure.prepend(canvas, make("small", {}, `→ ${panel.names[0]}, ↑ ${panel.names[1]}`));
}

for (const maps of document.querySelectorAll(".maps")) {
  const figures = [...maps.querySelectorAll(".heat")].map((figure) => [figure, DATA.heat[figure.id]]);
  const most = Math.max(...figures.flatMap(([, panel]) => panel.visits.flat()));
  for (const [figure, panel] of figures) drawHeat(figure, panel, most);
  const key = DATA.ramp.map((colour, index) =>
    make("rect", { x: 5 * index, y: 0, width: 5, height: 10, fill: colour }));
  maps.after(make("p", { class: "key" }, "1 visit ",
    make("svg", { width: 5 * DATA.ramp.length, height: 10, "aria-hidden": "true" }, ...key),
    ` ${most} visits, logarithmic; empty: never visited`));
}
