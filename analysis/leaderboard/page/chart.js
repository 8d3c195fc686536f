// Learning curves: a line and a band per method, on demand a thin line per seed, drawn again for each
// width of the window; a cursor by pointer or keys.

const HEIGHT = 300; // pixels
const EDGE = { left: 48, right: 20, top: 10, bottom: 38 };
const COLUMNS = { return: "Return", coverage: "Coverage" };

class Chart {
  constructor(figure, chart) {
    this.figure = figure;
    this.chart = chart;
    this.column = chart.column;
    this.switched = new Map(); // line -> whether the reader switched it on or off
    this.rest = new Set(); // lines after the best of those that the filters leave
    this.filtered = new Set(); // lines that the filters leave out
    this.cursor = null; // episode
    this.single = false; // whether single seeds are drawn
    this.svg = make("svg", { role: "img", tabindex: 0, height: HEIGHT });
    this.legend = make("div", { class: "legend", role: "group", "aria-label": "Methods" });
    this.choice = make("div", { class: "choice", role: "group", "aria-label": "What to draw" });
    this.count = make("p", { class: "count" });
    this.note = make("p", { class: "without", role: "status" });
    this.figure.prepend(this.choice, this.count, this.legend, this.svg, this.note);
    this.addChoice();
    this.addLegend();
    this.listen();
    new ResizeObserver(() => this.draw()).observe(figure);
  }

  isOn(line) {
    return this.switched.get(line) ?? !this.rest.has(line);
  }

  lines() {
    return this.chart.lines.filter(
      (line) => line[this.column] && this.isOn(line) && !this.filtered.has(line),
    );
  }

  addChoice() {
    const columns = [];
    for (const [column, title] of Object.entries(COLUMNS)) {
      const button = make("button", { type: "button", "aria-pressed": String(column === this.column) }, title);
      button.addEventListener("click", () => {
        this.column = column;
        for (const other of columns) other.setAttribute("aria-pressed", String(other === button));
        this.draw();
      });
      columns.push(button);
    }
    const seeds = make("button", { type: "button", class: "seeds-switch", "aria-pressed": "false" }, "Single seeds");
    seeds.addEventListener("click", () => {
      this.single = !this.single;
      seeds.setAttribute("aria-pressed", String(this.single));
      this.draw();
    });
    this.choice.append(...columns, seeds);
  }

  addLegend() {
    for (const line of this.chart.lines) {
      const sample = make("svg", { width: 28, height: 8, "aria-hidden": "true" },
        make("line", { class: "curve", x1: 0, x2: 28, y1: 4, y2: 4, "stroke-dasharray": line.dash }));
      line.button = make("button", { type: "button", class: line.method, "aria-pressed": "true" },
        sample, make("span", {}, ...who(line)));
      line.button.addEventListener("click", () => {
        this.switched.set(line, !this.isOn(line));
        this.nameLines();
        this.draw();
      });
      this.legend.append(line.button);
    }
  }

  filter(keep) {
    this.filtered = new Set(this.chart.lines.filter((line) => !keep(line)));
    const kept = this.chart.lines.filter((line) => !this.filtered.has(line));
    this.rest = new Set(kept.sort((a, b) => a.place - b.place).slice(DATA.drawn));
    this.nameLines();
    this.draw();
  }

  // Says in the legend, and above it where there are many, which lines are drawn.
  nameLines() {
    const kept = this.chart.lines.filter((line) => !this.filtered.has(line));
    for (const line of this.chart.lines) {
      line.button.hidden = this.filtered.has(line);
      line.button.setAttribute("aria-pressed", String(this.isOn(line)));
    }
    const on = kept.filter((line) => this.isOn(line)).length;
    this.count.hidden = kept.length <= DATA.drawn;
    this.count.textContent = `${on} of ${kept.length} methods drawn, the best ${DATA.drawn} at first: names switch them on and off.`;
  }

  draw() {
    const width = this.figure.clientWidth;
    if (!width) return;
    const lines = this.lines();
    const spanned = lines.length ? lines : this.chart.lines.filter((line) => line[this.column]);
    this.last = Math.max(1, ...spanned.flatMap((line) => line[this.column].episode.slice(-1)));
    const top = this.column === "coverage" ? 1 : this.chart.best * 1.05;
    this.x = (episode) => EDGE.left + (episode / this.last) * (width - EDGE.left - EDGE.right);
    this.y = (value) => HEIGHT - EDGE.bottom - (Math.max(0, value) / top) * (HEIGHT - EDGE.top - EDGE.bottom);
    this.svg.setAttribute("width", width);
    this.svg.setAttribute("aria-label", `${COLUMNS[this.column]} by training episode of ${lines.map((line) => `${line.name} ${line.label}`).join(", ") || "no method"}; the table below has the numbers`);
    this.guide = make("line", { class: "guide", y1: EDGE.top, y2: HEIGHT - EDGE.bottom, visibility: "hidden" });
    const thin = this.single ? lines.flatMap((line) => this.drawSeeds(line)) : [];
    this.svg.replaceChildren(...this.axes(width), ...thin, ...lines.flatMap((line) => this.drawLine(line)), this.guide);
    this.nameWithoutSeeds(lines);
  }

