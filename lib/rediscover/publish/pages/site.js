// Sorting by a click on a heading, filters over rows and sections, and light or dark.
"use strict";

const stored = (() => { try { return localStorage; } catch { return {}; } })(); // some browsers refuse it for files
const page = document.documentElement;
if (stored.theme) page.dataset.theme = stored.theme;
document.getElementById("theme").addEventListener("click", () => {
  const dark = page.dataset.theme ? page.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  stored.theme = page.dataset.theme = dark ? "light" : "dark";
});

const value = (row, column) => row.cells[column].dataset.value;
const number = (text) => (text === "inf" ? Infinity : text === "-inf" ? -Infinity : text.trim() === "" ? NaN : Number(text));

function compare(a, b, sign) {
  const x = number(a), y = number(b);
  if (!isNaN(x) && !isNaN(y)) return x === y ? 0 : sign * (x < y ? -1 : 1);
  if (isNaN(x) !== isNaN(y)) return isNaN(x) ? 1 : -1; // what is no number stays at the end
  return sign * a.localeCompare(b);
}

document.querySelectorAll("th button").forEach((button) => button.addEventListener("click", () => {
  const heading = button.parentElement, body = heading.closest("table").tBodies[0];
  const up = heading.ariaSort !== "ascending";
  for (const other of heading.parentElement.cells) other.ariaSort = null;
  heading.ariaSort = up ? "ascending" : "descending";
  body.append(...[...body.rows].sort((a, b) => compare(value(a, heading.cellIndex), value(b, heading.cellIndex), up ? 1 : -1)));
}));

const filters = [...document.querySelectorAll("[data-filter]")];
const about = (element, key) => element.dataset[key] ?? element.closest("section").dataset[key];
const fits = (element) => filters.every(({ value, dataset: { filter: key } }) =>
  !value || (key ? about(element, key) === value : element.textContent.toLowerCase().includes(value.toLowerCase())));

function filter() {
  let shown = 0;
  for (const section of document.querySelectorAll("section")) {
    const rows = [...section.querySelectorAll("tbody tr")];
    for (const row of rows) row.hidden = !fits(row);
    for (const part of section.querySelectorAll("details")) part.hidden = !part.querySelector("tbody tr:not([hidden])");
    const seen = rows.length ? rows.filter((row) => !row.hidden).length : Number(fits(section));
    section.hidden = !seen;
    shown += seen;
  }
  document.querySelector("output").textContent = `${shown} shown`;
}

if (filters.length) {
  for (const one of filters) one.addEventListener("input", filter);
  document.querySelector(".filters").addEventListener("submit", (event) => event.preventDefault());
  filter();
}
