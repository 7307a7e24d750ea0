"""XML that strangers send: read whole, without document types, and not deep.

The standard library's own parser will do: all attacks on it begin with a declaration.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from ssdlab.ground.input import InputError, read_text


class XmlError(Exception):
    """A document cannot be read; the message is the reason."""


def read_xml(path: Path, most_depth: int) -> ElementTree.Element:
    """Return the root element of a document.

    Parameters
    ----------
    path
        The file.
    most_depth
        How deep elements may be nested.

    Raises
    ------
    XmlError
        It cannot be read, is no XML, declares a document type, or is too deep.
    """
    try:
        parser = ElementTree.XMLParser(target=_Builder(most_depth))
        parser.feed(read_text(path))
        root: ElementTree.Element = parser.close()
    except FileNotFoundError:
        raise XmlError("cannot be read: No such file or directory") from None
    except InputError as error:
        raise XmlError(f"cannot be read: {error}") from None
    except ElementTree.ParseError as error:
        raise XmlError(f"cut short, or not XML ({error})") from None
    return root


class _Builder(ElementTree.TreeBuilder):
    """Builds the tree of a document that defines nothing and is not deep."""

    def __init__(self, most_depth: int) -> None:
        super().__init__()
        self._most_depth = most_depth
        self._depth = 0

    def doctype(self, _name: str, _public: str | None, _system: str | None) -> None:
        """Refuse it before anything in it is read."""
        raise XmlError("a document type declaration is refused")

    def start(self, tag: Any, attributes: Any) -> ElementTree.Element:
        """Begin an element."""
        self._depth += 1
        if self._depth > self._most_depth:
            raise XmlError(f"<{tag[:40]}> is nested deeper than {self._most_depth} elements")
        return super().start(tag, attributes)

    def end(self, tag: str) -> ElementTree.Element:
        """End an element."""
        self._depth -= 1
        return super().end(tag)
