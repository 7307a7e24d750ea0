"""``ssdlab ctl``: ask drives that are being served, and steer them."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import click

from ssdlab.cli.arguments import whole_number
from ssdlab.cli.console import print_json, print_table, print_text
from ssdlab.cli.json_option import JSON_OPTION
from ssdlab.cli.lost import cut_in_words, print_lost
from ssdlab.cli.on_folders import OnFolders
from ssdlab.cli.verb import Verb
from ssdlab.ground import text
from ssdlab.ground.errors import SsdlabError
from ssdlab.live.api import ERASES, FAULTS, OPERATIONS
from ssdlab.live.client import Client, at_once, spread_ns

_MOST = 2**64 - 1
_INJECTED = {
    "media-error": "byte {} cannot be read until it is written",
    "latency": "requests take {} longer",
    "hang": "no request goes on; end that: inject nothing",
    "nothing": "requests take as long as the drive",
}
"""What can be injected, and what is said of it."""
FAULT_TERMS = (
    ("shorn", "of a unit under program some first sectors are new, the rest old"),
    ("unreadable", "a unit under program cannot be read until it is written whole"),
    ("paired", "pages that share cells with a row under program become unreadable"),
    ("unserialized", "of the writes that were not flushed any survive, in no order"),
    ("rollback", "the newest units fall back to what stood before, though flushed"),
    ("lying", "a flush is answered at once, and flushes nothing"),
    ("capacitor", "a protected buffer is lost"),
)
"""What may go wrong at a power cut."""
_LOOK_EVERY_S = 0.002

Answers = list[tuple[str, dict[str, Any]]]


@click.group(
    cls=OnFolders,
    short_help="Ask and steer drives that are being served.",
    examples=(
        "ssdlab ctl drive stats",
        "ssdlab ctl drive watch",
        "ssdlab ctl drive power-cut --seed 7",
        "ssdlab ctl drive power-on",
        "ssdlab ctl disk1 disk2 power-cut --after 1000",
    ),
)
@click.argument(
    "folders",
    nargs=-1,
    required=True,
    metavar="FOLDER...",
)
def ctl(folders: Sequence[str]) -> None:
    """Ask and steer the drives in FOLDER..., which `ssdlab serve` serves."""


def _folders() -> Sequence[str]:
    context = click.get_current_context().parent
    assert context is not None, "a verb below has one above"
    found: Sequence[str] = context.params["folders"]
    return found


@contextmanager
def _clients() -> Iterator[list[Client]]:
    clients = [Client(folder) for folder in _folders()]
    try:
        yield clients
    finally:
        for client in clients:
            client.close()


def _ask_all(ask: Callable[[Client], dict[str, Any]]) -> Answers:
    """Ask all at once; what one refuses does not keep the others from it.

    Raises
    ------
    SsdlabError
        All that went wrong; what went well is printed then.
    """
    with _clients() as clients:
        return _told(clients, at_once(clients, ask))


def _told(clients: Sequence[Client], told: Sequence[dict[str, Any] | SsdlabError]) -> Answers:
    errors = [each for each in told if isinstance(each, SsdlabError)]
    answers = [
        (client.folder, each)
        for client, each in zip(clients, told, strict=True)
        if not isinstance(each, SsdlabError)
    ]
    if errors:
        done = [f"{folder}: done all the same" for folder, _ in answers]
        raise SsdlabError("\n".join([*map(str, errors), *done]))
    return answers


def _print_answers(answers: Answers, more: Mapping[str, Any] | None = None) -> None:
    # As it was given, also where the server tells its own path.
    folders = [{"folder": name, **{**told, "folder": name}} for name, told in answers]
    print_json({"folders": folders, **(more or {})})


def _print_done(answers: Answers, as_json: bool, words: str) -> int:
    if as_json:
        _print_answers(answers)
    else:
        for folder, _ in answers:
            print_text(f"{folder}: {words}")
    return 0


@ctl.command(cls=Verb, examples=("ssdlab ctl drive stats --json",))
@JSON_OPTION
def stats(as_json: bool) -> int:
    """Show how the drive is, and what it has done since its server began."""
    answers = _ask_all(lambda client: client.get("/stats"))
    if as_json:
        _print_answers(answers)
        return 0
    from ssdlab.cli.served_figures import rows_of

    columns = [dict(rows_of(told)) for _, told in answers]
    names = dict.fromkeys(name for column in columns for name in column)
    rows = [(name, *(column.get(name, text.NOTHING) for column in columns)) for name in names]
    print_table(("", *(folder for folder, _ in answers)), rows)
    return 0


@ctl.command(
    cls=Verb,
    terms=(
        ("clock", "the drive's own time"),
        ("MB/s", "read and written together"),
        ("p99", "99 % of requests took no longer on that clock"),
        ("WA", "bytes programmed into flash per byte that the host wrote"),
        ("free", "blocks that are free, of all"),
    ),
    examples=(
        "ssdlab ctl drive watch",
        "ssdlab ctl drive watch --seconds 60 --json > drive.jsonl",
    ),
)
@click.option("--seconds", metavar="N", help="End after N seconds; by default at Ctrl-C.")
@JSON_OPTION
@click.pass_context
def watch(context: click.Context, seconds: str | None, as_json: bool) -> int:
    """Show what the drive does, a line a second, and what it says.

    With --json each line is a JSON object of its own.
    """
    from ssdlab.cli import ctl_watch

    most = None if seconds is None else _number(context, "seconds", seconds, 1)
    with _clients() as clients:
        return ctl_watch.watch(clients, most, as_json)


def _number(context: click.Context, name: str, value: str, low: int = 0) -> int:
    """Read a whole number, of an option or argument of that name."""
    option = next(each for each in context.command.params if each.name == name)
    return whole_number(low, _MOST)(context, option, value)


@ctl.command(
    "power-cut",
    cls=Verb,
    examples=(
        "ssdlab ctl drive power-cut",
        "ssdlab ctl drive power-cut --after 1000 --seed 7",
        "ssdlab ctl disk1 disk2 power-cut",
    ),
)
@click.option(
    "--after", metavar="N", help="Wait until clients have sent N requests more, to all drives."
)
@click.option("--at", metavar="TIME", help="Wait until a drive's clock shows TIME, such as 10s.")
@click.option("--seed", metavar="N", help="Draw with this seed what of the writes survives.")
@JSON_OPTION
@click.pass_context
def power_cut(
    context: click.Context, after: str | None, at: str | None, seed: str | None, as_json: bool
) -> int:
    """Cut the power, of all FOLDERs at the same instant.

    The bytes of writes that were neither flushed nor in flash are lost, as the seed draws it;
    without --seed the server draws one and tells it. Requests under way never end, clients get I/O
    errors, and the drive is off until power-on. With --after and --at the power
    goes just after: the drive is looked at every 2 ms.
    """
    drawn = None if seed is None else _number(context, "seed", seed)
    more = None if after is None else _number(context, "after", after)
    shown = None if at is None else text.parse_time(at, "--at")
    if more is not None and shown is not None:
        raise SsdlabError("--after and --at: the power is cut once\ngive one of them")
    with _clients() as clients:
        _wait(clients, more, shown)
        answers = _told(clients, at_once(clients, lambda each: each.post("/power-cut", seed=drawn)))
    spread = spread_ns([told for _, told in answers])
    if as_json:
        _print_answers(answers, {"spread_ns": spread})
        return 0
    for folder, told in answers:
        print_text(f"{folder}: {cut_in_words(told)}")
    if len(answers) > 1:
        print_text(f"the cuts lie within {text.duration(spread)} of each other")
    print_text(f"what was lost: ssdlab ctl {answers[0][0]} lost")
    return 0


def _wait(clients: Sequence[Client], more: int | None, at_ns: int | None) -> None:
    """Wait for a number of requests, or a time; looked at so often that a cut comes just after."""
    if more is None and at_ns is None:
        return
    first = [client.get("/stats") for client in clients]
    for told, client in zip(first, clients, strict=True):
        if told.get("power") == "off":
            raise SsdlabError(
                f"{client.folder}: its power is off\n"
                f"turn it on: ssdlab ctl {client.folder} power-on"
            )
    begun = sum(map(_requests, first))
    now = first
    while True:
        if more is not None and sum(map(_requests, now)) >= begun + more:
            return
        if at_ns is not None and any(told.get("now_ns", 0) >= at_ns for told in now):
            return
        time.sleep(_LOOK_EVERY_S)
        now = [client.get("/stats") for client in clients]


def _requests(told: Mapping[str, Any]) -> int:
    counts = told.get("requests") or {}
    return sum(counts.get(name, 0) for name in OPERATIONS)


@ctl.command("power-on", cls=Verb, examples=("ssdlab ctl drive power-on",))
@JSON_OPTION
def power_on(as_json: bool) -> int:
    """Turn the power on again; clients have to connect anew."""
    return _print_done(_ask_all(lambda client: client.post("/power-on")), as_json, "power is on")


@ctl.command(cls=Verb, examples=("ssdlab ctl drive lost", "ssdlab ctl drive lost --json"))
@JSON_OPTION
def lost(as_json: bool) -> int:
    """Show what the last power cut took: sectors lost, requests dropped."""
    answers = _ask_all(lambda client: client.get("/lost"))
    if as_json:
        _print_answers(answers)
        return 0
    for folder, told in answers:
        cut = told.get("cut")
        if cut is None:
            print_text(f"{folder}: no power cut since the server began")
            continue
        print_text(f"{folder}: {cut_in_words(cut)}")
        print_lost(cut)
    return 0


@ctl.command(cls=Verb, examples=("ssdlab ctl drive checkpoint",))
@JSON_OPTION
def checkpoint(as_json: bool) -> int:
    """Write down map, wear and counters now, as a clean end does."""
    return _print_done(_ask_all(lambda client: client.post("/checkpoint")), as_json, "written down")


@ctl.command(
    cls=Verb,
    terms=(
        ("secure-erase", "erases every block"),
        ("crypto-erase", "throws the key away"),
        ("trim", "trims all sectors"),
        ("overwrite", "programs every block with a pattern and erases it: one pass"),
    ),
    examples=("ssdlab ctl drive erase secure-erase",),
)
@click.argument("how", type=click.Choice(ERASES), metavar="HOW")
@JSON_OPTION
def erase(how: str, as_json: bool) -> int:
    """Empty the drive; HOW is secure-erase, crypto-erase, trim or overwrite."""
    answers = _ask_all(lambda client: client.post("/erase", how=how))
    if as_json:
        _print_answers(answers)
        return 0
    for folder, told in answers:
        print_text(f"{folder}: empty; took {text.duration(told.get('took_ns'))} of its clock")
    return 0


@ctl.command(
    cls=Verb,
    examples=(
        "ssdlab ctl drive age 2500",
        "ssdlab ctl drive age --used 90 --spare 8 --media-errors 3",
        "ssdlab ctl drive age --capacitor failed --celsius 71",
        "ssdlab ctl drive age --read-only",
    ),
)
@click.argument("cycles", metavar="[CYCLES]", required=False)
@click.option("--used", metavar="PERCENT", help="Wear the drive until PERCENT of its life is used.")
@click.option(
    "--spare", metavar="PERCENT", help="Retire blocks until PERCENT of the spare is left."
)
@click.option("--read-only", is_flag=True, help="Retire blocks until it takes no more writes.")
@click.option("--media-errors", metavar="N", help="Add N to the count of media errors.")
@click.option("--unsafe-shutdowns", metavar="N", help="Add N to the count of unsafe shutdowns.")
@click.option("--celsius", metavar="N", help="Report a temperature of N °C from now on.")
@click.option("--power-on-hours", metavar="N", help="Report N power-on hours.")
@click.option("--power-cycles", metavar="N", help="Report N power cycles.")
@click.option(
    "--capacitor",
    type=click.Choice(("failed", "ok")),
    help="Fail or repair its power-loss protection: without it, a power cut loses the buffer.",
)
@JSON_OPTION
@click.pass_context
def age(context: click.Context, /, as_json: bool, **given: Any) -> int:
    """Bring the drive to another point of its life.

    CYCLES adds that many erases to each good block; a block beyond its endurance goes bad at its
    next erase. --spare and --read-only retire free blocks at once, and blocks that hold data when
    they are next collected; the spare counts both immediately. No data are written. The model has
    no temperature and no clock of its life, so the values of --celsius, --power-on-hours and
    --power-cycles stay until you change them. `ssdlab smart` shows all of it.
    """
    aging = _aging(context, given)
    answers = _ask_all(lambda client: client.post("/age", **aging))
    if as_json:
        _print_answers(answers)
        return 0
    for folder, told in answers:
        print_text(f"{folder}: {_health_in_words(told)}")
    return 0


def _aging(context: click.Context, given: Mapping[str, Any]) -> dict[str, Any]:
    names = {"used": "used_percent", "spare": "spare_percent"}
    numbers = ("cycles", "used", "spare", "media_errors", "unsafe_shutdowns")
    aging: dict[str, Any] = {
        names.get(name, name): _number(context, name, given[name])
        for name in (*numbers, "power_on_hours", "power_cycles")
        if given[name] is not None
    }
    if given["celsius"] is not None:
        aging["celsius"] = _signed(given["celsius"])
    if given["read_only"]:
        aging["read_only"] = True
    if given["capacitor"] is not None:
        aging["capacitor_failed"] = given["capacitor"] == "failed"
    return aging


def _signed(value: str) -> int:
    try:
        return int(value)
    except ValueError:
        raise SsdlabError(f"--celsius {value}: is no whole number\nwrite one, as in 71") from None


def _health_in_words(told: Mapping[str, Any]) -> str:
    used, spare = told.get("used_percent"), told.get("spare_percent")
    words = f"{used} % of its life used, {spare} % of its spare left"
    return f"{words}, read-only" if told.get("read_only") else words


@ctl.command(
    cls=Verb,
    terms=(
        ("media-error", "sectors from byte VALUE on cannot be read until they are written again"),
        ("latency", "each request takes VALUE longer, such as 20ms, by the machine's clock"),
        ("hang", "no request goes on, until it is ended or the power is cut"),
        ("nothing", "ends a latency or a hang"),
    ),
    examples=(
        "ssdlab ctl drive inject media-error 1048576 --length 65536",
        "ssdlab ctl drive inject latency 200ms --count 1000",
        "ssdlab ctl drive inject hang",
        "ssdlab ctl drive inject nothing",
    ),
)
@click.argument("what", type=click.Choice(tuple(_INJECTED)), metavar="WHAT")
@click.argument("value", metavar="[VALUE]", required=False)
@click.option("--length", metavar="BYTES", help="media-error: so many; by default one sector.")
@click.option("--count", metavar="N", help="latency: of N requests; by default of all.")
@JSON_OPTION
@click.pass_context
def inject(context: click.Context, /, what: str, as_json: bool, **given: str | None) -> int:
    """Break something; WHAT is media-error, latency, hang or nothing."""
    fields = _fields(context, what, given)
    answers = _ask_all(lambda client: client.post(f"/inject/{what}", **fields))
    value = f"{fields['offset']:,}" if "offset" in fields else ""
    value = text.duration(fields["latency_ns"]) if "latency_ns" in fields else value
    return _print_done(answers, as_json, _INJECTED[what].format(value))


def _fields(
    context: click.Context, what: str, given: Mapping[str, str | None]
) -> dict[str, int | None]:
    """Read what is injected."""
    more = {"media-error": "length", "latency": "count"}.get(what)
    for name in ("length", "count"):
        if given[name] is not None and name != more:
            raise SsdlabError(f"--{name}: is not for {what}\nleave it out")
    value = given["value"]
    if value is None and more is None:
        return {}
    if value is None or more is None:
        wanted = {"length": "needs an OFFSET in bytes", "count": "needs a time, such as 20ms"}
        raise SsdlabError(f"inject {what}: {wanted.get(str(more), 'takes no value')}")
    option = given[more]
    number = None if option is None else _number(context, more, option, 1)
    if what == "latency":
        return {"latency_ns": text.parse_time(value, "latency"), more: number}
    return {"offset": _number(context, "value", value), more: number}


@ctl.command(
    cls=Verb,
    terms=FAULT_TERMS,
    examples=("ssdlab ctl drive faults lying shorn", "ssdlab ctl drive faults none"),
)
@click.argument(
    "names", nargs=-1, required=True, type=click.Choice((*FAULTS, "none")), metavar="NAME..."
)
@JSON_OPTION
def faults(names: Sequence[str], as_json: bool) -> int:
    """Let faults NAME... happen at power cuts from now on, and no others; none ends them.

    A fault knows of the writes since it was armed.
    """
    wanted = [name for name in names if name != "none"]
    if wanted and "none" in names:
        raise SsdlabError("none: goes without others\nleave it out, or the others")
    answers = _ask_all(lambda client: client.post("/faults", faults=wanted))
    return _print_done(answers, as_json, f"faults: {', '.join(wanted) or 'none'}")


@ctl.command(cls=Verb, examples=("ssdlab ctl drive snapshot before",))
@click.argument("name", metavar="NAME")
@JSON_OPTION
def snapshot(name: str, as_json: bool) -> int:
    """Keep the drive as it is now, under NAME."""
    answers = _ask_all(lambda client: client.post("/snapshot", name=name))
    return _print_done(answers, as_json, f"kept as {name}")


@ctl.command(cls=Verb, examples=("ssdlab ctl drive restore before",))
@click.argument("name", metavar="NAME")
@JSON_OPTION
def restore(name: str, as_json: bool) -> int:
    """Bring the drive back to what snapshot kept under NAME."""
    answers = _ask_all(lambda client: client.post("/restore", name=name))
    return _print_done(answers, as_json, f"as it was at {name}")
