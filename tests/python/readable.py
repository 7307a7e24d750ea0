"""Whether a page can be read at a width: what sticks out, is cut, scrolls, or is too small.

A browser measures what it has laid out. Only tables may be wider than the page, within a frame that
scrolls; a chart may not, since half a chart tells something else than the whole.
"""

from __future__ import annotations

from pathlib import Path

import browser

PHONE, NARROWEST_WIDE, DESK = 390, 940, 1200
PAPER = 718
"""A4 less a centimetre at each side, in CSS pixels."""
SMALLEST, LARGEST = 9.9, 20.0
"""Pixels of letters in charts: a phone's smallest caption, and what would be a heading."""
SMALLEST_ON_PAPER = 8.0

_FAULTS = """(() => {
  const [SMALLEST, LARGEST] = LIMITS, room = document.documentElement.clientWidth, found = [];
  document.querySelectorAll('details').forEach((each) => (each.open = true));
  const is = (box) => box.width > 0 && box.height > 0;
  const named = (each) => `${each.tagName} ${each.id || each.className.baseVal || each.className}`
    + ` "${each.textContent.trim().slice(0, 40)}"`;
  const within = (inner, outer) => inner.left >= outer.left - 1 && inner.right <= outer.right + 1
    && inner.top >= outer.top - 1 && inner.bottom <= outer.bottom + 1;
  for (const each of document.body.querySelectorAll('*')) {
    const box = each.getBoundingClientRect();
    if (!is(box) || each.closest('.scroll table, svg *')) continue;
    if (box.left < -0.5 || box.right > room + 0.5) found.push(`sticks out: ${named(each)}`);
    const scrolls = ['auto', 'scroll'].includes(getComputedStyle(each).overflowX);
    if (scrolls && !each.matches('.scroll') && each.scrollWidth > each.clientWidth + 1) {
      found.push(`scrolls sideways: ${named(each)}`);
    }
  }
  for (const picture of document.querySelectorAll('figure svg')) {
    const whole = picture.getBoundingClientRect();
    if (!is(whole)) continue;
    const title = picture.getAttribute('aria-label'), scale = picture.getScreenCTM().a;
    for (const words of picture.querySelectorAll('text')) {
      const size = parseFloat(getComputedStyle(words).fontSize) * scale;
      const what = `"${words.textContent}" in ${title}`;
      if (size < SMALLEST || size > LARGEST) found.push(`${size.toFixed(1)} pixels: ${what}`);
      if (!within(words.getBoundingClientRect(), whole)) found.push(`cut: ${what}`);
    }
    for (const mark of picture.querySelectorAll('use')) {
      if (!within(mark.getBoundingClientRect(), whole)) found.push(`a mark is cut in ${title}`);
    }
    if (!picture.querySelector('use, path')) found.push(`nothing is drawn in ${title}`);
  }
  return found;
})()"""
_SHOWN = "[...document.querySelectorAll('figure svg')].filter(e => e.getBoundingClientRect().width)"


def at(window: browser.Browser, width: int) -> None:
    """Give the window a width."""
    size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
    window.ask("Emulation.setDeviceMetricsOverride", **size)


def faults(window: browser.Browser, smallest: float = SMALLEST) -> list[str]:
    """Return what cannot be read in what a window shows."""
    found: list[str] = window.value(_FAULTS.replace("LIMITS", f"[{smallest}, {LARGEST}]"))
    return found


def charts(window: browser.Browser) -> list[str]:
    """Return what the charts are called that are shown, each once."""
    names: list[str] = window.value(f"{_SHOWN}.map(e => e.getAttribute('aria-label'))")
    return names


def open_page(html: str, folder: Path, name: str = "page") -> browser.Browser:
    """Show a page as wide as a phone."""
    page = folder / f"{name}.html"
    page.write_text(html, encoding="utf-8")
    return browser.Browser(page, folder / f"profile-{name}", PHONE)
