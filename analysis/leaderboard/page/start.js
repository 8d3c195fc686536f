"use strict";
// What the other scripts share: the page's data, elements, the tip at the pointer, the theme.

const DATA = JSON.parse(document.getElementById("data").textContent);
const SVG = "http://www.w3.org/2000/svg";
const MISSING = "missing";
const THEME = "explore-suite-theme"; // what the reader's last choice is kept under

// An element with attributes and children. Text only ever becomes text, never markup.
function make(tag, attributes = {}, ...children) {
  const vector = ["svg", "g", "path", "line", "rect", "text", "circle"].includes(tag);
  const element = vector ? document.createElementNS(SVG, tag) : document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

// The name of a line: the text of a submission keeps its writing direction to itself, and its label,
// ASCII and unique, stands beside it.
function who(line) {
  return [make("bdi", {}, line.name), `${line.suffix} `, make("code", {}, line.label)];
}

const tip = document.getElementById("tip");

// Shows the tip beside a point of the window, inside the window.
function showTip(x, y, ...content) {
  tip.replaceChildren(...content);
  tip.hidden = false;
  const width = document.documentElement.clientWidth;
  const left = x + 16 + tip.offsetWidth > width ? x - 16 - tip.offsetWidth : x + 16;
  const top = Math.min(y + 16, window.innerHeight - tip.offsetHeight - 8);
  tip.style.left = `${Math.max(4, Math.min(left, width - tip.offsetWidth - 4))}px`;
  tip.style.top = `${Math.max(8, top)}px`;
}

function hideTip() {
  tip.hidden = true;
}

const theme = document.getElementById("theme");

function isDark() {
  const chosen = document.documentElement.dataset.theme;
  return chosen ? chosen === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
}

// Names the theme that a click leads to.
function nameTheme() {
  theme.textContent = isDark() ? "Light theme" : "Dark theme";
}

theme.addEventListener("click", () => {
  document.documentElement.dataset.theme = isDark() ? "light" : "dark";
  nameTheme();
  try {
    localStorage.setItem(THEME, document.documentElement.dataset.theme);
  } catch { /* a file from disk may have no storage; the choice then lasts as long as the page */ }
});
try {
  document.documentElement.dataset.theme = localStorage.getItem(THEME) ?? "";
} catch { /* as above */ }
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", nameTheme);
nameTheme();
