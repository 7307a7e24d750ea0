"""A command line that is being typed, and what fits its last word.

A shell asks at every TAB. So this reads the line by the outline of the verbs (`outline.py`), and
loads neither a verb nor click. Words are read as click reads them, but none is refused.
"""

from __future__ import annotations

from collections.abc import Sequence

from ssdlab.cli import offers
from ssdlab.cli.offers import Offer, Outline


def offered(words: Sequence[str], last: str) -> list[Offer]:
    """Return what may stand in place of the last word.

    Parameters
    ----------
    words
        What was typed before it, without the command's own name.
    last
        As much of it as was typed.
    """
    name, equals, value = last.partition("=")
    if equals and name.startswith("-"):
        found = _Line([*words, name]).fitting(value)
        return [each.behind(f"{name}=") for each in found]
    return _Line(words).fitting(last)


class _Line:
    """What a line says so far.

    Attributes
    ----------
    words
        All of them.
    verb
        The outline of the verb that they come to.
    given
        What that verb's parameters were given, by their names.
    waits
        The option that the next word is for.
    """

    def __init__(self, words: Sequence[str]) -> None:
        self.words = words
        self.verb: Outline = offers.outline()["verb"]
        self.given: dict[str, list[str]] = {}
        self.waits: Outline | None = None
        for word in words:
            self._read(word)

    def fitting(self, last: str) -> list[Offer]:
        """Return what fits as the next word."""
        if last.startswith("-") and "--" not in self.words:
            fio = offers.fio_options(last) if self.verb["takes_fio"] else []
            return [*self._options(last), *fio]
        place = self.waits or self._argument()
        found = [] if place is None else offers.of_value(place, last, self.words, self.given)
        if place is None or (place.get("repeats") and self.given.get(place["name"])):
            found += self._verbs(last)
        return found

    def _read(self, word: str) -> None:
        if len(word) > 1 and word.startswith("-"):
            self.waits = None
            self._read_option(word)
        elif self.waits is not None:
            self._give(self.waits, word)
            self.waits = None
        elif word in self.verb.get("verbs", ()):
            self.verb, self.given = self.verb["verbs"][word], {}
        elif (place := self._argument()) is not None:
            self._give(place, word)

    def _read_option(self, word: str) -> None:
        name, equals, value = word.partition("=")
        for each in self.verb["parameters"]:
            if name in each.get("options", ()):
                self._give(each, value)
                if not (equals or each.get("is_flag")):
                    self.given[each["name"]].pop()
                    self.waits = each

    def _give(self, place: Outline, word: str) -> None:
        self.given.setdefault(place["name"], []).append(word)

    def _argument(self) -> Outline | None:
        """Return the argument that the next word is for."""
        for each in self.verb["parameters"]:
            if "options" not in each and (each.get("repeats") or each["name"] not in self.given):
                return dict(each)
        return None

    def _options(self, last: str) -> list[Offer]:
        return [
            Offer(name, help=each.get("help", ""))
            for each in self.verb["parameters"]
            if not each.get("hidden") and (each.get("repeats") or each["name"] not in self.given)
            for name in each.get("options", ())
            if name.startswith(last)
        ]

    def _verbs(self, last: str) -> list[Offer]:
        verbs = self.verb.get("verbs", {})
        return [
            Offer(name, help=verb["help"]) for name, verb in verbs.items() if name.startswith(last)
        ]
