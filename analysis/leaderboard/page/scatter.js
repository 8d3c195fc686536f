// The picture at the top: pointing at a marker tells whose it is; filters hide markers and names.

for (const point of document.querySelectorAll(".panels .point")) {
  point.addEventListener("pointermove", (event) => {
    const lines = point.dataset.words.split("; ").map((line) => make("p", {}, line));
    showTip(event.clientX, event.clientY, make("b", {}, make("bdi", {}, point.dataset.name)), ...lines);
  });
  point.addEventListener("pointerleave", hideTip);
}

function filterMethods() {
  for (const part of document.querySelectorAll(".point[data-preset], .markers li, .methods li")) {
    const kept = matches(part.dataset.preset, part.dataset.search);
    part.classList.toggle("filtered", !kept);
  }
}
