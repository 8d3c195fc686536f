// Tables: a click on a heading sorts by it, the next one the other way, what is missing stays last;
// and a table that is wider than the window says that it scrolls.

function sortValue(row, column, kind) {
  const value = row.cells[column].dataset.sort;
  if (kind === "text") return value;
  return value === "" ? null : Number(value);
}

function compare(a, b, kind) {
  return kind === "text" ? a.localeCompare(b, "en", { sensitivity: "base" }) : a - b;
}

function sortBy(table, heading) {
  const kind = heading.dataset.kind; // text, up or down: the direction of the first click
  const column = heading.cellIndex;
  const first = kind === "down" ? "descending" : "ascending";
  const other = first === "ascending" ? "descending" : "ascending";
  const order = heading.getAttribute("aria-sort") === first ? other : first;
  for (const cell of heading.parentElement.cells) cell.setAttribute("aria-sort", "none");
  heading.setAttribute("aria-sort", order);
  const sign = order === "ascending" ? 1 : -1;
  const rows = [...table.tBodies[0].rows].map((row) => [sortValue(row, column, kind), row]);
  rows.sort(([a], [b]) => {
    if (a === null || b === null) return (a === null) - (b === null);
    return sign * compare(a, b, kind);
  });
  table.tBodies[0].append(...rows.map(([, row]) => row));
}

for (const table of document.querySelectorAll("table.sortable")) {
  for (const heading of table.tHead.rows[0].cells) {
    heading.querySelector("button").addEventListener("click", () => sortBy(table, heading));
  }
}

function hintAtScrolling(box) {
  const hint = make("em", { class: "hint" }, " Scroll sideways for more columns →");
  box.querySelector("caption span").append(hint);
  const update = () => {
    const wide = box.scrollWidth > box.clientWidth + 1;
    hint.hidden = !wide;
    box.classList.toggle("more", wide && box.scrollLeft + box.clientWidth < box.scrollWidth - 1);
  };
  const observer = new ResizeObserver(update);
  for (const part of [box, box.querySelector("table")]) observer.observe(part);
  box.addEventListener("scroll", update, { passive: true });
}

for (const box of document.querySelectorAll(".box")) hintAtScrolling(box);
