// Light and dark, sorting, filters that stand in the address, CSV of what is shown, search, and values under the pointer.
"use strict";

const up = document.currentScript.dataset.up;
const stored = (() => { try { return localStorage; } catch { return {}; } })(); // some browsers refuse it for files
const page = document.documentElement;
const prefers = matchMedia("(prefers-color-scheme: dark)");
const isDark = () => (page.dataset.theme ? page.dataset.theme === "dark" : prefers.matches);
const paint = () => { page.toggleAttribute("data-dark", isDark()); };
if (stored.theme) page.dataset.theme = stored.theme;
paint();
prefers.addEventListener("change", paint);
document.getElementById("theme").addEventListener("click", () => {
  stored.theme = page.dataset.theme = isDark() ? "light" : "dark";
  paint();
});

// Tables: a click on a heading sorts, what is no number stays at the end.
const value = (row, column) => row.cells[column].dataset.value ?? row.cells[column].textContent.trim();
const number = (text) => (text === "inf" ? Infinity : text === "-inf" ? -Infinity : text === "" ? NaN : Number(text.replace(/,(?=\d{3})/g, "").replace(" %", "")));

function compare(a, b, sign) {
  const x = number(a), y = number(b);
  if (!isNaN(x) && !isNaN(y)) return x === y ? 0 : sign * (x < y ? -1 : 1);
  if (isNaN(x) !== isNaN(y)) return isNaN(x) ? 1 : -1;
  return sign * a.localeCompare(b);
}

document.querySelectorAll("th button").forEach((button) => button.addEventListener("click", () => {
  const heading = button.parentElement, body = heading.closest("table").tBodies[0];
  const rising = heading.ariaSort !== "ascending";
  for (const other of heading.parentElement.cells) other.ariaSort = null;
  heading.ariaSort = rising ? "ascending" : "descending";
  body.append(...[...body.rows].sort((a, b) => compare(value(a, heading.cellIndex), value(b, heading.cellIndex), rising ? 1 : -1)));
  heading.closest("[data-paged]")?.dispatchEvent(new Event("rows"));
}));

// Formulas that are wider than their place can be reached, and so scrolled, by the keyboard; others are not in its way.
function reach(parts) {
  for (const [part, wide] of parts.map((part) => [part, part.scrollWidth > part.clientWidth]))
    for (const [name, given] of [["tabindex", "0"], ["role", "region"], ["aria-label", "Formula"]])
      wide ? part.setAttribute(name, given) : part.removeAttribute(name);
}

const formulas = [...document.querySelectorAll(".scroll")];
const widths = new ResizeObserver((changes) => reach(changes.map((change) => change.target)));
reach(formulas);
formulas.forEach((part) => widths.observe(part));

// Long tables a page at a time: of the rows that fit.
const ROWS = 50;
document.querySelectorAll("[data-paged]").forEach((section) => {
  const bar = Object.assign(document.createElement("div"), { className: "pages", role: "group", ariaLabel: "Pages of the table" });
  const [before, after] = ["← previous", "next →"].map((textContent) => Object.assign(document.createElement("button"), { type: "button", textContent }));
  const told = document.createElement("output");
  let first = 0;
  const turn = (to) => {
    const rows = rowsOf(section).filter((row) => !row.hidden), end = Math.min(to + ROWS, rows.length);
    first = to;
    rows.forEach((row, i) => row.classList.toggle("off", i < first || i >= end));
    told.textContent = rows.length ? `${first + 1} to ${end} of ${rows.length}` : "";
    before.disabled = !first;
    after.disabled = end === rows.length;
    bar.hidden = rows.length <= ROWS;
  };
  before.addEventListener("click", () => turn(first - ROWS));
  after.addEventListener("click", () => turn(first + ROWS));
  section.addEventListener("rows", () => turn(0));
  bar.append(before, told, after);
  section.prepend(bar);
});

