// What WCAG 2 asks for at levels A and AA and a script can see: names, labels, headings, lists, ids, keys and contrast.
const found = [], page = document;
const name = (e) => (e.ariaLabel || e.textContent || e.title || e.alt || "").trim();
if (!page.documentElement.lang || !page.title) found.push("no language or title");
if (page.querySelectorAll("main").length !== 1 || page.querySelectorAll("h1").length < 1) found.push("no main or h1");
for (const e of page.querySelectorAll("a[href], button")) if (!name(e) && e.offsetParent) found.push("no name: " + e.outerHTML.slice(0, 80));
for (const e of page.querySelectorAll("input, select")) if (!e.ariaLabel && !e.labels.length) found.push("no label: " + e.outerHTML.slice(0, 80));
for (const e of page.querySelectorAll("[role=img], [role=region]")) if (!e.ariaLabel) found.push("no name: " + e.outerHTML.slice(0, 80));
for (const e of page.querySelectorAll("ul > :not(li), dl > :not(dt, dd, div)")) found.push("list: " + e.outerHTML.slice(0, 80));
const ids = [...page.querySelectorAll("[id]")].map((e) => e.id);
if (new Set(ids).size !== ids.length) found.push("ids twice: " + ids.filter((id, i) => ids.indexOf(id) !== i).slice(0, 3));
let level = 1;
for (const e of page.querySelectorAll("main :is(h1, h2, h3, h4)")) { const own = Number(e.tagName[1]); if (own > level + 1 && !e.closest(".notebook, .doc")) found.push("heading: " + e.textContent); level = own; }
for (const e of page.querySelectorAll("*")) if (e.scrollWidth > e.clientWidth + 1 && /auto|scroll/.test(getComputedStyle(e).overflowX) && e.offsetParent && e.clientWidth > 0 &&
  !e.matches("[tabindex], :has(a, button, select, input)")) found.push("not scrolled by keys: " + e.outerHTML.slice(0, 80));
const rgb = (text) => text.match(/[\d.]+/g).map(Number);
const light = ([r, g, b]) => [r, g, b].map((v) => v / 255).map((v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)).reduce((s, v, i) => s + v * [0.2126, 0.7152, 0.0722][i], 0);
const behind = (e) => { for (; e; e = e.parentElement) { const c = rgb(getComputedStyle(e).backgroundColor); if (c.length < 4 || c[3] > 0) return c; } return [255, 255, 255]; };
const told = new Set();
for (const e of page.querySelectorAll("main *, header *")) {
  if (![...e.childNodes].some((n) => n.nodeType === 3 && n.data.trim()) || !e.offsetParent) continue;
  const style = getComputedStyle(e), a = light(rgb(style.color)), b = light(behind(e));
  const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05), large = parseFloat(style.fontSize) >= 24;
  const key = style.color + e.className; if (ratio < (large ? 3 : 4.5) && !told.has(key)) { told.add(key); found.push(`contrast ${ratio.toFixed(2)}: ` + e.outerHTML.slice(0, 90)); }
}
return found;
