"""Where a served drive can be asked: the folder's socket, and a page for a browser.

The page's address is printed with a token behind ``#``, which a browser keeps to itself: who has it
may cut the power, who has not may look. Only addresses of the machine itself are served, unless it
is said in so many words that others may reach it.
"""

from __future__ import annotations

import ipaddress
import re
import secrets
import socket
from pathlib import Path

from ssdlab.ground.errors import SsdlabError
from ssdlab.live import metrics
from ssdlab.live.api import Api, Served
from ssdlab.live.client import SOCKET
from ssdlab.live.http import Guard, HttpServer, WebDocument
from ssdlab.live.live import Live


class Doors:
    """The sockets over which a drive is asked.

    Parameters
    ----------
    drive
        What is asked.
    """

    def __init__(self, drive: Served) -> None:
        self._drive = drive
        self._live = Live(drive)
        documents = {"/metrics": self._metrics, "/": self._page, "/events": self._live.stream}
        self._server = HttpServer(Api(drive), documents)

    def open_control(self, folder: Path) -> None:
        """Serve at the folder's ``ctl.sock``.

        Raises
        ------
        SsdlabError
            Somebody else does, or the machine refuses.
        """
        try:
            self._server.listen_unix(folder / SOCKET)
        except OSError as error:
            raise SsdlabError(
                f"{folder / SOCKET}: {error.strerror or error}\n"
                "end who serves the folder, or name a folder you can write to"
            ) from None

    def open_web(self, place: str, others_may_reach_it: bool = False) -> str:
        """Serve the page; return its address, with the token.

        Parameters
        ----------
        place
            ``HOST:PORT`` or ``PORT``; with port 0 the machine chooses one.
        others_may_reach_it
            Whether an address is taken that is not of this machine alone.

        Raises
        ------
        SsdlabError
            It is no such address, or nobody can be served there.
        """
        host, port = tcp_address("--web", place, others_may_reach_it)
        name = place.rpartition(":")[0] or "localhost"
        token = secrets.token_urlsafe(16)
        try:
            at, port = self._server.listen_tcp(host, port, Guard(token, name))
        except OSError as error:
            raise SsdlabError(
                f"--web {place}: {error.strerror or error}\nchoose another address or port"
            ) from None
        self._live.start()
        return f"http://{f'[{at}]' if ':' in at else at}:{port}/#token={token}"

    def close(self) -> None:
        """Hang up on everybody."""
        self._live.close()
        self._server.close()

    def _page(self) -> WebDocument:
        from ssdlab.live.page import build_html, policy

        html = build_html(self._drive.stats(), self._live.history())
        headers = {"Content-Security-Policy": policy(html), "Referrer-Policy": "no-referrer"}
        return WebDocument("text/html; charset=utf-8", html.encode(), headers)

    def _metrics(self) -> WebDocument:
        return WebDocument(metrics.CONTENT_TYPE, metrics.exposition(self._drive.stats()).encode())


def tcp_address(
    option: str, place: str, others_may_reach_it: bool = False, port: int | None = None
) -> tuple[str, int]:
    """Read an address, and find the number of its host.

    Parameters
    ----------
    option
        By which it was given, such as ``--web``.
    place
        ``HOST:PORT``; of an IPv6 address the host stands in brackets.
    others_may_reach_it
        Whether an address is taken that is not of this machine alone.
    port
        What to suggest; where it is given, a ``PORT`` alone is none.

    Raises
    ------
    SsdlabError
        It is none, or others could reach it.

    Examples
    --------
    >>> tcp_address("--nvme-tcp", "localhost:4420"), tcp_address("--nvme-tcp", "[::1]:0")
    (('127.0.0.1', 4420), ('::1', 0))
    """
    example = f"127.0.0.1:{port or 8080}"
    pattern = r"(?:(?:\[([0-9a-fA-F:.]+)\]|([^\s:/\[\]]+)):)?(\d{1,5})"
    match = re.fullmatch(pattern, place, re.ASCII)
    host = match and (match[1] or match[2])
    if match is None or int(match[3]) > 65535 or (port is not None and not host):
        raise SsdlabError(f"{option} {place}: is no address\nwrite HOST:PORT: {example}")
    host, number = host or "127.0.0.1", int(match[3])
    example = f"127.0.0.1:{number}"
    try:
        found = socket.getaddrinfo(host, number, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        raise SsdlabError(f"{option} {place}: no such host\nwrite {example}") from None
    reached = [str(each[4][0]) for each in found]
    if not others_may_reach_it and not all(_is_loopback(each) for each in reached):
        raise SsdlabError(
            f"{option} {place}: can be reached from other machines, and whoever comes sees the "
            f"drive\nwrite {example} (from elsewhere: ssh -L), or --let-other-machines-in"
        )
    # Where a name has addresses of both kinds, the older kind: clients try it as well.
    return min(reached, key=lambda each: ":" in each), number


def _is_loopback(address: str) -> bool:
    try:
        return ipaddress.ip_address(address.partition("%")[0]).is_loopback
    except ValueError:
        return False
