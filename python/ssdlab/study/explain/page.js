"use strict";
(() => {
  const record = JSON.parse(document.getElementById("record").textContent);
  const { drive, chapters, steps } = record;
  const slider = document.getElementById("slider");
  const most = Math.max(1, ...steps.flatMap((step) => step.blocks.map((block) => block.erases)));
  const STATES = {
    free: "free", open: "open", "open-for-moves": "open for moves", sealed: "sealed",
    collecting: "victim", bad: "bad",
  };
  const COUNTERS = [
    ["written by the host, B", (counters) => counters.host_bytes_written],
    ["programmed into flash, B", (counters) => counters.nand_pages_written * drive.page_bytes],
    ["copied for garbage collection, pages", (counters) => counters.gc_pages_moved],
    ["copied for wear levelling, pages", (counters) => counters.wear_leveling_pages_moved],
    ["read before a partial write, units", (counters) => counters.read_modify_writes],
    ["trimmed, B", (counters) => counters.host_bytes_trimmed],
    ["erased, blocks", (counters) => counters.blocks_erased],
  ];

  const element = (tag, classes, ...children) => {
    const made = document.createElement(tag);
    made.className = classes;
    made.append(...children);
    return made;
  };
  const show = (id, children) => document.getElementById(id).replaceChildren(...children);
  const thousands = (number) => number.toLocaleString("en-US");

  // Pages that a step reads before it writes: of units that the command covers in part.
  const reads = (step) => {
    if (!step.happened.some(({ what }) => what === "read")) return [];
    const sectors = drive.page_bytes / drive.sector_bytes;
    const { lba, sectors: asked, units } = step.command;
    const isPart = (unit) => unit * sectors < lba || (unit + 1) * sectors > lba + asked;
    return units.filter(isPart).map((unit) => step.map[unit]);
  };

  // What differs between two neighbouring states: pages now valid, pages no longer valid.
  const marks = (step, before) => (number, slot) => {
    if (!before) return "";
    if (reads(step).includes(number * drive.pages_per_block + slot)) return " read";
    const [is, was] = [step, before].map((state) => state.blocks[number]);
    if (is.valid[slot] && !(was.valid[slot] && was.units[slot] === is.units[slot])) return " new";
    return was.valid[slot] && !is.valid[slot] && slot < is.programmed ? " old" : "";
  };

  const page = (block, slot, mark) => {
    const unit = block.units[slot];
    const kind = slot >= block.programmed ? "free" : unit === null ? "padding" : block.valid[slot] ? "valid" : "invalid";
    const label = unit === null ? (kind === "free" ? "" : "–") : unit < drive.units ? unit : "map";
    const made = element("div", `page ${kind}${mark}`, String(label));
    made.title = `page ${slot}: ${kind}`;
    return made;
  };

  const drawBlock = (step, before) => {
    const mark = marks(step, before);
    return (block, number) => {
      const erased = before && block.erases > before.blocks[number].erases;
      const wear = element("div", "");
      wear.style.width = `${(100 * block.erases) / most}%`;
      const die = drive.dies > 1 ? `, die ${block.die}` : "";
      return element("div", `block ${block.state}${erased ? " erased" : ""}`,
        element("header", "", element("b", "", `Block ${number}${die}`), element("span", "state", STATES[block.state])),
        element("div", "wear", element("span", "erases", `erased ${block.erases}×`), element("div", "bar", wear)),
        element("div", "pages", ...block.units.map((_, slot) => page(block, slot, mark(number, slot)))));
    };
  };

  const drawMap = (step, before) => step.map.map((place, unit) => {
    const isNew = before && before.map[unit] !== place;
    const at = place === null ? "–" : `${Math.floor(place / drive.pages_per_block)}.${place % drive.pages_per_block}`;
    return element("div", isNew ? "new" : "", element("span", "", String(unit)), element("span", "", at));
  });

  const drawSectors = (command) => {
    const sectors = drive.page_bytes / drive.sector_bytes;
    if (!command || command.units.length > 2) return [];
    return command.units.map((unit) => {
      const cells = Array.from({ length: sectors }, (_, index) => {
        const lba = unit * sectors + index;
        const asked = lba >= command.lba && lba < command.lba + command.sectors;
        return element("div", asked ? "sector asked" : "sector");
      });
      return element("div", "unit", element("div", "", ...cells), `unit ${unit}: sectors ${unit * sectors} to ${(unit + 1) * sectors - 1}`);
    });
  };

  const commandText = (step) => {
    if (!step.command) return step.commands ? `${step.commands} writes, one unit each` : "nothing yet";
    const { operation, lba, sectors } = step.command;
    return `${operation}, sectors ${lba} to ${lba + sectors - 1}`;
  };

  const drawCounters = (step, before) => {
    const row = (name, value, more) =>
      element("tr", "", element("td", "", name), element("td", "number", value), element("td", "number", more));
    const rows = COUNTERS.map(([name, of]) => {
      const more = before ? of(step.counters) - of(before.counters) : 0;
      return row(name, thousands(of(step.counters)), more ? `+${thousands(more)}` : "");
    });
    const wa = step.write_amplification;
    return [...rows, row("write amplification", wa === null ? "–" : wa.toFixed(2), "")];
  };

  let current = -1;
  const go = (wanted) => {
    // The address may name any number.
    const number = Math.trunc(Math.min(steps.length - 1, Math.max(0, wanted)));
    if (number === current) return;
    current = number;
    const [step, before] = [steps[number], steps[number - 1]];
    const chapter = chapters.find(({ name }) => name === step.chapter);
    slider.value = number;
    document.getElementById("number").textContent = `step ${number} of ${steps.length - 1}`;
    document.getElementById("title").textContent = chapter.title;
    document.getElementById("about").textContent = chapter.about;
    document.getElementById("text").textContent = step.text;
    document.getElementById("command").textContent = commandText(step);
    show("sectors", drawSectors(step.command));
    show("blocks", step.blocks.map(drawBlock(step, before)));
    show("map", drawMap(step, before));
    show("counters", drawCounters(step, before));
    for (const button of document.querySelectorAll(".chapter")) {
      button.setAttribute("aria-current", Number(button.dataset.step) === chapter.first);
    }
    history.replaceState(null, "", `#${number}`);
  };

  slider.addEventListener("input", () => go(Number(slider.value)));
  document.getElementById("back").addEventListener("click", () => go(current - 1));
  document.getElementById("on").addEventListener("click", () => go(current + 1));
  for (const button of document.querySelectorAll(".chapter")) {
    button.addEventListener("click", () => go(Number(button.dataset.step)));
  }
  document.addEventListener("keydown", (event) => {
    const to = { ArrowLeft: current - 1, ArrowRight: current + 1, Home: 0, End: steps.length - 1 }[event.key];
    // The slider has keys of its own.
    if (to === undefined || event.target === slider || event.altKey || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    go(to);
  });
  window.addEventListener("hashchange", () => go(Number(location.hash.slice(1)) || 0));
  go(Number(location.hash.slice(1)) || 0);
})();
