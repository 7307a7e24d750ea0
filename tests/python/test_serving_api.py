"""Asking a served drive over HTTP: routes, wrong input, strangers, garbage, stalls, crowds."""

from __future__ import annotations

import json
import os
import random
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

import pytest

from pretended import Pretended, heard, served, spoken, until, visitor
from ssdlab.ground.errors import SsdlabError
from ssdlab.live import http
from ssdlab.live.api import ROUTES, Api
from ssdlab.live.doors import Doors, tcp_address
from ssdlab.live.http import CLIENTS, MOST_BODY

BODIES: dict[str, dict[str, Any]] = {
    "/power-cut": {"seed": 3},
    "/erase": {"how": "trim"},
    "/inject/media-error": {"offset": 512, "length": 1024},
    "/age": {"cycles": 7},
    "/inject/latency": {"latency_ns": 5, "count": 3},
    "/faults": {"faults": ["lying", "shorn"]},
    "/snapshot": {"name": "a.b-c_1"},
    "/restore": {"name": "a"},
}
SEEDS = range(int(os.environ.get("SSDLAB_CONTROL", "6")))
"""Of drawn messages: `make test-long PART=control` draws for twenty minutes of processor time."""
EVIL_NAMES = ("", "..", "../a", "/a", "a/b", ".a", "a\n", "a\0", "x" * 65, "é")


def answer(drive: Pretended, method: str, path: str, body: object = None) -> tuple[int, Any]:
    sent = b"" if body is None else body if isinstance(body, bytes) else json.dumps(body).encode()
    found = Api(drive).answer(method, path, sent)
    return int(found.status), found.document


@pytest.mark.parametrize(("method", "path"), ROUTES)
def test_every_route_answers(method: str, path: str) -> None:
    """Rightly asked, each is answered; a GET has changed nothing, a POST one thing."""
    drive = Pretended()
    status, told = answer(drive, method, path, BODIES.get(path))
    assert (status, "error" in told) == (200, False)
    assert len(drive.asked) == (method == "POST")
    if path in BODIES:
        values = (BODIES[path],) if path == "/age" else tuple(BODIES[path].values())
        assert drive.asked[0][1 : len(values) + 1] == values


@pytest.mark.parametrize("path", sorted({path for _, path in ROUTES}))
def test_the_other_method_changes_nothing(path: str) -> None:
    """A link or a picture's address, which browsers GET, cuts no power."""
    drive = Pretended()
    for method in ("GET", "POST", "PUT", "DELETE"):
        if (method, path) not in ROUTES:
            status, told = answer(drive, method, path)
            assert status == 405
            assert "\nask it by " in told["error"]
    assert drive.asked == []


@pytest.mark.parametrize(
    ("path", "body", "told"),
    [
        ("/power-cut", {"seed": -1}, "seed -1: must be a whole number\n"),
        ("/power-cut", {"seed": 2**64}, "must be a whole number"),
        ("/power-cut", {"seed": True}, "seed true: must be a whole number"),
        ("/power-cut", {"seed": 1.5}, "seed 1.5: must be"),
        ("/power-cut", {"seed": "1"}, 'seed "1": must be'),
        ("/power-cut", {"seeds": 1}, '"seeds": unknown field\nfields: seed'),
        ("/power-cut", [1], "the body is no JSON object\n"),
        ("/power-cut", b"{", "the body is no JSON\n"),
        ("/power-cut", b"\xff\xfe", "the body is no JSON\n"),
        ("/power-cut", b"[" * 16000, "the body is no JSON\n"),
        ("/power-cut", b'{"seed": ' + b"9" * 9000 + b"}", "the body is no JSON\n"),
        ("/power-cut", b'{"seed": NaN}', "must be a whole number"),
        ("/power-on", {"now": True}, '"now": unknown field\nfields: none'),
        ("/erase", {}, "how: is missing\n"),
        ("/erase", {"how": "quickly"}, 'how "quickly": no such way\nthere are secure-erase, '),
        ("/erase", {"how": ["trim"]}, "no such way"),
        ("/inject/media-error", {"length": 512}, "offset: is missing"),
        ("/inject/media-error", {"offset": 0, "length": 0}, "length 0: must be a whole number"),
        *(("/snapshot", {"name": name}, "is no name for a snapshot\n") for name in EVIL_NAMES),
        ("/restore", {"name": None}, "is no name for a snapshot\n"),
    ],
)
def test_wrong_input_is_told_with_its_remedy(path: str, body: object, told: str) -> None:
    """In two lines; nothing is done."""
    drive = Pretended()
    status, document = answer(drive, "POST", path, body)
    assert status == 400
    assert told in document["error"]
    assert document["error"].count("\n") == 1
    assert drive.asked == []


