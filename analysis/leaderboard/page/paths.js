// What a chart is drawn of: ticks of its axes, its numbers in words, lines and bands as SVG paths.

// Round steps of an axis: about `count` of them between 0 and `top`.
function ticks(top, count) {
  const raw = top / count;
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((size) => size >= raw * 0.999);
  return Array.from({ length: Math.floor(top / step + 1.001) }, (_, index) => index * step);
}

function written(value, column) {
  if (value === null) return MISSING;
  if (column === "coverage") return `${(100 * value).toFixed(1)} %`;
  return Math.abs(value) >= 100 ? value.toFixed(0) : value.toFixed(1);
}

// SVG path along the points (episode, value); a gap where a value is missing.
function path(episodes, values, x, y) {
  let open = false;
  return episodes.map((episode, index) => {
    if (values[index] === null) {
      open = false;
      return "";
    }
    const command = open ? "L" : "M";
    open = true;
    return `${command}${x(episode).toFixed(1)},${y(values[index]).toFixed(1)}`;
  }).join("");
}

// SVG path around the interval, one piece per stretch of episodes that has one.
function band(curve, x, y) {
  const pieces = [];
  let piece = [];
  curve.episode.forEach((_, index) => {
    if (curve.low[index] !== null) piece.push(index);
    if (piece.length && (curve.low[index] === null || index === curve.episode.length - 1)) {
      pieces.push(piece);
      piece = [];
    }
  });
  return pieces.map((indices) => {
    const point = (index, values) => `${x(curve.episode[index]).toFixed(1)},${y(values[index]).toFixed(1)}`;
    const up = indices.map((index) => point(index, curve.high));
    const down = indices.map((index) => point(index, curve.low)).reverse();
    return `M${[...up, ...down].join("L")}Z`;
  }).join("");
}
