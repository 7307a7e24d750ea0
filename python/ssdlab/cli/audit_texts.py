"""Texts for ``ssdlab audit --from``: read in the encodings in which PowerShell writes them."""

from __future__ import annotations

import codecs
from collections.abc import Sequence

from ssdlab.ground.errors import SsdlabError
from ssdlab.ground.input import InputError, read_bytes

_UTF_16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


def read_texts(names: Sequence[str]) -> dict[str, str]:
    """Read every file; ``-`` is standard input.

    Raises
    ------
    SsdlabError
        One cannot be read, or is no text.
    """
    texts = {}
    for name in names:
        try:
            texts[name] = _decoded(read_bytes(name))
        except FileNotFoundError:
            raise SsdlabError(f"--from {name}: no such file") from None
        except (InputError, UnicodeDecodeError) as error:
            reason = "not a text file" if isinstance(error, UnicodeDecodeError) else str(error)
            raise SsdlabError(f"--from {name}: {reason}") from None
    return texts


def _decoded(content: bytes) -> str:
    """Decode UTF-8 and UTF-16; what PowerShell 5 redirects into a file is UTF-16."""
    encoding = "utf-16" if content.startswith(_UTF_16) else "utf-8-sig"
    text = content.decode(encoding)
    if "\0" in text:
        raise InputError("not a text file")
    return text.replace("\r\n", "\n")