def test_what_the_drive_refuses_is_passed_on() -> None:
    """And what goes wrong inside is an error of the server, not the end of it."""
    drive = Pretended()
    drive.refuses = "its power is off\nturn it on"
    assert answer(drive, "POST", "/checkpoint") == (409, {"error": drive.refuses})
    del drive.told
    status, told = answer(drive, "GET", "/stats")
    assert status == 500
    assert "the server failed: AttributeError" in told["error"]


def test_unknown_paths_are_told() -> None:
    """With those that there are."""
    status, told = answer(Pretended(), "GET", "/state")
    assert status == 404
    assert "/stats" in told["error"]


def test_changes_go_one_after_the_other() -> None:
    """Of eight checkpoints at once no two overlap, while figures are told meanwhile."""
    busy, most, began, go_on = 0, 0, threading.Event(), threading.Event()

    class Slow(Pretended):
        def checkpoint(self) -> None:
            nonlocal busy, most
            busy += 1
            most = max(most, busy)
            began.set()
            assert go_on.wait(60)
            busy -= 1

    api = Api(Slow())
    threads = [
        threading.Thread(target=api.answer, args=("POST", "/checkpoint", b"")) for _ in range(8)
    ]
    for each in threads:
        each.start()
    assert began.wait(60)
    assert api.answer("GET", "/stats", b"").status == 200
    go_on.set()
    for each in threads:
        each.join()
    assert most == 1


# Over a socket.

ASK = b"GET /stats HTTP/1.1\r\nHost: localhost\r\n\r\n"
ASK_ONCE = ASK.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n")


def post(path: str, body: bytes = b"{}", *headers: str) -> bytes:
    lines = [f"POST {path} HTTP/1.1", "Host: localhost", f"Content-Length: {len(body)}", *headers]
    return "\r\n".join([*lines, "Connection: close", "", ""]).encode() + body


def status_of(reply: bytes) -> int:
    assert reply.startswith(b"HTTP/1.1 "), reply[:100]
    return int(reply[9:12])


def still_works(folder: Path) -> bool:
    with closing(visitor(folder)) as connection:
        return status_of(spoken(connection, ASK_ONCE)) == 200


@pytest.fixture
def drive() -> Pretended:
    return Pretended()


@pytest.fixture
def folder(tmp_path: Path, drive: Pretended) -> Iterator[Path]:
    with served(tmp_path / "a", drive):
        yield tmp_path / "a"


def test_a_connection_is_used_again(folder: Path) -> None:
    """Two questions, sent at once, are answered in turn."""
    with closing(visitor(folder)) as connection:
        reply = spoken(connection, ASK + ASK_ONCE)
    assert reply.count(b"HTTP/1.1 200 OK") == 2


@pytest.mark.parametrize(
    ("sent", "status"),
    [
        (b"\x00\x01\x02\r\n\r\n", 400),
        (b"GET\r\n\r\n", 400),
        (b"GET / HTTP/9.9\r\n\r\n", 505),
        (b"GET /stats\r\n\r\n", 505),
        (b"GET /stats\r\nConnection: keep-alive\r\n\r\n" * 2, 505),
        (b"BREW /stats HTTP/1.1\r\nHost: localhost\r\n\r\n", 501),
        (b"GET /" + b"a" * 70_000, 414),
        (b"GET / HTTP/1.1\r\n" + b"a: b\r\n" * 150 + b"\r\n", 431),
        (b"GET /stats?a=b HTTP/1.1\r\nHost: localhost\r\n\r\n", 400),
        (b"POST /power-cut HTTP/1.1\r\nHost: localhost\r\n\r\n", 411),
        (post("/power-cut", b"{}", "Transfer-Encoding: chunked"), 411),
        (post("/power-cut", b"{}", "Content-Length: 1"), 400),
        (post("/power-cut").replace(b"Length: 2", b"Length: -2"), 400),
        (post("/power-cut").replace(b"Length: 2", b"Length: 2x"), 400),
        (post("/power-cut", b" " * (MOST_BODY + 1)), 413),
        (post("/power-cut").replace(b"Length: 2", b"Length: 99999999999999"), 413),
    ],
)
def test_garbage_is_refused(
    folder: Path, drive: Pretended, sent: bytes, status: int, capfd: pytest.CaptureFixture[str]
) -> None:
    """In words, without a trace on stderr; others are served as before, and nothing is done."""
    with closing(visitor(folder)) as connection:
        connection.sendall(sent)
        connection.shutdown(socket.SHUT_WR)
        reply = heard(connection)
    assert status_of(reply) == status
    assert _is_http(reply)
    assert "\n" in json.loads(reply.partition(b"\r\n\r\n")[2])["error"]
    assert still_works(folder)
    assert drive.asked == []
    assert capfd.readouterr().err == ""


