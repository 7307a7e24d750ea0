"""A page as PDF, printed by a headless Chromium: what a page looks like on paper is its own CSS.

A browser prints text as text, so that a PDF can be searched. No library of ours lays out pages.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from ssdlab.ground.errors import SsdlabError
from ssdlab.ground.output import PendingFile

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
_FORMS = {".html": "HTML", ".pdf": "PDF", ".toml": "TOML"}
_LETTER = frozenset({"US", "CA", "MX", "PH", "CL", "CO", "VE", "CR", "GT", "NI", "PA", "PR", "SV"})
"""Territories of locales whose paper is US Letter (CLDR); everybody else has A4."""
_MOST_S = 300.0
_FLAGS = (
    *("--headless=new", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run"),
    *("--disable-background-networking", "--disable-extensions", "--no-pdf-header-footer"),
)


def is_pdf(path: str | Path) -> bool:
    """Tell whether a name asks for a PDF.

    Examples
    --------
    >>> is_pdf("report.pdf"), is_pdf("report.html")
    (True, False)
    """
    return str(path).lower().endswith(".pdf")


def check_ending(
    path: str | Path, forms: Sequence[str] = (".html", ".htm", ".pdf"), what: str = "a page"
) -> None:
    """Refuse a name that asks for a form in which something is not written.

    Raises
    ------
    SsdlabError
        It ends like a file of another form; a name without an ending, or with numbers, is taken.
    """
    ending = Path(path).suffix.lower()
    if ending not in forms and any(sign.isalpha() for sign in ending):
        written = [each for each in forms if each in _FORMS]
        names = " or ".join(str(Path(path).with_suffix(each)) for each in written)
        raise SsdlabError(
            f"-o {path}: {what} is written as {' or '.join(_FORMS[each] for each in written)}, "
            f"not in the form of {ending}\nname it {names}"
        )


def write_page(pending: PendingFile, html: str, path: str | Path) -> None:
    """Write a page, or print it where the name asks for a PDF.

    Raises
    ------
    SsdlabError
        The name asks for another form, or it cannot be printed.
    """
    check_ending(path)
    if is_pdf(path):
        pending.add(as_pdf(html))
        pending.finish()
    else:
        pending.write(html)


def paper(environment: Mapping[str, str]) -> str:
    """Return the paper of the user's locale, as CSS calls it.

    Examples
    --------
    >>> paper({"LANG": "en_US.UTF-8"}), paper({"LANG": "de_DE.UTF-8"}), paper({})
    ('letter', 'A4', 'A4')
    >>> paper({"LANG": "en_US.UTF-8", "LC_PAPER": "de_DE.UTF-8"})
    'A4'
    """
    names = (environment.get(name) for name in ("LC_ALL", "LC_PAPER", "LANG"))
    territory = re.match(r"[a-z]+_([A-Z]{2})", next((name for name in names if name), ""))
    return "letter" if territory and territory[1] in _LETTER else "A4"


def as_pdf(html: str) -> bytes:
    """Print a page on the paper of the user's locale.

    Raises
    ------
    SsdlabError
        There is no browser, or it failed.
    """
    browser = next((found for name in BROWSERS if (found := shutil.which(name))), None)
    if browser is None:
        raise SsdlabError(
            "a PDF is printed by Chromium, and there is none\n"
            "install it (Debian: apt install chromium), or write the page to a file.html and "
            "print it from a browser"
        )
    sized = html.replace("</style>", f"@page {{ size: {paper(os.environ)}; }}\n</style>", 1)
    with tempfile.TemporaryDirectory(prefix="ssdlab-") as folder:
        return _printed(browser, sized, Path(folder))


def _printed(browser: str, html: str, folder: Path) -> bytes:
    page, target = folder / "page.html", folder / "page.pdf"
    with PendingFile(page, "") as pending:
        pending.write(html)
    # As root its sandbox cannot be set up; the page is ours, and holds no script.
    sandbox = ("--no-sandbox",) if os.geteuid() == 0 else ()
    words = (browser, *_FLAGS, *sandbox, f"--user-data-dir={folder / 'profile'}")
    try:
        done = subprocess.run(
            (*words, f"--print-to-pdf={target}", page.as_uri()),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_MOST_S,
            env={**os.environ, "HOME": str(folder)},
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise SsdlabError(f"{browser}: could not print the page: {error}") from None
    if done.returncode or not target.exists():
        said = done.stderr.decode(errors="replace").strip().splitlines()[-1:] or ["nothing"]
        raise SsdlabError(f"{browser}: could not print the page; it said: {said[0]}")
    return target.read_bytes()
