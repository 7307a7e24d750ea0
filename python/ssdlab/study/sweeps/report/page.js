// The trade-off and the parallel coordinates: canvases, so that ten thousand points stay fluid. However often the pointer moves
// there is one redraw a frame; while it drags a brush fewer lines are drawn, and all of them once it rests.
"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const rows = data.commands.length;
  const better = Object.fromEntries(data.figures);
  const figures = data.figures.map(([name]) => name);
  const names = [...data.factors, ...figures];
  const brushes = new Map();
  const kept = new Uint8Array(rows).fill(1);
  const mostLines = { all: 1500, draft: 300 }, restMs = 150;
  const drawn = { count: 0, lines: 0, isDraft: false, ms: 0 };
  let chosen = -1, front = [], waiting = false, isDraft = false, resting = 0;
  const of = (id) => document.getElementById(id);
  // Asked once a redraw: each answer of the style costs more than a hundred points.
  let palette = {};
  const colour = (name) => palette[name] ??= getComputedStyle(document.documentElement).getPropertyValue(name).trim();

  // A column's values as places from 0 to 1: numbers by size, texts by their order.
  const scales = Object.fromEntries(names.map((name) => {
    const values = data.columns[name];
    const known = values.filter((value) => value !== null);
    const isNumber = known.every((value) => typeof value === "number");
    if (!isNumber) {
      const levels = [...new Set(known.map(String))];
      const last = Math.max(levels.length - 1, 1);
      const order = new Map(levels.map((level, at) => [level, at / last]));
      return [name, { levels, place: (v) => v === null ? NaN : levels.length === 1 ? 0.5 : order.get(String(v)) }];
    }
    let low = Infinity, high = -Infinity;
    for (const value of known) { low = Math.min(low, value); high = Math.max(high, value); }
    const log = low > 0 && high / low > 30;
    const f = log ? Math.log : (v) => v;
    const span = f(high) - f(low) || 1;
    return [name, { low, high, log, place: (v) => v === null ? NaN : (f(v) - f(low)) / span }];
  }));
  const places = Object.fromEntries(names.map((name) =>
    [name, Float32Array.from(data.columns[name], scales[name].place)]));

  const write = (value) => {
    if (value === null) return "–";
    if (typeof value !== "number") return String(value);
    return Math.abs(value) >= 10000 ? Math.round(value).toLocaleString("en") : String(Number(value.toPrecision(4)));
  };

  function sized(canvas, width, height) {
    const ratio = window.devicePixelRatio || 1;
    const pen = canvas.getContext("2d");
    if (canvas.width !== Math.floor(width * ratio) || canvas.height !== Math.floor(height * ratio)) {
      canvas.width = width * ratio; canvas.height = height * ratio;
      canvas.style.width = `${width}px`; canvas.style.height = `${height}px`;
    }
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    pen.clearRect(0, 0, width, height);
    pen.font = "12px system-ui, 'DejaVu Sans', sans-serif";
    return pen;
  }

  // The points that no other kept point beats in both figures; their order is sought once for two figures.
  const orders = new Map();
  function orderOf(x, y) {
    const known = `${x} ${y}`;
    if (!orders.has(known)) {
      const a = data.columns[x], b = data.columns[y], order = [];
      for (let i = 0; i < rows; i++) if (a[i] !== null && b[i] !== null) order.push(i);
      order.sort((i, j) => sign(x) * (a[i] - a[j]) || sign(y) * (b[i] - b[j]));
      orders.set(known, Int32Array.from(order));
    }
    return orders.get(known);
  }
  const sign = (name) => better[name] === "most" ? -1 : 1;
  function frontOf(x, y) {
    const b = data.columns[y], s = sign(y), found = [];
    let best = Infinity;
    for (const i of orderOf(x, y)) if (kept[i] && s * b[i] < best) { best = s * b[i]; found.push(i); }
    return found;
  }

  const edge = { left: 62, right: 14, top: 12, bottom: 40 };
  let trade = null;
  function drawTrade() {
    const canvas = of("trade"), x = of("across").value, y = of("up").value;
    if (!x || !y) return;
    const width = canvas.parentElement.clientWidth, height = Math.min(440, Math.max(280, width * 0.5));
    const pen = sized(canvas, width, height);
    const w = width - edge.left - edge.right, h = height - edge.top - edge.bottom;
    const at = (i) => [edge.left + places[x][i] * w, edge.top + (1 - places[y][i]) * h];
    trade = { at, x, y };
    axis(pen, x, w, h, height, true);
    axis(pen, y, w, h, height, false);
    const size = rows > 3000 ? 1.6 : 2.6;
    for (const isKept of [0, 1]) {
      pen.fillStyle = colour(isKept ? "--series-1" : "--rule");
      pen.globalAlpha = isKept && rows > 3000 ? 0.6 : 1;
      const across = places[x], up = places[y];
      for (let i = 0; i < rows; i++) {
        if (kept[i] !== isKept || across[i] !== across[i] || up[i] !== up[i]) continue;
        pen.fillRect(edge.left + across[i] * w - size, edge.top + (1 - up[i]) * h - size, 2 * size, 2 * size);
      }
    }
    pen.globalAlpha = 1;
    front = frontOf(x, y);
    pen.strokeStyle = pen.fillStyle = colour("--series-2");
    pen.lineWidth = 2;
    pen.beginPath();
    for (const i of front) pen.lineTo(...at(i));
    pen.stroke();
    for (const i of front) { pen.beginPath(); pen.arc(...at(i), 4, 0, 7); pen.fill(); }
    if (chosen >= 0) { pen.strokeStyle = colour("--ink"); pen.beginPath(); pen.arc(...at(chosen), 8, 0, 7); pen.stroke(); }
    of("front-count").textContent = `${front.length} on the front: ${x} ${better[x] === "most" ? "high" : "low"}, ${y} ${better[y] === "most" ? "high" : "low"}`;
    if (of("front").parentElement.closest("details").open) listFront(x, y);
  }

  function axis(pen, name, w, h, height, across) {
    const { low, high, log } = scales[name];
    pen.strokeStyle = colour("--rule"); pen.fillStyle = colour("--soft"); pen.lineWidth = 1;
    for (let step = 0; step <= 4; step++) {
      const share = step / 4;
      const value = log ? low * (high / low) ** share : low + (high - low) * share;
      pen.beginPath();
      if (across) {
        const px = edge.left + share * w;
        pen.moveTo(px, edge.top); pen.lineTo(px, edge.top + h);
        pen.textAlign = step === 0 ? "left" : step === 4 ? "right" : "center";
        pen.fillText(write(Number(value.toPrecision(3))), px, height - 22);
      } else {
        const py = edge.top + (1 - share) * h;
        pen.moveTo(edge.left, py); pen.lineTo(edge.left + w, py);
        pen.textAlign = "right";
        pen.fillText(write(Number(value.toPrecision(3))), edge.left - 6, py + 4);
      }
      pen.stroke();
    }
    pen.fillStyle = colour("--ink");
    pen.textAlign = across ? "center" : "left";
    if (across) pen.fillText(name + (log ? " (log)" : ""), edge.left + w / 2, height - 5);
    else pen.fillText(name + (log ? " (log)" : ""), edge.left + 6, edge.top + 11);
  }

  function listFront(x, y) {
    const shown = front.slice(0, 100), columns = [...new Set([x, y, ...data.factors])];
    const row = (cells, tag) => {
      const line = document.createElement("tr");
      for (const cell of cells) {
        const made = document.createElement(tag);
        made.append(cell);
        line.append(made);
      }
      return line;
    };
    document.querySelector("#front thead").replaceChildren(row(["", ...columns], "th"));
    document.querySelector("#front tbody").replaceChildren(...shown.map((i) => {
      const button = document.createElement("button");
      button.type = "button"; button.textContent = "choose";
      const line = row([button, ...columns.map((name) => write(data.columns[name][i]))], "td");
      line.addEventListener("click", () => choose(i));
      line.classList.toggle("is-chosen", i === chosen);
      return line;
    }));
  }

  function choose(i) {
    chosen = i;
    const list = document.createElement("dl");
    for (const name of [...names, "seed"]) {
      const pair = document.createElement("div"), term = document.createElement("dt"), value = document.createElement("dd");
      term.textContent = name; value.textContent = write(data.columns[name][i]);
      pair.append(term, value); list.append(pair);
    }
    const command = document.createElement("pre");
    command.textContent = data.commands[i].map((word) => data.words[word]).join(" ");
    of("chosen").replaceChildren(list, "It is run again with:", command);
    redraw();
  }

  of("trade").addEventListener("click", (event) => {
    const box = of("trade").getBoundingClientRect();
    const x = event.clientX - box.x, y = event.clientY - box.y;
    let nearest = -1, least = 400;
    for (let i = 0; i < rows; i++) {
      if (!kept[i]) continue;
      const [px, py] = trade.at(i), far = (px - x) ** 2 + (py - y) ** 2;
      if (far < least) { least = far; nearest = i; }
    }
    if (nearest >= 0) choose(nearest);
  });

  // Lanes stand side by side where there is room for all, and lie one below the other elsewhere.
  const least = 92, standing = { left: 50, right: 60, top: 44, bottom: 22, long: 314 };
  const lying = { left: 12, right: 14, top: 40, bottom: 30, step: 58 };
  let lanes = null;
  function laidOut(room) {
    const last = names.length - 1;
    if (room < names.length * least) {
      const { left, right, top, bottom, step } = lying, long = room - left - right;
      return { width: room, height: top + last * step + bottom, step, long, isLying: true, along: left, aside: top,
        at: (k, share) => [left + share * long, top + k * step] };
    }
    const { left, right, top, bottom, long } = standing, step = (room - left - right) / Math.max(last, 1);
    return { width: room, height: top + long + bottom, step, long, isLying: false, along: top, aside: left,
      at: (k, share) => [left + k * step, top + (1 - share) * long] };
  }

  // Lines are drawn from columns in the order of the lanes.
  const lanePlaces = names.map((name) => places[name]);
  function drawLines() {
    const canvas = of("lines");
    lanes = laidOut(canvas.parentElement.clientWidth);
    const pen = sized(canvas, lanes.width, lanes.height), { isLying, along, aside, long, step } = lanes;
    canvas.style.touchAction = lanes.isLying ? "pan-y" : "pan-x";
    const shade = figures.length ? places[of("across").value] : null;
    const bins = [[], [], [], []];
    const others = [];
    for (let i = 0; i < rows; i++) {
      if (!kept[i]) others.push(i);
      else bins[shade ? Math.min(3, Math.floor((shade[i] || 0) * 4)) : 0].push(i);
    }
    const line = (i) => {
      let open = false;
      drawn.lines++;
      for (let k = 0; k < names.length; k++) {
        const share = lanePlaces[k][i];
        if (share !== share) { open = false; continue; }
        const x = isLying ? along + share * long : aside + k * step;
        const y = isLying ? aside + k * step : along + (1 - share) * long;
        if (open) pen.lineTo(x, y); else pen.moveTo(x, y);
        open = true;
      }
    };
    const lot = (members, stroke, alpha) => {
      pen.strokeStyle = stroke; pen.globalAlpha = alpha; pen.lineWidth = 1;
      // Short paths: one of ten thousand lines takes far longer than many of fifty.
      for (let from = 0; from < members.length; from += 50) {
        pen.beginPath();
        for (const i of members.slice(from, from + 50)) line(i);
        pen.stroke();
      }
    };
    const most = isDraft ? mostLines.draft : mostLines.all;
    if (others.length) lot(thinned(others, most), colour("--rule"), 0.5);
    // The fewer lines the darker, so that a draft looks as the whole does.
    const linesOf = (limit) => bins.reduce((sum, bin) => sum + Math.min(bin.length, limit), 0) || 1;
    const count = rows - others.length, light = Math.max(0.08, Math.min(0.7, 300 / Math.max(count, 1)));
    const alpha = Math.min(0.7, light * linesOf(mostLines.all) / linesOf(most));
    ["--series-7", "--series-1", "--series-4", "--series-2"].forEach((name, bin) => lot(thinned(bins[bin], most), colour(name), alpha));
    pen.globalAlpha = 1;
    if (chosen >= 0) { pen.strokeStyle = colour("--ink"); pen.lineWidth = 2.5; pen.beginPath(); line(chosen); pen.stroke(); }
    names.forEach((name, k) => (lanes.isLying ? lyingLane : standingLane)(pen, name, k));
    of("brushed").textContent = `${count.toLocaleString("en")} of ${rows.toLocaleString("en")} points`;
  }

  // What the eye cannot tell from all of them; counts and the front always take all.
  function thinned(members, most) {
    if (members.length <= most) return members;
    const step = members.length / most;
    return Array.from({ length: most }, (_, at) => members[Math.floor(at * step)]);
  }

  // Words over lines: with a rim of paper they stay readable.
  function say(pen, words, x, y, align, most) {
    pen.textAlign = align; pen.strokeStyle = colour("--paper"); pen.lineWidth = 3; pen.lineJoin = "round";
    pen.strokeText(words, x, y, most);
    pen.fillText(words, x, y, most);
  }

  function rail(pen, name, k) {
    const brush = brushes.get(name), across = lanes.isLying ? [0, 7] : [7, 0];
    pen.strokeStyle = colour("--soft"); pen.lineWidth = 1.2;
    pen.beginPath(); pen.moveTo(...lanes.at(k, 0)); pen.lineTo(...lanes.at(k, 1)); pen.stroke();
    if (brush) {
      const [[x, y], [right, bottom]] = brush.map((share) => lanes.at(k, share));
      pen.fillStyle = colour("--series-2"); pen.globalAlpha = 0.35;
      pen.fillRect(x - across[0], y - across[1], right - x + 2 * across[0], bottom - y + 2 * across[1]);
      pen.globalAlpha = 1;
    }
  }

  function endsOf({ levels, low, high }) {
    if (!levels) return [[low, 0], [high, 1]];
    return levels.map((level, at) => [level, levels.length === 1 ? 0.5 : at / (levels.length - 1)]);
  }

  function standingLane(pen, name, k) {
    const [x] = lanes.at(k, 0), ends = endsOf(scales[name]);
    rail(pen, name, k);
    pen.fillStyle = colour("--ink");
    const parts = name.length > 13 ? [name.slice(0, name.lastIndexOf(name.includes(".") ? "." : "_", 15) + 1 || 13)] : [name];
    if (parts[0] !== name) parts.push(name.slice(parts[0].length));
    parts.forEach((part, at) => say(pen, part, x, 14 + 13 * at, "center", lanes.step - 4));
    pen.fillStyle = colour("--soft");
    if (ends.length > 12) return;
    for (const [value, share] of ends) {
      say(pen, write(value), x + 5, lanes.at(k, share)[1] + (share === 0 ? 14 : -3), "left", lanes.step - 8);
    }
  }

  function lyingLane(pen, name, k) {
    const [left, y] = lanes.at(k, 0), ends = endsOf(scales[name]);
    rail(pen, name, k);
    pen.fillStyle = colour("--ink");
    say(pen, name, left, y - 10, "left", lanes.long);
    pen.fillStyle = colour("--soft");
    const room = lanes.long / Math.max(ends.length - 1, 1);
    for (const [value, share] of ends.length > 12 ? [ends[0], ends[ends.length - 1]] : ends) {
      const align = share === 0 ? "left" : share === 1 ? "right" : "center";
      say(pen, write(value), lanes.at(k, share)[0], y + 16, align, Math.max(room - 8, 24));
    }
  }

  function brushAgain() {
    kept.fill(1);
    for (const [name, [low, high]] of brushes) {
      const column = places[name];
      for (let i = 0; i < rows; i++) if (!(column[i] >= low && column[i] <= high)) kept[i] = 0;
    }
    redraw();
  }

  let drag = null;
  // Where a pointer is: along the lanes in pixels, and beside which of them.
  function pointed(event) {
    const box = of("lines").getBoundingClientRect(), place = [event.clientX - box.x, event.clientY - box.y];
    const [along, aside] = lanes.isLying ? place : place.reverse();
    const k = Math.round((aside - lanes.aside) / lanes.step);
    const share = (along - lanes.along) / lanes.long;
    return { along, k, off: Math.abs(aside - lanes.aside - k * lanes.step),
      share: Math.min(1, Math.max(0, lanes.isLying ? share : 1 - share)) };
  }
  of("lines").addEventListener("pointerdown", (event) => {
    const { along, k, off, share } = pointed(event);
    if (k < 0 || k >= names.length || off > 24) return;
    drag = { name: names[k], from: share, along };
    of("lines").setPointerCapture(event.pointerId);
    event.preventDefault();
  });
  of("lines").addEventListener("pointermove", (event) => {
    if (!drag) return;
    const { along, share: to } = pointed(event);
    if (Math.abs(along - drag.along) < 4) return;
    brushes.set(drag.name, [Math.min(drag.from, to) - 1e-6, Math.max(drag.from, to) + 1e-6]);
    isDraft = true;
    brushAgain();
  });
  of("lines").addEventListener("pointerup", (event) => {
    if (drag && Math.abs(pointed(event).along - drag.along) < 4) { brushes.delete(drag.name); brushAgain(); }
    drag = null;
  });
  of("lines").addEventListener("pointercancel", () => { drag = null; });
  of("clear").addEventListener("click", () => { brushes.clear(); brushAgain(); });

  function draw() {
    const begun = performance.now();
    waiting = false; palette = {};
    drawn.lines = 0; drawn.isDraft = isDraft; drawn.count++;
    drawTrade(); drawLines();
    clearTimeout(resting);
    if (isDraft) resting = setTimeout(redraw, restMs);
    isDraft = false;
    drawn.ms = performance.now() - begun;
  }
  function redraw() { if (!waiting) { waiting = true; requestAnimationFrame(draw); } }
  document.querySelector("#front").closest("details").addEventListener("toggle", redraw);

  for (const [id, at] of [["across", 0], ["up", Math.max(1, figures.findIndex((name) => better[name] === "least"))]]) {
    for (const name of figures) of(id).append(new Option(name, name));
    if (figures.length) of(id).selectedIndex = Math.min(at, figures.length - 1);
    of(id).addEventListener("change", redraw);
  }
  window.addEventListener("resize", redraw);
  window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
  draw();
  window.sweepReport = {
    rows, names,
    chosen: () => chosen,
    front: () => front.slice(),
    kept: () => kept.reduce((sum, each) => sum + each, 0),
    dot: (i) => trade.at(i),
    lane: (name) => [0, 1].map((share) => lanes.at(names.indexOf(name), share)),
    drawn: () => ({ ...drawn }),
    redrawn: () => { draw(); return drawn.ms; },
  };
})();