def test_a_body_cut_short_does_nothing(folder: Path, drive: Pretended) -> None:
    """Half of a power cut is none."""
    with closing(visitor(folder)) as connection:
        connection.sendall(post("/power-cut", b'{"seed": 12}')[:-3])
        connection.shutdown(socket.SHUT_WR)
        assert status_of(heard(connection)) == 400
    assert drive.asked == []


def test_headers_without_end_are_hung_up_on(folder: Path) -> None:
    """Once they are longer than a request may be, whatever the number of lines."""
    with closing(visitor(folder)) as connection:
        try:
            reply = spoken(
                connection, b"GET / HTTP/1.1\r\n" + (b"a: " + b"b" * 8000 + b"\r\n") * 20
            )
        except ConnectionError:
            reply = b""
    assert reply == b""
    assert still_works(folder)


def test_who_stalls_is_hung_up_on(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Silent, or a byte now and then: neither lasts, and others are answered meanwhile."""
    monkeypatch.setattr(http, "TO_ASK_S", 0.3)
    with closing(visitor(folder)) as silent, closing(visitor(folder)) as dripping:
        dripping.sendall(b"GET /stats HT")
        assert still_works(folder)
        end = time.monotonic() + 60
        with pytest.raises(OSError):
            while time.monotonic() < end:
                dripping.sendall(b"T")
                time.sleep(0.02)
        assert heard(silent) == b""
    assert still_works(folder)


def test_who_takes_no_answer_is_hung_up_on(
    folder: Path, drive: Pretended, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its thread goes, and with it the place that it had."""
    # Long enough for all to come before the first is hung up on, on a busy machine, too.
    monkeypatch.setattr(http, "TO_TAKE_S", 6.0)
    drive.told["much"] = "x" * (8 << 20)
    with ExitStack() as stack:
        for _ in range(CLIENTS):
            connection = stack.enter_context(closing(visitor(folder)))
            connection.sendall(ASK)
        assert _late(folder) != 200, "all places are taken"
        drive.told["much"] = ""
        until(lambda: _late(folder) == 200)


def _late(folder: Path) -> int:
    """Return how one is answered who comes later; 0 where not at all."""
    try:
        with closing(visitor(folder)) as late:
            return status_of(spoken(late, ASK_ONCE))
    except ConnectionError:
        return 0


def test_a_crowd_is_bounded(folder: Path) -> None:
    """Who comes when all places are taken is told so; a place that is left is given away."""
    with ExitStack() as stack:
        crowd = [stack.enter_context(closing(visitor(folder))) for _ in range(CLIENTS)]
        for each in crowd:
            each.sendall(ASK)
            assert each.recv(10).startswith(b"HTTP/1.1 2")
        threads = threading.active_count()
        for _ in range(20):
            with closing(visitor(folder)) as late:
                reply = heard(late)
                assert status_of(reply) == 503
                assert "come again later" in json.loads(reply.partition(b"\r\n\r\n")[2])["error"]
        assert threading.active_count() == threads
        crowd[0].close()
        until(lambda: _late(folder) == 200)


def test_the_end_hangs_up_on_all(tmp_path: Path) -> None:
    """Who is still there hears the end, and the socket goes."""
    with served(tmp_path / "a", Pretended()):
        connection = visitor(tmp_path / "a")
        connection.sendall(ASK)
        assert connection.recv(10)
    with closing(connection):
        heard(connection)
    assert not (tmp_path / "a" / "ctl.sock").exists()


def test_a_socket_that_was_left_is_replaced(tmp_path: Path) -> None:
    """One that somebody listens at is not, nor a file of another kind."""
    (tmp_path / "a").mkdir()
    path = tmp_path / "a" / "ctl.sock"
    with closing(socket.socket(socket.AF_UNIX)) as left:
        left.bind(str(path))
    with served(tmp_path / "a", Pretended()):
        assert still_works(tmp_path / "a")
        with closing(Doors(Pretended())) as second:
            with pytest.raises(SsdlabError, match="end who serves the folder"):
                second.open_control(tmp_path / "a")
        assert still_works(tmp_path / "a")
    path.write_text("mine")
    with closing(Doors(Pretended())) as another, pytest.raises(SsdlabError):
        another.open_control(tmp_path / "a")
    assert path.read_text() == "mine"


# Drawn bytes.

_WORDS = (
    *(b"GET ", b"POST ", b"HEAD ", b"/stats", b"/power-cut", b"/erase", b"/snapshot", b" HTTP/1.1"),
    *(b" HTTP/1.0", b"\r\n", b"\n", b"\r\n\r\n", b"Host: localhost\r\n", b"Content-Length: "),
    *(b"0\r\n", b"2\r\n", b"17\r\n", b"-1\r\n", b"999999999\r\n", b"Expect: 100-continue\r\n"),
    *(b"Transfer-Encoding: chunked\r\n", b"Connection: keep-alive\r\n", b"{", b"}", b'{"seed": 1}'),
    *(b'{"how": "trim"}', b'{"name": "a"}', b"null", b"[]", b'"', b"\\u0000", b"\0", b"\xff" * 9),
)


def _drawn(draw: random.Random) -> bytes:
    words = [draw.choice(_WORDS) for _ in range(draw.randrange(1, 20))]
    if draw.random() < 0.3:
        words.insert(draw.randrange(len(words)), draw.randbytes(draw.randrange(200)))
    sent = bytearray(b"".join(words))
    if draw.random() < 0.5:
        body = draw.choice((b"{}", b'{"seed": 1}', b'{"how": "trim"}', draw.randbytes(30)))
        sent = bytearray(post(draw.choice([path for _, path in ROUTES]), body))
        for _ in range(draw.randrange(4)):
            sent[draw.randrange(len(sent))] = draw.randrange(256)
    return bytes(sent)


def _is_http(reply: bytes) -> bool:
    """Tell whether a reply is whole answers, each with JSON of its length."""
    while reply:
        head, _, rest = reply.partition(b"\r\n\r\n")
        if head.startswith(b"HTTP/1.1 100"):
            reply = rest
            continue
        lines = head.split(b"\r\n")
        if not lines[0].startswith(b"HTTP/1.1 "):
            return False
        length = next(int(each[16:]) for each in lines if each.startswith(b"Content-Length: "))
        if not isinstance(json.loads(rest[:length]), dict):
            return False
        reply = rest[length:]
    return True


@pytest.mark.parametrize("seed", SEEDS)
def test_whatever_is_sent_is_answered_or_hung_up_on(
    folder: Path, drive: Pretended, seed: int, capfd: pytest.CaptureFixture[str]
) -> None:
    """Drawn bytes over a socket: whole answers, no traceback, nothing but what was asked for."""
    draw = random.Random(seed)
    for _ in range(300):
        sent = _drawn(draw)
        with closing(visitor(folder)) as connection:
            try:
                connection.sendall(sent)
                connection.shutdown(socket.SHUT_WR)
                reply = heard(connection)
            except ConnectionError:
                continue
        assert _is_http(reply), sent
    for what, *given in drive.asked:
        assert what != "erase" or given == ["trim"]
        assert what != "snapshot" or given[0].isascii()
    assert still_works(folder)
    assert capfd.readouterr().err == ""


@pytest.mark.parametrize("seed", SEEDS)
def test_whatever_json_is_sent_is_judged(seed: int) -> None:
    """Drawn values in every field of every route: done with what was given, or told why not."""
    draw = random.Random(seed)
    odd: list[Any] = [None, True, 0, -1, 2**63, 2**64, 1e300, 0.5, "", "a", "trim", "../a", [], {}]
    names = ("seed", "how", "offset", "length", "name", "latency_ns", "count", "cycles", "", "x\0")
    # A sector where no length is given; no latency; whether it hangs.
    own = (None, 512, 0, True, False)
    for _ in range(1000):
        drive = Pretended()
        path = draw.choice([path for method, path in ROUTES if method == "POST"])
        body = {draw.choice(names): draw.choice(odd) for _ in range(draw.randrange(4))}
        status, told = answer(drive, "POST", path, body)
        assert (status, len(drive.asked)) in ((200, 1), (400, 0)), (path, body)
        assert status == 200 or told["error"].count("\n") == 1, (path, body)
        for what, *given in drive.asked:
            assert all(each in own or each in body.values() for each in given), what


# Over TCP.


@pytest.fixture
def doors(drive: Pretended) -> Iterator[Doors]:
    with closing(Doors(drive)) as made:
        yield made


def _ask(url: str, *headers: str, method: str = "GET", path: str = "/stats") -> tuple[int, bytes]:
    port = int(url.split(":")[2].partition("/")[0])
    length = () if method == "GET" else ("Content-Length: 0",)
    lines = [f"{method} {path} HTTP/1.1", *headers, *length, "Connection: close", "", ""]
    with closing(socket.create_connection(("127.0.0.1", port), 60)) as connection:
        reply = spoken(connection, "\r\n".join(lines).encode("latin-1"))
    return status_of(reply), reply


@pytest.mark.parametrize(
    ("host", "status"),
    [
        (("Host: localhost",), 200),
        (("Host: LOCALHOST:8080",), 200),
        (("Host: 127.0.0.1:80",), 200),
        (("Host: [::1]:80",), 200),
        (("Host: 192.168.1.7",), 200),
        ((), 421),
        (("Host: evil.example",), 421),
        (("Host: evil.example:80",), 421),
        (("Host: 127.0.0.1.evil.example",), 421),
        (("Host: localhost.evil.example",), 421),
        (("Host: 127.0.0.1", "Host: evil.example"), 421),
        (("Host: localhost", "Sec-Fetch-Site: cross-site"), 403),
        (("Host: localhost", "Sec-Fetch-Site: same-origin"), 200),
    ],
)
def test_a_strangers_name_or_page_sees_nothing(
    doors: Doors, host: tuple[str, ...], status: int
) -> None:
    """Addresses and localhost are ours; a name that leads here since its owner says so is not."""
    url = doors.open_web("0")
    found, reply = _ask(url, *host)
    assert found == status
    assert (b"intel" in reply) is (status == 200)


@pytest.mark.parametrize(
    ("token", "status"),
    [
        ((), 403),
        (("X-Ssdlab-Token: ",), 403),
        (("X-Ssdlab-Token: {token}x",), 403),
        (("X-Ssdlab-Token: \xe9",), 403),
        (("X-Ssdlab-Token: {token}",), 200),
    ],
)
def test_power_needs_the_token(
    doors: Doors, drive: Pretended, token: tuple[str, ...], status: int
) -> None:
    """Which stands behind # in the address; without it, one may look."""
    url = doors.open_web("127.0.0.1:0")
    address, _, right = url.partition("#token=")
    assert len(right) >= 20 and address.startswith("http://127.0.0.1:")
    given = [each.format(token=right) for each in token]
    found, reply = _ask(url, "Host: localhost", *given, method="POST", path="/power-cut")
    assert found == status
    assert drive.asked == ([("power_cut", None)] if status == 200 else [])
    assert right.encode() not in reply
    assert _ask(url, "Host: localhost")[0] == 200


def test_tokens_differ(doors: Doors) -> None:
    """Each time a new one."""
    addresses = [doors.open_web("0") for _ in range(2)]
    assert len({each.partition("#")[2] for each in addresses}) == 2


@pytest.mark.parametrize(
    ("place", "told"),
    [
        ("here", "is no address\nwrite HOST:PORT"),
        ("127.0.0.1", "is no address"),
        ("127.0.0.1:70000", "is no address"),
        ("127.0.0.1:-1", "is no address"),
        ("::1:80", "is no address"),
        ("a b:80", "is no address"),
        ("0.0.0.0:80", "can be reached from other machines"),
        ("[::]:80", "can be reached from other machines"),
        ("192.168.1.7:80", "can be reached from other machines"),
        ("no-such-host.invalid:80", "no such host\nwrite 127.0.0.1:80"),
    ],
)
def test_wrong_addresses_are_told(place: str, told: str) -> None:
    """Others' machines are served only where that is said in so many words."""
    with pytest.raises(SsdlabError) as error:
        tcp_address("--web", place)
    assert str(error.value).startswith(f"--web {place}: ")
    assert told in str(error.value)


def test_others_may_reach_it_if_that_is_said(doors: Doors, drive: Pretended) -> None:
    """Then all addresses of the machine are served."""
    url = doors.open_web("0.0.0.0:0", others_may_reach_it=True)
    assert _ask(url, "Host: 10.0.0.1")[0] == 200
    assert _ask(url, "Host: evil.example")[0] == 421


def test_a_port_that_is_taken_is_told(doors: Doors) -> None:
    """With what to do."""
    with closing(socket.create_server(("127.0.0.1", 0))) as taken:
        place = f"127.0.0.1:{taken.getsockname()[1]}"
        with pytest.raises(SsdlabError, match=f"--web {place}: .*\nchoose another"):
            doors.open_web(place)
