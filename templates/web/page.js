
"use strict";
// Zooms and filters the chart. Every mark carries its instants (data-a, data-b); nothing is made of text.
(() => {
  const chart = document.getElementById("chart");
  if (!chart) return;
  const all = (selector, root = chart) => [...root.querySelectorAll(selector)];
  const one = (selector, root = chart) => root.querySelector(selector);
  const number = (element, name) => Number(element.dataset[name]);
  const svg = "http://www.w3.org/2000/svg";
  const LEFT = 132, INSET = 8, LEAST = 5000, MOST_TICKS = 7;
  const STEPS = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800,
    ...[1, 2, 3, 6, 12, 24, 48, 168, 336, 672].map((n) => 3600 * n)];
  const plot = one(".plot"), drawing = one(".drawing"), field = one(".field"), axis = one(".axis");
  const height = drawing.viewBox.baseVal.height;
  const start = [number(chart, "lo"), number(chart, "hi")], whole = [number(chart, "first"), number(chart, "last")];
  const marks = all(".mark"), bands = all(".band"), lines = all(".line");
  const table = all("#timeline table", document).pop();
  const rows = table ? all("tbody tr", table) : [];
  const chosen = one("[data-chosen]"), evidence = one("[data-evidence]"), toRow = one("[data-row]");
  const nothing = chosen.textContent;
  let [lo, hi] = start, width = field.width.baseVal.value, picked = null, waiting = false;

  const x = (at) => INSET + (at - lo) / (hi - lo) * (width - 2 * INSET);
  const end = (mark) => mark.dataset.b === undefined ? number(mark, "a") : number(mark, "b");
  const set = (element, values) => Object.entries(values).forEach(([name, value]) => element.setAttribute(name, value));
  const make = (name, values, parent) => {
    const element = parent.appendChild(document.createElementNS(svg, name));
    set(element, values);
    return element;
  };
  const two = (n) => String(n).padStart(2, "0");

  function label(at, step, span) {
    const day = new Date(at);
    const date = `${two(day.getUTCMonth() + 1)}-${two(day.getUTCDate())}`;
    if (step >= 86400000) return date;
    const clock = `${two(day.getUTCHours())}:${two(day.getUTCMinutes())}` + (step < 60000 ? `:${two(day.getUTCSeconds())}` : "");
    return span > 86400000 ? `${date} ${clock}` : clock;
  }

  function ticks() {
    axis.replaceChildren();
    const most = Math.max(2, Math.min(MOST_TICKS * 2, Math.floor(width / 110)));
    const step = 1000 * (STEPS.find((s) => (hi - lo) / 1000 / s <= most) || STEPS.at(-1));
    for (let at = Math.ceil(lo / step) * step; at <= hi; at += step) {
      const tick = make("g", {transform: `translate(${x(at).toFixed(1)} 0)`}, axis);
      make("path", {d: `M0 0V${height - 30}`}, tick);
      const side = x(at) > width - 45 ? "end" : x(at) < 45 ? "start" : "";
      make("text", {y: height - 14, class: side}, tick).textContent = label(at, step, hi - lo);
    }
  }

  function place(mark) {
    const a = number(mark, "a"), b = end(mark);
    mark.classList.toggle("out", a > hi || b < lo);
    if (mark.tagName === "path") {
      mark.setAttribute("transform", `translate(${x(a).toFixed(1)} ${mark.dataset.y})`);
    } else {
      const left = x(Math.max(a, lo));
      set(mark, {x: left.toFixed(1), width: Math.max(x(Math.min(b, hi)) - left, 1.5).toFixed(1)});
    }
  }

  function draw() {
    waiting = false;
    [...marks, ...bands].forEach(place);
    lines.forEach((line) => line.setAttribute("points", line.dataset.p.trim().split(" ").map((pair) => {
      const [at, y] = pair.split(",");
      return `${x(Number(at)).toFixed(1)},${y}`;
    }).join(" ")));
    ticks();
    set(chart, {"data-lo": Math.round(lo), "data-hi": Math.round(hi)});
  }

  function later() {
    if (!waiting) requestAnimationFrame(draw);
    waiting = true;
  }

  function show(from, to) {
    const span = Math.min(Math.max(to - from, LEAST), whole[1] - whole[0]);
    const middle = (from + to) / 2;
    lo = Math.min(Math.max(middle - span / 2, whole[0]), whole[1] - span);
    hi = lo + span;
    later();
  }

  const zoom = (factor, at = (lo + hi) / 2) => show(at - (at - lo) * factor, at + (hi - at) * factor);
  const move = (share) => show(lo + (hi - lo) * share, hi + (hi - lo) * share);

  function fit() {
    const wide = plot.clientWidth;
    if (!wide) return;
    width = Math.max(wide - LEFT, 200);
    drawing.setAttribute("viewBox", `0 0 ${LEFT + width} ${height}`);
    field.setAttribute("width", width);
    all(".rule").forEach((rule) => rule.setAttribute("d", rule.getAttribute("d").replace(/H[\d.]+/, `H${LEFT + width}`)));
    later();
  }

  function pick(mark, moved) {
    if (picked) picked.classList.remove("picked");
    rows.forEach((row) => row.classList.remove("chosen"));
    picked = mark;
    evidence.replaceChildren();
    toRow.hidden = true;
    chosen.textContent = mark ? one("title", mark).textContent : nothing;
    if (!mark) return;
    mark.classList.add("picked");
    const row = rows[mark.dataset.n];
    if (row) {
      row.classList.add("chosen");
      all("a", row).forEach((link) => evidence.append(link.cloneNode(true), " "));
      row.id = row.id || `row-${mark.dataset.n}`;
      toRow.href = `#${row.id}`;
      toRow.hidden = false;
    }
    const a = number(mark, "a"), b = end(mark);
    if (moved && (a > hi || b < lo)) show(a - (hi - lo) / 2, a + (hi - lo) / 2);
  }

  function step(by) {
    const order = marks.filter((mark) => !mark.classList.contains("off")).sort((m, n) => number(m, "a") - number(n, "a"));
    if (!order.length) return;
    const from = picked ? order.indexOf(picked) : order.findIndex((mark) => end(mark) >= lo) - (by > 0 ? 1 : 0);
    pick(order[Math.min(Math.max(from + by, 0), order.length - 1)], true);
  }

  const boxes = all("input[data-dimension]");
  function filter() {
    const allowed = {};
    boxes.forEach((box) => {
      allowed[box.dataset.dimension] ||= new Set();
      if (box.checked) allowed[box.dataset.dimension].add(box.value);
    });
    const passes = (mark) => Object.entries(allowed).every(([name, values]) =>
      mark.dataset[name] === undefined || mark.dataset[name].split(" ").some((value) => values.has(value)));
    marks.forEach((mark) => mark.classList.toggle("off", !passes(mark)));
    lines.forEach((line) => line.classList.toggle("off", !all(".mark:not(.off)", line.parentNode).length));
    marks.forEach((mark) => {
      if (rows[mark.dataset.n]) rows[mark.dataset.n].hidden = mark.classList.contains("off");
    });
    all("[data-shown]").forEach((place) => { place.textContent = rows.filter((row) => !row.hidden).length; });
    if (picked && picked.classList.contains("off")) pick(null);
  }

  const deeds = {
    in: () => zoom(0.5), out: () => zoom(2), earlier: () => move(-0.4), later: () => move(0.4),
    start: () => show(...start), whole: () => show(...whole),
    all: () => { boxes.forEach((box) => { box.checked = true; }); filter(); },
  };
  const keys = {
    "+": deeds.in, "=": deeds.in, "-": deeds.out, "0": deeds.start, "Home": deeds.whole, "ArrowLeft": () => move(-0.2),
    "ArrowRight": () => move(0.2), "ArrowDown": () => step(1), "ArrowUp": () => step(-1), "Escape": () => pick(null),
    "Enter": () => { if (!toRow.hidden) toRow.click(); },
  };
  all("button[data-do]").forEach((button) => button.addEventListener("click", deeds[button.dataset.do]));
  boxes.forEach((box) => box.addEventListener("change", filter));
  plot.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || !keys[event.key]) return;
    event.preventDefault();
    keys[event.key]();
  });
  const under = (event) => lo + ((event.clientX - field.getScreenCTM().e) / field.getScreenCTM().a - INSET) / (width - 2 * INSET) * (hi - lo);
  plot.addEventListener("wheel", (event) => {
    if (!event.ctrlKey && document.activeElement !== plot) return;
    event.preventDefault();
    if (Math.abs(event.deltaX) > Math.abs(event.deltaY) || event.shiftKey) move((event.deltaX || event.deltaY) / 1000);
    else zoom(Math.exp(Math.max(-1, Math.min(1, event.deltaY / 300))), under(event));
  }, {passive: false});
  let held = null;
  drawing.addEventListener("pointerdown", (event) => {
    if (event.button) return;
    held = {x: event.clientX, lo, hi, moved: false};
  });
  window.addEventListener("pointermove", (event) => {
    if (!held) return;
    const by = (event.clientX - held.x) / (plot.clientWidth - LEFT) * (held.hi - held.lo);
    held.moved ||= Math.abs(event.clientX - held.x) > 4;
    drawing.classList.toggle("held", held.moved);
    if (held.moved) show(held.lo - by, held.hi - by);
  });
  window.addEventListener("pointerup", (event) => {
    const mark = event.target.closest ? event.target.closest(".mark") : null;
    if (held && !held.moved && mark) pick(mark);
    held = null;
    drawing.classList.remove("held");
  });
  window.addEventListener("pointercancel", () => { held = null; });
  new ResizeObserver(fit).observe(plot);
  filter();
})();
