// The page of a report. Texts come from other people's tables: they are set as text, never as markup.
"use strict";
(async () => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const $ = (id) => document.getElementById(id);
  const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue("--" + name).trim();

  /** An element with a class and texts or elements inside. */
  function make(tag, name, ...inside) {
    const element = document.createElement(tag);
    if (name) element.className = name;
    element.append(...inside);
    return element;
  }

  // ---- numbers -------------------------------------------------------------------------------------------

  /** What base64 text holds, inflated. */
  async function inflate(text) {
    const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
    return new Uint8Array(await new Response(stream).arrayBuffer());
  }
  const packed = await inflate(data.packed);
  const columns = new Map();
  /** A stored column: start + n·step, the n as differences, in planes of bytes; what is not known is null. */
  function column(place) {
    if (!columns.has(place)) {
      const { start, step, at, count } = data.columns[place], numbers = new Array(count);
      // A power of ten below 1 is divided by, so that decimals are those that were written.
      const inverse = Math.round(1 / step), parts = step < 1 && Math.abs(inverse * step - 1) < 1e-12 ? inverse : 0;
      const byte = (plane, k) => packed[at + plane * count + k];
      for (let k = 0, n = 0; k < count; k++) {
        const z = byte(0, k) + byte(1, k) * 0x100 + byte(2, k) * 0x10000 + byte(3, k) * 0x1000000;
        if (z === 0xffffffff) { numbers[k] = null; continue; }
        n += z % 2 ? -(z + 1) / 2 : z / 2;
        numbers[k] = start + (parts ? n / parts : n * step);
      }
      columns.set(place, numbers);
    }
    return columns.get(place);
  }

  /** Increasing times: the second of two equal ones, a jump, is moved by the smallest step there is. */
  function increasing(times) {
    const moved = times.slice();
    for (let i = 1; i < moved.length; i++) {
      if (moved[i] <= moved[i - 1]) moved[i] = moved[i - 1] + Math.max(Math.abs(moved[i - 1]), 1e-300) * 2.3e-16;
    }
    return moved;
  }

  /** So many digits that count, without needless zeros. */
  function written(x, digits = 6) {
    if (x == null || !Number.isFinite(x)) return "–";
    if (x === 0) return "0";
    const size = Math.abs(x);
    if (size >= 1e7 || size < 1e-4) return x.toExponential(digits - 2).replace(/\.?0+e/, "e").replaceAll("-", "−");
    return String(Number(x.toPrecision(digits))).replace("-", "−");
  }

  // ---- times ---------------------------------------------------------------------------------------------

  const dated = data.time.kind === "timestamp";
  const months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
  const two = (x) => String(x).padStart(2, "0");

  /** A date whose local fields are those of the table's zone. */
  function zoned(seconds) {
    const { zone, offset } = data.time;
    if (zone) {
      try { return uPlot.tzDate(new Date(seconds * 1e3), zone); } catch { /* unknown to this browser */ }
    }
    return uPlot.tzDate(new Date((seconds + offset) * 1e3), "UTC");
  }
  const day = (d) => `${d.getDate()} ${months[d.getMonth()]} ${d.getFullYear()}`;
  const clock = (d) => `${two(d.getHours())}:${two(d.getMinutes())}`;

  function moment(time) {
    if (!dated) return written(time);
    const d = zoned(time), seconds = d.getSeconds() + (time % 1 + 1) % 1;
    const exact = seconds === 0 ? "" : ":" + (seconds % 1 ? seconds.toFixed(3).padStart(6, "0") : two(seconds));
    return `${day(d)}, ${clock(d)}${exact}`;
  }

  /** Labels of the time axis; a second line gives the day or year where it changes. */
  function timeLabels(_, times, __, ___, step) {
    let before = "";
    return times.map((time) => {
      if (time == null) return "";
      if (!dated) return written(time);
      const d = zoned(time);
      const [label, context] =
        step < 60 ? [`${clock(d)}:${two(d.getSeconds())}`, day(d)]
        : step < 86400 ? [clock(d), day(d)]
        : step < 86400 * 28 ? [`${d.getDate()} ${months[d.getMonth()]}`, d.getFullYear()]
        : step < 86400 * 360 ? [months[d.getMonth()], d.getFullYear()]
        : [String(d.getFullYear()), ""];
      const shown = context === before ? label : `${label}\n${context}`;
      before = context;
      return shown;
    });
  }

  // ---- what is shown -------------------------------------------------------------------------------------

  /** Everything that can be switched off; `parts` are the names of uPlot's lines. */
  const marks = [
    { key: "observed", text: "observed", swatch: "dot", paint: "observed" },
    { key: "filled", text: "filled", swatch: "dot", paint: "filled" },
    { key: "smoothed", text: "curve ô", swatch: "", paint: "smoothed" },
    { key: "band", text: "band", swatch: "area", paint: "band" },
    { key: "predicted", text: "prediction o", swatch: "dashed", paint: "predicted" },
    { key: "compensation", text: "compensation c", swatch: "", paint: "compensation" },
    { key: "gaps", text: "gaps", swatch: "area", paint: "gap" },
  ];
  // For those who want to see how the curve came about.
  const hiddenMarks = new Set(["predicted", "compensation"]);
  const lineMark = (key) => (key === "lower" || key === "upper" ? "band" : key);

  let charts = [];
  let guard = false;
  const channel = () => data.series[$("series").value]?.channels[$("channel").value];

  function has(channel, key) {
    if (key === "observed" || key === "filled") return column(channel[key][0]).length > 0;
    if (key === "gaps") return channel.gaps.length > 0;
    const part = key === "predicted" || key === "compensation" ? channel.curve?.model : channel.curve;
    return part?.[key] != null;
  }

  /** Tables of times and columns of the main chart, and the name of every column. */
  function tables(channel) {
    const found = [], names = [];
    const { curve } = channel;
    const add = (times, ...lines) => {
      found.push([increasing(column(times)), ...lines.map(([, place]) => column(place))]);
      names.push(...lines.map(([name]) => name));
    };
    // In the order they are drawn: what was filled in stands in front of all else.
    if (curve?.band) add(curve.band.times, ["lower", curve.band.lower], ["upper", curve.band.upper]);
    if (curve?.model?.predicted != null) add(curve.model.times, ["predicted", curve.model.predicted]);
    if (curve) add(curve.times, ["smoothed", curve.smoothed]);
    for (const name of ["observed", "filled"]) {
      if (has(channel, name)) {
        found.push([increasing(column(channel[name][0])), column(channel[name][1])]);
        names.push(name);
      }
    }
    return { found, names };
  }

  function line(name) {
    const base = { label: name, show: !hiddenMarks.has(lineMark(name)), points: { show: false } };
    switch (name) {
      case "lower": case "upper": return { ...base, stroke: "transparent", width: 0 };
      case "smoothed": return { ...base, stroke: colour("smoothed"), width: 1.75 };
      case "predicted": return { ...base, stroke: colour("predicted"), width: 1.25, dash: [5, 3] };
      case "compensation": return { ...base, stroke: colour("compensation"), width: 1.5, fill: colour("compensation") + "28" };
      default: {
        const paint = colour(name);
        // Where dots touch each other they let the curve shine through.
        const faded = (u, index) => paint + (u.series[index].points.size < 3 ? "70" : "");
        // A rim sets what was filled in off from the rest, where there is room for one.
        const light = (u, index) => (u.series[index].points.size < 6 ? paint : colour("paper"));
        const rim = name === "filled" ? { stroke: light, width: 1 } : { stroke: faded, width: 0.5 };
        const points = { show: true, size: 6, fill: faded, ...rim };
        return { ...base, paths: () => null, points, stroke: paint };
      }
    }
  }

  const narrow = () => innerWidth < 640;
  /** Room right of every chart, so that they stand exactly above each other. */
  const RIGHT = 16;
  const axis = () => ({
    stroke: colour("quiet"), font: "12px Inter, system-ui, sans-serif",
    grid: { stroke: colour("line"), width: 1 }, ticks: { show: false },
  });

  function options(lines, height, extra) {
    const labels = (_, values) => values.map((x) => written(x));
    // As wide as the longest label, so that panels stand exactly above each other.
    const size = () => (narrow() ? 48 : 66);
    return {
      width: $("charts").clientWidth, height, legend: { show: false }, tzDate: dated ? zoned : undefined,
      scales: { x: { time: dated } }, padding: [12, RIGHT, 0, 0],
      axes: [{ ...axis(), values: timeLabels, space: narrow() ? 70 : 90, size: 46 }, { ...axis(), values: labels, size }],
      series: [{}, ...lines],
      cursor: { sync: { key: "time" }, drag: { x: true, y: false, dist: 4 }, points: { size: 8 }, dataIdx: nearest },
      ...extra,
    };
  }

  /** The place of the nearest known value of a line, or null when it is far from the pointer. */
  function nearest(u, seriesIndex, index, atTime) {
    if (seriesIndex === 0) return index;
    const values = u.data[seriesIndex], times = u.data[0];
    let left = index, right = index;
    while (left > 0 && values[left] == null) left--;
    while (right < values.length - 1 && values[right] == null) right++;
    const away = (at) => (values[at] == null ? Infinity : Math.abs(times[at] - atTime));
    const best = away(left) <= away(right) ? left : right;
    const pixels = Math.abs(u.valToPos(times[best], "x") - u.valToPos(atTime, "x"));
    return pixels <= 14 && values[best] != null ? best : null;
  }

  const gapShade = (u) => {
    if (hiddenMarks.has("gaps")) return;
    const { ctx, bbox } = u;
    ctx.save();
    ctx.fillStyle = colour("gap");
    for (const [start, end] of channel().gaps) {
      const from = Math.max(u.valToPos(start, "x", true), bbox.left);
      const to = Math.min(u.valToPos(end, "x", true), bbox.left + bbox.width);
      if (to > from) ctx.fillRect(from, bbox.top, to - from, bbox.height);
    }
    ctx.restore();
  };

  /** Dots that do not drown each other at this zoom. */
  function sizeDots(u) {
    const { min, max } = u.scales.x;
    u.series.forEach((series, index) => {
      if (index === 0 || !series.points.show) return;
      const [times, values] = [u.data[0], u.data[index]];
      let count = 0;
      for (let i = 0; i < times.length; i++) if (values[i] != null && times[i] >= min && times[i] <= max) count++;
      const fitting = (0.6 * u.bbox.width) / devicePixelRatio / Math.max(count, 1);
      // What was filled in is what is looked for: never smaller than can be seen.
      series.points.size = Math.min(Math.max(fitting, series.label === "filled" ? 4 : 2), series.label === "filled" ? 8 : 6.5);
    });
  }

  // ---- moving in time ------------------------------------------------------------------------------------

  function show(min, max, except) {
    if (guard) return;
    guard = true;
    for (const chart of charts) if (chart !== except) chart.setScale("x", { min, max });
    guard = false;
    strip?.redraw(false);
    if (charts.length) tellGap();
  }
  const whole = () => {
    const times = charts.map((chart) => chart.data[0]).filter((times) => times.length);
    return [Math.min(...times.map((t) => t[0])), Math.max(...times.map((t) => t[t.length - 1]))];
  };

  // ---- from gap to gap -----------------------------------------------------------------------------------

  const middle = ([start, end]) => (start + end) / 2;
  const median = (numbers) => numbers.sort((a, b) => a - b)[numbers.length >> 1];
  /** The gap that was gone to, as long as it is still what is shown. */
  let visited = null;

  /** Gaps in which something was filled, or all where nothing was. */
  function gapsOf(channel) {
    const times = column(channel.filled[0]);
    const inside = ([start, end]) => {
      let low = 0, high = times.length;
      while (low < high) { const at = (low + high) >> 1; if (times[at] <= start) low = at + 1; else high = at; }
      return low < times.length && times[low] < end;
    };
    const some = channel.gaps.filter(inside);
    return some.length ? some : channel.gaps;
  }

  /** The gap with enough around it to judge what was filled in. */
  function aroundGap([start, end]) {
    const times = column(channel().observed[0]), [first, last] = whole();
    const step = times.length > 1 ? median(times.slice(1).map((time, k) => time - times[k])) : 0;
    const around = Math.max(2 * (end - start), 24 * step);
    const [from, to] = [Math.max(start - around, first), Math.min(end + around, last)];
    return to - from < 0.7 * (last - first) ? [from, to] : [first, last];
  }

  function goTo(index) {
    const gaps = gapsOf(channel()), gap = gaps[index];
    if (!gap) return;
    const [min, max] = aroundGap(gap);
    // Before it is shown: the chart tells when it has come there.
    visited = { index, min, max };
    show(min, max);
  }

  /** The next gap (direction 1) or the previous one (-1), from what is shown. */
  function step(direction) {
    const gaps = gapsOf(channel());
    if (!gaps.length) return;
    const { min, max } = charts[0].scales.x;
    if (visited && visited.min === min && visited.max === max) return goTo((visited.index + direction + gaps.length) % gaps.length);
    const centre = (min + max) / 2;
    const later = gaps.findIndex((gap) => middle(gap) > centre), after = later < 0 ? gaps.length : later;
    goTo((direction > 0 ? after : after - 1 + gaps.length) % gaps.length);
  }

  /** The gap whose length is in the middle of all. */
  function typicalGap() {
    const gaps = gapsOf(channel()), length = ([start, end]) => end - start;
    return gaps.findIndex((gap) => length(gap) === median(gaps.map(length)));
  }

  function lengthText(length) {
    if (!dated) return written(length, 3);
    const [unit, name] = [[86400, "days"], [3600, "hours"], [60, "minutes"], [1, "seconds"]].find(([unit]) => length >= 1.5 * unit) ?? [1, "seconds"];
    return `${written(length / unit, 3)} ${name}`;
  }

  function tellGap() {
    const gaps = gapsOf(channel()), { min, max } = charts[0]?.scales.x ?? {};
    $("walk").hidden = !gaps.length;
    const here = visited && visited.min === min && visited.max === max;
    $("gap").textContent = here
      ? `Gap ${(visited.index + 1).toLocaleString("en")} of ${gaps.length.toLocaleString("en")}, ${lengthText(gaps[visited.index][1] - gaps[visited.index][0])} long`
      : `${gaps.length.toLocaleString("en")} ${gaps.length === 1 ? "gap" : "gaps"}`;
  }

  // ---- the whole series as a strip -----------------------------------------------------------------------

  let strip = null;
  function drawStrip(shown) {
    strip?.destroy();
    strip = null;
    const tables = ["observed", "filled"].filter((name) => has(shown, name))
      .map((name) => [increasing(column(shown[name][0])), column(shown[name][1])]);
    if (!tables.length) return $("strip").replaceChildren();
    const lines = { observed: { stroke: colour("quiet"), width: 1, points: { show: false } }, filled: { ...line("filled"), show: true } };
    lines.filled.points = { show: true, size: 3, fill: colour("filled"), stroke: colour("filled"), width: 0 };
    const names = ["observed", "filled"].filter((name) => has(shown, name));
    const joined = tables.length > 1 ? uPlot.join(tables) : tables[0];
    const window = (u) => {
      const { min, max } = charts[0]?.scales.x ?? {};
      if (min == null) return;
      const { ctx, bbox } = u, edge = (time) => Math.min(Math.max(u.valToPos(time, "x", true), bbox.left), bbox.left + bbox.width);
      const [from, to] = [edge(min), Math.max(edge(max), edge(min) + 3)];
      ctx.save();
      ctx.fillStyle = colour("veil");
      ctx.fillRect(bbox.left, bbox.top, from - bbox.left, bbox.height);
      ctx.fillRect(to, bbox.top, bbox.left + bbox.width - to, bbox.height);
      ctx.strokeStyle = colour("accent");
      ctx.lineWidth = 1.5 * devicePixelRatio;
      ctx.strokeRect(from, bbox.top, to - from, bbox.height);
      ctx.restore();
    };
    strip = new uPlot({
      width: $("strip").clientWidth, height: 56, legend: { show: false }, tzDate: dated ? zoned : undefined,
      scales: { x: { time: dated } }, padding: [2, RIGHT, 2, narrow() ? 48 : 66],
      axes: [{ show: false }, { show: false }], series: [{}, ...names.map((name) => ({ label: name, ...lines[name] }))],
      cursor: { show: false }, hooks: { draw: [window] },
    }, joined, $("strip"));
    const move = (event) => {
      const { min, max } = charts[0].scales.x, [first, last] = whole();
      // From the whole series a twentieth is shown.
      const length = max - min < 0.95 * (last - first) ? max - min : (last - first) / 20;
      const at = strip.posToVal(event.clientX - strip.over.getBoundingClientRect().left, "x");
      const from = Math.min(Math.max(at - length / 2, first), last - length);
      show(from, from + length);
    };
    strip.over.addEventListener("pointerdown", (event) => { strip.over.setPointerCapture(event.pointerId); move(event); });
    strip.over.addEventListener("pointermove", (event) => { if (event.buttons) move(event); });
  }

  function onWheel(u, event) {
    event.preventDefault();
    const { min, max } = u.scales.x, [start, end] = whole();
    const length = max - min;
    const sideways = event.shiftKey ? event.deltaY || event.deltaX : event.deltaX;
    if (Math.abs(sideways) > Math.abs(event.shiftKey ? 0 : event.deltaY)) {
      const by = Math.min(Math.max((sideways / u.over.clientWidth) * length, start - min), end - max);
      return show(min + by, max + by);
    }
    const at = u.posToVal(event.clientX - u.over.getBoundingClientRect().left, "x");
    const factor = Math.exp(Math.sign(event.deltaY) * Math.min(Math.abs(event.deltaY), 120) * 0.002);
    const least = (end - start) * 1e-6;
    const from = Math.max(at - (at - min) * factor, start), to = Math.min(at + (max - at) * factor, end);
    if (to - from > least) show(from, to);
  }

  // ---- the tooltip ---------------------------------------------------------------------------------------

  const tooltip = make("div");
  tooltip.id = "tooltip";
  tooltip.hidden = true;

  function tell(u) {
    const { left, idx } = u.cursor;
    if (left == null || left < 0 || idx == null) {
      tooltip.hidden = true;
      return;
    }
    const rows = [];
    const pointer = u.posToVal(left, "x");
    let time = pointer, closest = null;
    for (const chart of charts) {
      chart.series.forEach((series, index) => {
        const at = chart.cursor.idxs?.[index];
        if (index === 0 || at == null || !series.show || chart.data[index][at] == null) return;
        const row = [series.label, chart.data[index][at]], away = Math.abs(chart.data[0][at] - pointer);
        if (!["observed", "filled"].includes(series.label)) rows.push(row);
        else if (closest == null || away < closest.away) closest = { row, away, time: chart.data[0][at] };
      });
    }
    // Of the points only the one meant: the others belong to other times.
    if (closest) {
      rows.push(closest.row);
      time = closest.time;
    }
    const table = make("table");
    const order = ["observed", "filled", "smoothed", "upper", "lower", "predicted", "compensation"];
    rows.sort((a, b) => order.indexOf(a[0]) - order.indexOf(b[0]));
    for (const [name, value] of rows) {
      const mark = marks.find(({ key }) => key === lineMark(name));
      const label = name === "lower" || name === "upper" ? `band, ${name} end` : mark.text;
      table.append(make("tr", "", make("td", "", swatch(mark)), make("td", "", label), make("td", "", written(value))));
    }
    tooltip.replaceChildren(make("b", "", moment(time)), table);
    tooltip.hidden = false;
    const room = $("charts").getBoundingClientRect(), over = u.over.getBoundingClientRect();
    const x = over.left - room.left + left;
    const flip = x + tooltip.offsetWidth + 24 > room.width;
    tooltip.style.left = (flip ? x - tooltip.offsetWidth - 16 : x + 16) + "px";
    tooltip.style.top = over.top - room.top + 8 + "px";
  }

  function swatch({ swatch, paint }) {
    const element = make("span", "swatch " + swatch);
    element.style[swatch === "area" ? "background" : "color"] = `var(--${paint})`;
    if (swatch === "" || swatch === "dashed") element.style.borderColor = `var(--${paint})`;
    return element;
  }

  // ---- drawing -------------------------------------------------------------------------------------------

  const hooks = () => ({
    drawClear: [gapShade],
    setCursor: [(u) => { if (u.over.matches(":hover")) tell(u); }],
    setScale: [(u, key) => {
      if (key !== "x") return;
      sizeDots(u);
      show(u.scales.x.min, u.scales.x.max, u);
    }],
    ready: [(u) => {
      u.over.addEventListener("wheel", (event) => onWheel(u, event), { passive: false });
      u.over.addEventListener("mouseleave", () => { tooltip.hidden = true; });
    }],
  });

  function draw() {
    charts.forEach((chart) => chart.destroy());
    charts = [];
    const shown = channel();
    const { found, names } = shown ? tables(shown) : { found: [], names: [] };
    if (!names.length) {
      $("charts").replaceChildren(make("div", "empty", "There is nothing to draw."));
      $("strip").replaceChildren();
      $("walk").hidden = true;
      return;
    }
    $("charts").replaceChildren(tooltip);
    const height = Math.max(300, Math.min(460, innerHeight - 330));
    const upper = names.indexOf("upper") + 1, lower = names.indexOf("lower") + 1;
    const bands = upper ? [{ series: [upper, lower], fill: colour("band") }] : [];
    // What is not known in a line reaches as far as its table says nothing, not only to the next time of another one.
    const modes = found.map((table) => table.map(() => 2));
    const joined = found.length > 1 ? uPlot.join(found, modes) : found[0];
    const main = new uPlot(options(names.map(line), height, { bands, hooks: hooks() }), joined, $("charts"));
    charts.push(main);
    const model = shown.curve?.model;
    if (model?.compensation != null && !hiddenMarks.has("compensation")) {
      $("charts").append(make("div", "caption", "compensation c"));
      const values = [increasing(column(model.times)), column(model.compensation)];
      charts.push(new uPlot(options([line("compensation")], 140, { hooks: hooks() }), values, $("charts")));
    }
    sizeDots(main);
    drawStrip(shown);
    tellCounts(shown);
  }

  /** What is seen first: a typical gap, or everything where there is none. */
  function drawAnew() {
    visited = null;
    draw();
    if (!charts.length) return;
    show(...whole());
    const typical = typicalGap();
    if (typical >= 0) goTo(typical);
  }

  function tellCounts({ counts: [observed, filled], gaps }) {
    const parts = [[observed, "observed"], [filled, "filled"], [gaps.length, gaps.length === 1 ? "gap" : "gaps"]];
    const text = parts.filter(([count]) => count).map(([count, name]) => `${count.toLocaleString("en")} ${name}`).join(", ");
    $("counts").textContent = text && text + ".";
  }

  function drawToggles() {
    const present = marks.filter(({ key }) => data.series.some((series) => series.channels.some((c) => has(c, key))));
    $("explained").hidden = !present.some(({ key }) => key === "predicted" || key === "compensation");
    $("toggles").replaceChildren(...present.map((mark) => {
      const button = make("button", "", swatch(mark), mark.text);
      button.type = "button";
      button.dataset.mark = mark.key;
      button.setAttribute("aria-pressed", !hiddenMarks.has(mark.key));
      button.onclick = () => {
        if (!hiddenMarks.delete(mark.key)) hiddenMarks.add(mark.key);
        button.setAttribute("aria-pressed", !hiddenMarks.has(mark.key));
        toggled(mark.key);
      };
      return button;
    }));
  }

  function toggled(key) {
    if (key === "compensation") {
      const { min, max } = charts[0]?.scales.x ?? {};
      draw();
      show(...whole());
      if (min != null) show(min, max);
    } else {
      for (const chart of charts) {
        chart.series.forEach((series, index) => {
          if (index && lineMark(series.label) === key) chart.setSeries(index, { show: !hiddenMarks.has(key) });
        });
        chart.redraw();
      }
    }
  }

  // ---- the rest of the page ------------------------------------------------------------------------------

  function fillSelect(select, names) {
    select.replaceChildren(...names.map((name, value) => new Option(name, value)));
    select.parentElement.hidden = names.length < 2;
  }

  function fillHead() {
    $("title").textContent = data.title;
    const chosen = data.comparison.filter((score) => score.chosen).map((score) => score.name);
    const each = chosen.length > 1 ? ", each column by its best" : "";
    const parts = [chosen.length && `Filled by ${chosen.join(", ")}${each}`, data.left_out && `${data.left_out} further series are left out of this page`,
      data.thinned && "points too close to be told apart are left out"];
    $("subtitle").textContent = parts.filter(Boolean).join(" · ");
    const zone = dated ? ` · times in ${data.time.zone ?? "UTC" + (data.time.offset < 0 ? "−" : "+") + Math.abs(data.time.offset) / 3600}` : "";
    $("program").textContent = `Made by ${data.program}${zone}`;
  }

  function fillScores() {
    const { comparison } = data;
    if (!comparison.length) return;
    $("comparison").hidden = false;
    const covered = comparison.some((score) => score.coverage != null), noted = comparison.some((score) => score.note);
    const heads = ["Method", "Mean squared error", "Mean absolute error", "Relative error"];
    if (covered) heads.push("Inside the band");
    if (noted) heads.push("Note");
    const head = make("tr", "", ...heads.map((text) => make("th", text === "Note" ? "note" : "", text)));
    const rows = comparison.map((score) => {
      const name = make("td", "", score.name);
      if (score.chosen) name.append(make("span", "badge", "chosen"));
      const cells = [name, ...[score.mse, score.mae, score.relative_error].map((x) => make("td", "", written(x, 4)))];
      if (covered) cells.push(make("td", "", score.coverage == null ? "–" : (100 * score.coverage).toFixed(1) + " %"));
      if (noted) cells.push(make("td", "note", score.note ?? ""));
      return make("tr", score.chosen ? "chosen" : "", ...cells);
    });
    $("scores").replaceChildren(make("thead", "", head), make("tbody", "", ...rows));
    fillColumns();
  }

  /** The errors of every method in every column, the smallest of each column marked. */
  function fillColumns() {
    const methods = data.comparison.filter(({ by_column }) => by_column.length);
    if (data.score_columns.length < 2 || methods.length < 2) return;
    $("columns-part").hidden = false;
    const head = make("tr", "", make("th", "", "Column"), ...methods.map(({ name }) => make("th", "", name)));
    const rows = data.score_columns.map((name, k) => {
      const errors = methods.map(({ by_column }) => by_column[k]);
      const least = Math.min(...errors.filter((x) => x != null));
      return make("tr", "", make("td", "", name), ...errors.map((x) => make("td", x === least ? "least" : "", written(x, 4))));
    });
    $("by-column").replaceChildren(make("thead", "", head), make("tbody", "", ...rows));
  }

  let training;
  function drawTraining() {
    training?.destroy();
    const paints = ["smoothed", "predicted", "compensation", "filled", "observed"];
    const positive = (points) => points.filter(([, y]) => y > 0);
    const curves = data.training.flatMap(({ method, loss, validation }, index) => [
      { text: `${method}, loss`, points: positive(loss), paint: paints[index % paints.length], dash: [4, 3], width: 1 },
      { text: `${method}, validation error`, points: positive(validation), paint: paints[index % paints.length], width: 2 },
    ]).filter(({ points }) => points.length);
    if (!curves.length) return;
    $("training").hidden = false;
    $("training-legend").replaceChildren(...curves.map(({ text, paint, dash }) =>
      make("span", "", swatch({ swatch: dash ? "dashed" : "", paint }), text)));
    const joined = uPlot.join(curves.map(({ points }) => [points.map(([x]) => x), points.map(([, y]) => y)]));
    const lines = curves.map(({ text, paint, dash, width }) => ({ label: text, stroke: colour(paint), width, dash, points: { show: false }, spanGaps: true }));
    const labels = (_, values) => values.map((x) => (x == null ? "" : written(x)));
    training = new uPlot({
      width: $("training-chart").clientWidth, height: 240, legend: { show: false },
      scales: { x: { time: false }, y: { distr: 3 } },
      axes: [{ ...axis(), label: "step", labelFont: axis().font, labelSize: 18, size: 32, values: labels }, { ...axis(), values: labels, size: 66 }],
      series: [{}, ...lines], cursor: { y: false, points: { size: 6 } },
    }, joined, $("training-chart"));
  }

  function fillLists() {
    if (data.notes.length) {
      $("notes").hidden = false;
      $("notes").querySelector("ul").replaceChildren(...data.notes.map((note) => make("li", "", note)));
    }
    if (data.settings.length) {
      $("settings").hidden = false;
      $("settings").querySelector("dl").replaceChildren(
        ...data.settings.flatMap(([name, value]) => [make("dt", "", name), make("dd", "", value)]));
    }
  }

  function chooseSeries() {
    const series = data.series[$("series").value];
    const before = $("channel").selectedOptions[0]?.text;
    const names = series ? series.channels.map(({ name }) => name) : [];
    fillSelect($("channel"), names);
    // The same channel of another series, where there is one.
    $("channel").value = Math.max(names.indexOf(before), 0);
    drawAnew();
  }

  fillHead();
  fillScores();
  fillLists();
  drawToggles();
  fillSelect($("series"), data.series.map(({ id }, index) => id ?? `series ${index + 1}`));
  $("series").onchange = chooseSeries;
  $("channel").onchange = drawAnew;
  $("reset").onclick = () => show(...whole());
  $("previous").onclick = () => step(-1);
  $("next").onclick = () => step(1);
  chooseSeries();
  drawTraining();
  let width = innerWidth;
  addEventListener("resize", () => {
    if (innerWidth === width) return;
    width = innerWidth;
    for (const chart of charts) chart.setSize({ width: $("charts").clientWidth, height: chart.height });
    strip?.setSize({ width: $("strip").clientWidth, height: strip.height });
    training?.setSize({ width: $("training-chart").clientWidth, height: training.height });
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
    const { min, max } = charts[0]?.scales.x ?? {};
    draw();
    if (min != null) show(min, max);
    drawTraining();
  });
  // For tests and for the curious.
  window.cssc = { data, column, whole, get charts() { return charts; }, get strip() { return strip; } };
})();
