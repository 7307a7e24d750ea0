"""``python -m ssdlab`` is ``ssdlab``."""

from ssdlab.cli import entry_point

entry_point()