// CSV of the rows that are shown.
const quoted = (text) => (/[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
const plain = (cell) => cell.dataset.value || cell.textContent.trim().replace(/\s+/g, " ");

function csv(table) {
  const rows = [...table.rows].filter((row) => !row.hidden);
  return rows.map((row) => [...row.cells].filter((cell) => !cell.classList.contains("picture")).map((cell) => quoted(plain(cell))).join(",")).join("\n") + "\n";
}

document.querySelectorAll("table[data-name]").forEach((table) => {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "download";
  button.textContent = "Download CSV";
  button.setAttribute("aria-label", `Download CSV: ${table.dataset.name}`);
  button.addEventListener("click", () => {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([csv(table)], { type: "text/csv" }));
    link.download = `${table.dataset.name.replace(/[^\w.-]+/g, "_")}.csv`;
    link.click();
    URL.revokeObjectURL(link.href);
  });
  table.parentElement.after(button);
});

// Filters: what is chosen stands in the address after #, so that a view can be linked to.
const filters = [...document.querySelectorAll("[data-filter]")];
const rowsOf = (section) => [...section.querySelectorAll("tbody tr")];
const texts = new WeakMap();
const text = (element) => texts.get(element) ?? (texts.set(element, element.textContent.toLowerCase()), texts.get(element));
const fits = (element) => filters.every(({ value: wanted, dataset: { filter: key } }) =>
  !wanted || (key === "text" ? text(element).includes(wanted.toLowerCase()) : element.dataset[key] === wanted));

function filter() {
  let shown = 0;
  for (const section of document.querySelectorAll("main section")) {
    const rows = rowsOf(section);
    for (const row of rows) row.hidden = !fits(row);
    const seen = rows.length ? rows.filter((row) => !row.hidden).length : Number(fits(section));
    if (!rows.length) section.hidden = !seen;
    section.dispatchEvent(new Event("rows"));
    shown += seen;
  }
  document.querySelector(".filters output").textContent = `${shown} shown`;
}

function remember() {
  const chosen = filters.filter((one) => one.value).map((one) => [one.dataset.filter, one.value]);
  try { history.replaceState(null, "", `#${new URLSearchParams(chosen)}`); } catch { location.hash = new URLSearchParams(chosen); }
}

function recall() {
  const chosen = new URLSearchParams(location.hash.slice(1));
  for (const one of filters) one.value = chosen.get(one.dataset.filter) ?? "";
  filter();
}

if (filters.length) {
  for (const one of filters) one.addEventListener("input", () => { filter(); remember(); });
  document.querySelector(".filters").addEventListener("submit", (event) => event.preventDefault());
  addEventListener("hashchange", () => { if (location.hash.includes("=")) recall(); });
  recall();
  const go = () => {
    const place = !location.hash.includes("=") && document.getElementById(location.hash.slice(1));
    if (!place) return;
    for (const folded of place.querySelectorAll("details")) folded.open = true;
    place.scrollIntoView();
  };
  addEventListener("hashchange", go);
  go();
}

// Search over titles; its index is read when it is first wanted.
const box = document.getElementById("search"), list = document.getElementById("found");
let index = null;
window.found = (entries) => { index = entries; search(); };

function load() {
  if (index || document.getElementById("index")) return;
  const script = document.createElement("script");
  script.id = "index";
  script.src = `${up}search.js`;
  document.head.append(script);
}

function search() {
  const words = box.value.toLowerCase().split(/\s+/).filter(Boolean);
  list.replaceChildren();
  list.hidden = !words.length || !index;
  if (list.hidden) return;
  const hits = index.filter(([title, kind]) => words.every((word) => `${title} ${kind}`.toLowerCase().includes(word)));
  const starts = (entry) => Number(entry[0].toLowerCase().startsWith(words[0]));
  for (const [title, kind, file] of hits.sort((a, b) => starts(b) - starts(a)).slice(0, 30)) {
    const item = document.createElement("li"), link = document.createElement("a"), what = document.createElement("small");
    link.href = up + file;
    link.textContent = title;
    what.textContent = ` ${kind}`;
    item.append(link, what);
    list.append(item);
  }
  if (!hits.length) list.append(Object.assign(document.createElement("li"), { textContent: "Nothing found" }));
}

box.addEventListener("focus", load);
box.addEventListener("input", () => { load(); search(); });
box.addEventListener("keydown", (event) => { if (event.key === "Enter") list.querySelector("a")?.click(); });
document.addEventListener("keydown", (event) => {
  if (event.key === "/" && !/INPUT|SELECT|TEXTAREA/.test(document.activeElement.tagName)) { event.preventDefault(); box.focus(); }
  if (event.key === "Escape") { list.hidden = true; hide(); }
  if (!/ArrowDown|ArrowUp/.test(event.key) || list.hidden) return;
  const links = [box, ...list.querySelectorAll("a")], place = links.indexOf(document.activeElement);
  const next = links[place + (event.key === "ArrowDown" ? 1 : -1)];
  if (place >= 0 && next) { event.preventDefault(); next.focus(); }
});
document.addEventListener("click", (event) => { if (!event.target.closest("search")) list.hidden = true; });

// What is under the pointer: the text of an element, or the nearest point of a plot.
const tip = Object.assign(document.createElement("div"), { id: "tip", hidden: true });
document.body.append(tip);
const hide = () => { tip.hidden = true; };

function show(event, words) {
  tip.textContent = words;
  tip.hidden = false;
  tip.style.left = `${Math.min(event.clientX + 12, innerWidth - tip.offsetWidth - 8)}px`;
  tip.style.top = `${event.clientY + 16 + tip.offsetHeight > innerHeight ? event.clientY - tip.offsetHeight - 8 : event.clientY + 16}px`;
}

const pointsOf = new WeakMap();
function points(plot) {
  if (!pointsOf.has(plot)) {
    const paths = [...plot.querySelectorAll(".dots, .line")].map((path) => path.getAttribute("d"));
    pointsOf.set(plot, paths.flatMap((d) => [...d.matchAll(/[ML](-?[\d.]+) (-?[\d.]+)/g)].map((m) => [Number(m[1]), Number(m[2])])));
  }
  return pointsOf.get(plot);
}

function back(pixel, axis, first, last) {
  const [low, high, scale] = axis.split(","), share = (pixel - first) / (last - first);
  const given = scale === "log" ? Number(low) * (high / low) ** share : Number(low) + (high - low) * share;
  return given === 0 || (Math.abs(given) < 1e4 && Math.abs(given) >= 1e-3) ? String(Number(given.toPrecision(3))) : given.toExponential(2);
}

document.addEventListener("pointermove", (event) => {
  const told = event.target.closest?.("[data-tip]");
  if (told) return show(event, told.dataset.tip);
  const plot = event.target.closest?.(".plot[data-x]");
  if (!plot) return hide();
  const place = new DOMPoint(event.clientX, event.clientY).matrixTransform(plot.getScreenCTM().inverse());
  let best = null, least = 400;
  for (const point of points(plot)) {
    const far = (point[0] - place.x) ** 2 + (point[1] - place.y) ** 2;
    if (far < least) [best, least] = [point, far];
  }
  if (!best) return hide();
  const box = plot.querySelector(".axis"), [x, y, width, height] = ["x", "y", "width", "height"].map((name) => Number(box.getAttribute(name)));
  show(event, `${back(best[0], plot.dataset.x, x, x + width)}, ${back(best[1], plot.dataset.y, y + height, y)}`);
});
document.addEventListener("scroll", hide, { capture: true, passive: true });
