"use strict";
// Pictures tell the value nearest to the pointer, to a finger, or chosen by arrow keys, and a series
// goes away and comes back by its entry in the legend. Without this script browsers show the titles
// that the marks have.
(() => {
  const REACH = 30;
  const SAME = 1.5;
  const tip = document.createElement("div");
  tip.id = "tip";
  tip.setAttribute("role", "status");
  document.body.append(tip);
  let told = [];

  const number = (mark, name) => Number(mark.getAttribute(name));
  const middle = (mark) => mark.tagName === "circle"
    ? [number(mark, "cx"), number(mark, "cy")]
    : [number(mark, "x") + number(mark, "width") / 2, number(mark, "y") + number(mark, "height") / 2];
  const distance = (mark, x, y) => {
    const [across, down] = middle(mark);
    const [width, height] = [number(mark, "width"), number(mark, "height")];
    return Math.hypot(Math.max(0, Math.abs(x - across) - width / 2), Math.max(0, Math.abs(y - down) - height / 2));
  };

  // Once the script tells values, the browser shall not do so too.
  const marksOf = (picture) => {
    for (const title of picture.querySelectorAll("[data-series] > * > title")) {
      title.parentNode.setAttribute("aria-label", title.textContent);
      title.remove();
    }
    return [...picture.querySelectorAll("[data-series] > [aria-label]")]
      .filter((mark) => mark.parentNode.style.display !== "none");
  };

  const hush = () => {
    told.forEach((mark) => mark.removeAttribute("stroke"));
    told = [];
    tip.replaceChildren();
  };

  const tell = (marks) => {
    hush();
    told = marks;
    told.forEach((mark) => mark.setAttribute("stroke", "var(--ink)"));
    tip.replaceChildren(...marks.map((mark) => {
      const line = document.createElement("div");
      line.textContent = mark.getAttribute("aria-label");
      return line;
    }));
    const [box, room] = [marks[0].getBoundingClientRect(), document.documentElement.clientWidth];
    const left = Math.max(4, Math.min(box.left + box.width / 2 - tip.offsetWidth / 2, room - tip.offsetWidth - 4));
    const above = box.top - tip.offsetHeight - 6;
    tip.style.left = `${left + scrollX}px`;
    tip.style.top = `${(above < 0 ? box.bottom + 6 : above) + scrollY}px`;
  };

  const at = (picture, x, y) => {
    const far = marksOf(picture).map((mark) => [distance(mark, x, y), mark]);
    const least = Math.min(REACH, ...far.map(([each]) => each));
    const nearest = far.filter(([each]) => each === least && each < REACH).map(([, mark]) => mark);
    if (!nearest.length) return hush();
    const [across, down] = middle(nearest[0]);
    tell(far.map(([, mark]) => mark).filter((mark) => distance(mark, across, down) < SAME));
  };

  const point = (event) => {
    if (event.target.matches('[role="button"]')) return hush();
    const picture = event.currentTarget;
    const place = new DOMPoint(event.clientX, event.clientY).matrixTransform(picture.getScreenCTM().inverse());
    at(picture, place.x, place.y);
  };

  // Left and right go along a series, up and down to the next series, at its nearest place.
  const step = (event) => {
    const marks = marksOf(event.currentTarget);
    const [from] = told.filter((mark) => marks.includes(mark));
    const way = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    if (event.key === "Escape") hush();
    if (!way || !marks.length || event.target !== event.currentTarget) return;
    event.preventDefault();
    if (!from) return tell([marks[0]]);
    const series = [...new Set(marks.map((mark) => mark.parentNode))];
    const along = marks.filter((mark) => mark.parentNode === from.parentNode);
    if (event.key === "ArrowLeft" || event.key === "ArrowRight") {
      return tell([along[along.indexOf(from) + way] || from]);
    }
    const next = series[(series.indexOf(from.parentNode) + way + series.length) % series.length];
    const aside = (mark) => Math.abs(middle(mark)[0] - middle(from)[0]);
    tell([marks.filter((mark) => mark.parentNode === next).reduce((a, b) => (aside(b) < aside(a) ? b : a))]);
  };

  const hasKeys = (picture, series) => picture.querySelectorAll(`[data-key="${series}"]`);

  const toggle = (picture, series) => {
    const keys = hasKeys(picture, series);
    const away = keys[0].getAttribute("opacity") === null;
    keys.forEach((key) => (away ? key.setAttribute("opacity", "0.35") : key.removeAttribute("opacity")));
    picture.querySelector(`[role="button"][data-toggle="${series}"]`).setAttribute("aria-pressed", String(!away));
    picture.querySelectorAll(`[data-series="${series}"]`).forEach((each) => (each.style.display = away ? "none" : ""));
    hush();
  };

  // A finger needs more than the letters: a button lies over line and words of an entry.
  const addButton = (picture, series) => {
    const keys = [...hasKeys(picture, series)];
    const boxes = keys.map((key) => key.getBBox());
    const [left, top] = [Math.min(...boxes.map((box) => box.x)), Math.min(...boxes.map((box) => box.y))];
    const right = Math.max(...boxes.map((box) => box.x + box.width));
    const bottom = Math.max(...boxes.map((box) => box.y + box.height));
    const button = document.createElementNS("http://www.w3.org/2000/svg", "rect");
    const attributes = {
      x: left - 2, y: top, width: right - left + 4, height: bottom - top, fill: "none", "pointer-events": "all",
      tabindex: 0, role: "button", "aria-pressed": "true", "data-toggle": series,
      "aria-label": keys.map((key) => key.textContent.trim()).join(""),
    };
    Object.entries(attributes).forEach(([name, value]) => button.setAttribute(name, value));
    button.addEventListener("mousedown", (event) => event.preventDefault());
    button.addEventListener("click", () => toggle(picture, series));
    button.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" && event.key !== " ") return;
      event.preventDefault();
      toggle(picture, series);
    });
    picture.append(button);
  };

  const pictures = [...document.querySelectorAll("figure svg")].filter((each) => each.querySelector("[data-series] > * > title"));
  for (const picture of pictures) {
    picture.setAttribute("role", "group");
    picture.setAttribute("tabindex", "0");
    picture.addEventListener("pointermove", point);
    picture.addEventListener("pointerdown", point);
    picture.addEventListener("pointerleave", (event) => event.pointerType === "mouse" && hush());
    picture.addEventListener("keydown", step);
    picture.addEventListener("blur", hush);
    new Set([...picture.querySelectorAll("[data-key]")].map((key) => key.dataset.key))
      .forEach((series) => addButton(picture, series));
  }
  document.addEventListener("pointerdown", (event) => event.target.closest("svg") || hush());
  // A picture that scrolls within its figure would leave what is said behind.
  document.addEventListener("scroll", (event) => event.target !== document && hush(), true);
})();