  // Says of which lines the page holds no single seeds.
  nameWithoutSeeds(lines) {
    const without = lines.filter((line) => !line.runs?.[this.column]).map((line) => line.name);
    this.note.hidden = !this.single || !without.length;
    this.note.textContent = `No single seeds of ${without.join(", ")}: the page holds those of the best ${DATA.drawn} methods of a task with at most ${DATA.maxSeeds} seeds.`;
  }

  axes(width) {
    const right = width - EDGE.right;
    const bottom = HEIGHT - EDGE.bottom;
    const parts = [];
    const [first, final] = this.chart.window ?? [Infinity];
    if (first <= this.last) {
      const start = this.x(first);
      parts.push(make("rect", { class: "window", x: start, y: EDGE.top, width: this.x(Math.min(final, this.last)) - start, height: bottom - EDGE.top }));
    }
    for (const value of ticks(this.column === "coverage" ? 1 : this.chart.best, 5)) {
      const text = this.column === "coverage" ? `${Math.round(100 * value)} %` : `${+value.toPrecision(6)}`;
      parts.push(make("line", { class: "grid", x1: EDGE.left, x2: right, y1: this.y(value), y2: this.y(value) }));
      parts.push(make("text", { x: EDGE.left - 6, y: this.y(value) + 4, "text-anchor": "end" }, text));
    }
    for (const episode of ticks(this.last, width < 480 ? 4 : 8)) {
      parts.push(make("text", { x: this.x(episode), y: bottom + 16, "text-anchor": "middle" }, `${+episode.toPrecision(6)}`));
    }
    parts.push(make("text", { x: (EDGE.left + right) / 2, y: bottom + 33, "text-anchor": "middle" }, "training episode"));
    if (this.column === "return") {
      parts.push(make("line", { class: "best", x1: EDGE.left, x2: right, y1: this.y(this.chart.best), y2: this.y(this.chart.best) }));
    }
    return parts;
  }

  drawSeeds(line) {
    const runs = line.runs?.[this.column];
    return (runs?.values ?? []).map((values) =>
      make("path", { class: `seed ${line.method}`, d: path(runs.episode, values, this.x, this.y) }));
  }

  drawLine(line) {
    const curve = line[this.column];
    const shaded = this.single && line.runs?.[this.column] ? "band faint" : "band"; // seeds show the spread
    return [
      make("path", { class: `${shaded} ${line.method}`, d: band(curve, this.x, this.y) }),
      make("path", { class: `curve ${line.method}`, d: path(curve.episode, curve.mean, this.x, this.y), "stroke-dasharray": line.dash }),
    ];
  }

  listen() {
    this.svg.addEventListener("pointermove", (event) => {
      const box = this.svg.getBoundingClientRect();
      const share = (event.clientX - box.left - EDGE.left) / (box.width - EDGE.left - EDGE.right);
      this.point(Math.round(share * this.last), event.clientX, event.clientY);
    });
    for (const end of ["pointerleave", "blur"]) this.svg.addEventListener(end, () => this.leave());
    this.svg.addEventListener("keydown", (event) => {
      const size = event.shiftKey ? 10 : 1;
      const moves = { ArrowLeft: -size, ArrowRight: size, Home: -Infinity, End: Infinity };
      if (event.key === "Escape") this.leave();
      if (!(event.key in moves)) return;
      event.preventDefault();
      const episode = Math.min(this.last, Math.max(1, (this.cursor ?? 0) + moves[event.key]));
      const box = this.svg.getBoundingClientRect();
      this.point(episode, box.left + this.x(episode), box.top + EDGE.top);
    });
  }

  leave() {
    this.cursor = null;
    this.guide.setAttribute("visibility", "hidden");
    hideTip();
  }

  // Shows what every visible curve is at an episode.
  point(episode, x, y) {
    this.cursor = Math.min(this.last, Math.max(1, episode));
    for (const end of ["x1", "x2"]) this.guide.setAttribute(end, this.x(this.cursor));
    this.guide.setAttribute("visibility", "visible");
    const found = this.lines().map((line) => [line, line[this.column].episode.indexOf(this.cursor)]);
    const rows = found.filter(([, index]) => index >= 0)
      .sort(([a, i], [b, j]) => b[this.column].mean[j] - a[this.column].mean[i])
      .map(([line, index]) => this.tipLine(line, index));
    showTip(x, y, make("b", {}, `Episode ${this.cursor}`), ...(rows.length ? rows : [make("p", {}, MISSING)]));
  }

  tipLine(line, index) {
    const curve = line[this.column];
    const [mean, low, high] = ["mean", "low", "high"].map((name) => written(curve[name][index], this.column));
    const interval = curve.low[index] === null ? "no interval" : `[${low}, ${high}]`;
    const seeds = curve.seeds[index];
    return make("p", { class: line.method }, make("i", { class: "swatch" }),
      ...who(line), ": ", make("b", {}, mean), ` ${interval}, ${seeds} seed${seeds === 1 ? "" : "s"}`);
  }
}

const charts = Object.entries(DATA.charts).map(
  ([id, chart]) => new Chart(document.getElementById(id), chart),
);
