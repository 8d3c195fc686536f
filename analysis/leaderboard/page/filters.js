// Filters: a preset, a task and words choose which rows, columns, curves, maps and tasks are shown.

const chosen = {
  preset: document.getElementById("preset"),
  task: document.getElementById("task"),
  search: document.getElementById("search"),
};

function matches(preset, text) {
  const words = chosen.search.value.toLowerCase().split(/\s+/).filter(Boolean);
  return (!chosen.preset.value || preset === chosen.preset.value)
    && words.every((word) => text.toLowerCase().includes(word));
}

function has(list, task) {
  return !task || list.split(" ").includes(task);
}

function filterTable(table, task) {
  for (const row of table.tBodies[0].rows) {
    row.hidden = !(matches(row.dataset.preset, row.dataset.search) && has(row.dataset.tasks, task));
  }
  for (const heading of table.tHead.rows[0].cells) {
    const hide = Boolean(task && heading.dataset.task && heading.dataset.task !== task);
    for (const row of table.rows) row.cells[heading.cellIndex].hidden = hide;
  }
  table.closest(".box").hidden = [...table.tBodies[0].rows].every((row) => row.hidden);
}

// Hides a part of the page of which nothing is left.
function hideEmpty(part, content) {
  part.hidden = !part.querySelector(`${content}:not([hidden])`);
}

function applyFilters() {
  const task = chosen.task.value;
  for (const table of document.querySelectorAll("table.sortable")) filterTable(table, task);
  for (const part of document.querySelectorAll(".ranking, .results")) hideEmpty(part, ".box");
  for (const group of document.querySelectorAll(".group")) hideEmpty(group, ".ranking");
  for (const article of document.querySelectorAll(".task")) {
    article.hidden = Boolean(task && article.dataset.task !== task);
  }
  for (const map of document.querySelectorAll(".heat")) {
    const panel = DATA.heat[map.id];
    map.hidden = !matches(panel.preset, `${panel.name} ${panel.label}`);
  }
  for (const part of document.querySelectorAll(".states")) hideEmpty(part, ".heat");
  filterMethods();
  hideEmpty(document.getElementById("methods"), "li:not(.filtered)");
  hideEmpty(document.getElementById("cost"), ".box");
  for (const chart of charts) chart.filter((line) => matches(line.preset, line.search));
  const rows = [...document.querySelectorAll(".ranking .box:first-child tbody tr")];
  const shown = rows.filter((row) => !row.hidden && !row.closest(".ranking").hidden).length;
  document.getElementById("shown").textContent = shown ? `${shown} of ${rows.length} rows shown` : "no row matches";
}

// Opens what is folded below the chosen task.
function openTask() {
  for (const part of document.querySelectorAll(`.task[data-task="${chosen.task.value}"] > details`)) part.open = true;
}

for (const control of Object.values(chosen)) control.addEventListener("input", applyFilters);
chosen.task.addEventListener("input", openTask);
document.getElementById("filters").addEventListener("submit", (event) => event.preventDefault());
applyFilters();
