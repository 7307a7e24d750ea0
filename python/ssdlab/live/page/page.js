"use strict";
(() => {
  const recorded = JSON.parse(document.getElementById("recorded").textContent);
  const SECONDS = recorded.seconds, SILENT_MS = 4000, MOST_WORDS = 100;
  const WIDTH = 340, HEIGHT = 140, LEFT = 48, RIGHT = 334, TOP = 8, BOTTOM = 118;
  const LARGEST = 1.25;
  const STATES = { f: "free", o: "open", m: "open-for-moves", v: "collecting", b: "bad" };
  let { samples, events, blocks } = recorded;
  let heard = Date.now(), isOpen = false;

  const digits = (number, most) => number.toLocaleString("en-US", { maximumSignificantDigits: most });
  const withUnit = (units) => (value) => {
    const [factor, unit] = units.findLast(([least]) => value >= least) || units[0];
    return `${digits(value / factor, 3)}${unit}`;
  };
  const count = withUnit([[1, ""], [1e3, "k"], [1e6, "M"]]);
  const rate = withUnit([[1, " B/s"], [1e3, " kB/s"], [1e6, " MB/s"], [1e9, " GB/s"]]);
  const time = withUnit([[1, " ns"], [1e3, " µs"], [1e6, " ms"], [1e9, " s"]]);
  const share = (value) => `${digits(100 * value, 3)} %`;
  const ratio = (value) => value.toFixed(2);
  const many = (number, what) => `${whole(number)} ${what}${number === 1 ? "" : "s"}`;
  const whole = (value) => digits(value, 6);
  const short = (value) => digits(value, 4);

  // A line: what it is called, its colour, and its figure in a sample.
  const latency = (direction) => [
    ["p50", 1, (s) => s.latency?.[direction]?.p50_ns],
    ["p99", 2, (s) => s.latency?.[direction]?.p99_ns],
    ["p99.9", 8, (s) => s.latency?.[direction]?.p99_9_ns],
  ];
  const CHARTS = [
    { title: "Requests a second", write: count, lines: [
      ["reads", 1, (s) => s.rates?.reads], ["writes", 3, (s) => s.rates?.writes],
      ["flushes", 7, (s) => s.rates?.flushes || undefined], ["trims", 8, (s) => s.rates?.trims || undefined]] },
    { title: "Bytes a second", write: rate, writeTick: count, lines: [
      ["read", 1, (s) => s.bytes?.bytes_read], ["written", 3, (s) => s.bytes?.bytes_written]] },
    { title: "Latency of reads", write: time, isLog: true, lines: latency("read") },
    { title: "Latency of writes", write: time, isLog: true, lines: latency("write") },
    { title: "Write amplification", write: ratio, lines: [
      ["bytes into flash per byte written", 2, (s) => s.write_amplification]] },
    { title: "Free blocks", write: share, low: (s) => s.low, lines: [["of all blocks", 3, (s) => s.free]] },
    { title: "Erases a block", write: short, isNarrow: true, lines: [
      ["least", 3, (s) => s.wear?.least], ["mean", 1, (s) => s.wear?.mean], ["most", 8, (s) => s.wear?.most]] },
    { title: "Connections", write: whole, isWhole: true, lines: [["open", 7, (s) => s.connections]] },
  ];

  const element = (tag, attributes = {}, ...children) => {
    const made = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
    made.append(...children);
    return made;
  };
  const drawn = (tag, attributes, ...children) => {
    const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
    for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
    made.append(...children);
    return made;
  };
  const known = (value) => value !== undefined && value !== null;

  // A scale from figures to heights: from nothing on; or of what varies alone; or by powers of ten.
  const scaleOf = (chart, values) => {
    const most = Math.max(...values), least = Math.min(...values);
    const height = (from, to) => (value) => BOTTOM - ((BOTTOM - TOP) * (value - from)) / (to - from || 1);
    if (chart.isLog) {
      const from = Math.floor(Math.log10(Math.max(1, least))), to = Math.max(from + 1, Math.ceil(Math.log10(most || 1)));
      const ticks = Array.from({ length: to - from + 1 }, (_, at) => 10 ** (from + at));
      const place = height(from, to);
      return { place: (value) => place(Math.log10(Math.max(1, value))), ticks };
    }
    const from = chart.isNarrow && least > 0.5 * most ? least : 0;
    const rough = (most - from || most || 1) / 3, power = 10 ** Math.floor(Math.log10(rough));
    let step = power * [1, 2, 2.5, 5, 10].find((each) => each * power >= rough * 0.999);
    if (chart.isWhole || chart.isNarrow) step = Math.max(1, Math.ceil(step));
    const first = Math.floor(from / step), last = Math.max(first + 1, Math.ceil(most / step - 1e-9));
    const ticks = Array.from({ length: last - first + 1 }, (_, at) => (first + at) * step);
    return { place: height(first * step, last * step), ticks };
  };

  const across = (number) => RIGHT - ((RIGHT - LEFT) * (samples.at(-1).number - number)) / (SECONDS - 1);

  const path = (figure, place) => {
    let drawnTo = "", isDown = false;
    for (const sample of samples) {
      const value = figure(sample);
      if (!known(value)) { isDown = false; continue; }
      const at = `${across(sample.number).toFixed(1)} ${place(value).toFixed(1)}`;
      // A figure alone is a dot: a line that goes nowhere, with round ends.
      drawnTo += isDown ? `L${at}` : `M${at}L${at}`;
      isDown = true;
    }
    return drawnTo;
  };

  const figureOf = (chart) => {
    const svg = drawn("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": chart.title });
    svg.style.maxWidth = `${WIDTH * LARGEST}px`;
    const keys = element("p", { class: "keys" });
    const made = element("figure", {}, element("figcaption", {}, chart.title), keys, svg);
    return { chart, made, keys, svg };
  };

  const draw = ({ chart, made, keys, svg }) => {
    const lines = chart.lines.filter(([, , figure]) => samples.some((each) => known(figure(each))));
    made.hidden = lines.length === 0;
    if (made.hidden) return;
    const values = lines.flatMap(([, , figure]) => samples.map(figure).filter(known));
    const lows = chart.low ? samples.map(chart.low).filter(known) : [];
    const { place, ticks } = scaleOf(chart, [...values, ...lows]);
    const parts = [];
    const every = Math.ceil(ticks.length / 6);
    ticks.forEach((tick, at) => {
      if (at % every) return;
      const y = place(tick);
      parts.push(drawn("path", { class: "rule", d: `M${LEFT} ${y}H${RIGHT}` }));
      parts.push(drawn("text", { x: LEFT - 5, y: y + 4, "text-anchor": "end" }, (chart.writeTick ?? chart.write)(tick)));
    });
    const first = samples.at(-1).number - SECONDS + 1;
    for (const word of events) {
      if (word.sample >= first) parts.push(drawn("path", { class: "word", d: `M${across(word.sample)} ${TOP}V${BOTTOM}` }));
    }
    if (lows.length) parts.push(drawn("path", { class: "low", d: `M${LEFT} ${place(lows.at(-1))}H${RIGHT}` }));
    for (const [, colour, figure] of lines) {
      parts.push(drawn("path", { class: "line", stroke: `var(--series-${colour})`, d: path(figure, place) }));
    }
    parts.push(drawn("text", { x: LEFT, y: HEIGHT - 6 }, `${SECONDS} s ago`));
    parts.push(drawn("text", { x: RIGHT, y: HEIGHT - 6, "text-anchor": "end" }, "now"));
    svg.replaceChildren(...parts);
    keys.replaceChildren(...lines.map(([name, colour, figure]) => {
      const value = figure(samples.at(-1)), key = element("span", { class: "key" });
      key.style.background = `var(--series-${colour})`;
      return element("span", {}, key, `${name} `, element("b", {}, known(value) ? chart.write(value) : "–"));
    }));
    if (lows.length) keys.append(element("span", {}, "- - collection begins at ", chart.write(lows.at(-1))));
  };

  const figures = CHARTS.map(figureOf);
  document.getElementById("charts").append(...figures.map(({ made }) => made));

  const showState = () => {
    const last = samples.at(-1), state = document.getElementById("state");
    const buttons = ["power-cut", "power-on", "checkpoint"].map((id) => document.getElementById(id));
    const isOn = last?.power !== "off";
    buttons.forEach((each) => (each.disabled = !isOpen || (each.id === "power-on") === isOn));
    if (!isOpen) {
      state.replaceChildren(location.protocol === "file:" ? "A record: the drive is not asked." : "The server does not answer.");
    } else if (!last) {
      state.replaceChildren("The first second is being measured.");
    } else {
      const power = element("b", { class: isOn ? "on" : "off" }, isOn ? "Power is on" : "Power is off");
      const more = [last.poison && `poisoned: ${last.poison}`, last.read_only && "read-only",
        isOn && last.collecting && "collecting garbage", known(last.now_ns) && `its clock: ${time(last.now_ns)}`];
      state.replaceChildren(power, ...more.filter(Boolean).map((each) => ` · ${each}`));
    }
  };

  const showWords = () => {
    const list = events.slice(-MOST_WORDS).reverse().map((each) =>
      element("li", {}, element("time", {}, time(each.at_ns)), element("span", {}, each.text)));
    document.getElementById("events").replaceChildren(...list);
    document.getElementById("silence").hidden = list.length > 0;
  };

  const showBlocks = () => {
    const { each, every } = blocks ?? {}, grid = document.getElementById("blocks");
    document.getElementById("flash").hidden = !each;
    if (!each) return;
    while (grid.childElementCount > each.length) grid.lastChild.remove();
    while (grid.childElementCount < each.length) grid.append(element("i"));
    [...each].forEach((letter, at) => {
      const block = grid.children[at], state = STATES[letter] ?? "sealed";
      block.className = `block ${state}`;
      // A tenth is drawn by its middle.
      block.style.setProperty("--valid", state === "sealed" ? (Number(letter) + 0.5) / 10 : 0);
    });
    const counted = (wanted) => [...each].filter(wanted).length;
    const told = [["free", (letter) => letter === "f"], ["full", (letter) => /\d/.test(letter)], ["being collected", (letter) => letter === "v"]];
    grid.setAttribute("aria-label", told.map(([name, is]) => `${counted(is)} ${name}`).join(", "));
    document.getElementById("every").textContent = every > 1 ? `Each square is a block; one of ${every} is shown.` : "Each square is a block.";
  };

  const show = () => {
    if (samples.length) figures.forEach(draw);
    else figures.forEach(({ made }) => (made.hidden = true));
    showBlocks();
    showWords();
    showState();
  };

  const take = (told, isAll) => {
    samples = (isAll ? told.samples : [...samples, ...told.samples]).slice(-SECONDS);
    events = (isAll ? told.events : [...events, ...told.events]).slice(-MOST_WORDS);
    blocks = told.blocks;
    heard = Date.now();
    isOpen = true;
    show();
  };

  const listen = () => {
    const source = new EventSource("/events");
    source.addEventListener("history", (event) => take(JSON.parse(event.data), true));
    source.addEventListener("news", (event) => take(JSON.parse(event.data), false));
    source.addEventListener("error", () => { isOpen = false; showState(); });
    setInterval(() => {
      if (Date.now() - heard > SILENT_MS && isOpen) { isOpen = false; showState(); }
    }, 1000);
  };

  const TOLD = {
    "power-cut": ({ seed, lost = [], dropped = [] }) => `Seed ${seed}: ${many(lost.length, "sector")} lost, `
      + `${whole(lost.filter((each) => each.was_acknowledged).length)} acknowledged; ${many(dropped.length, "request")} dropped.`,
    "power-on": () => "Clients have to connect anew.",
    checkpoint: () => "Written down.",
  };
  const press = async (id, token) => {
    const answer = document.getElementById("answer");
    answer.textContent = "…";
    try {
      const asked = { method: "POST", headers: { "X-Ssdlab-Token": token }, body: "{}" };
      const response = await fetch(`/${id}`, asked), told = await response.json();
      answer.textContent = told.error ? told.error.replace("\n", ": ") : TOLD[id](told);
    } catch {
      answer.textContent = "The server did not answer.";
    }
  };

  const token = new URLSearchParams(location.hash.slice(1)).get("token");
  if (token) {
    document.getElementById("buttons").hidden = false;
    for (const id of Object.keys(TOLD)) document.getElementById(id).addEventListener("click", () => press(id, token));
  } else if (location.protocol !== "file:") {
    document.getElementById("answer").textContent = "To cut the power from here, open the address that ssdlab serve printed, with its token.";
  }
  show();
  if (location.protocol !== "file:") listen();
})();
