"""``ssdlab serve``: a drive as a block device for other programs, until it is stopped."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ssdlab.cli.arguments import SEED_OPTION, read_job_source
from ssdlab.cli.console import note, print_json, print_text
from ssdlab.cli.drives import (
    EXACT_OPTION,
    SET_OPTION,
    SPAN_OPTION,
    check_exact,
    parse_settings,
    tell_memory,
)
from ssdlab.cli.json_option import JSON_OPTION
from ssdlab.cli.tasks import carry_out
from ssdlab.cli.verb import Verb
from ssdlab.engine import conditions
from ssdlab.engine.request import RunRequest
from ssdlab.experiment import cache
from ssdlab.ground import text
from ssdlab.ground.errors import SsdlabError, Stopped
from ssdlab.live import background
from ssdlab.live.api import FAULTS

if TYPE_CHECKING:
    from ssdlab.live.served import Nvme

_NBD_PORT, _NVME_PORT = 10809, 4420
"""As protocols are registered for them."""
_DURABLE = ("process", "host")
LOG = "serve.log"
"""What a process in the background says, in the folder."""
_ONLY_MAKING = ("condition", "job", "settings", "span", "exact", "image")


@click.command(
    cls=Verb,
    short_help="Serve a drive that holds bytes to other programs.",
    terms=(
        ("--pace 1", "answers when the drive would; 0.1 takes ten times as long"),
        ("--pace off", "answers as fast as this machine can compute it"),
        ("--durable process", "what was acknowledged outlives this process"),
        ("--durable host", "what was flushed outlives this machine's power, at its disk's speed"),
    ),
    examples=(
        "ssdlab serve intel-dc-s3500-80gb --state steady -o drive",
        "ssdlab serve my.toml --state steady:job --job mail.fio -o drive",
        "ssdlab serve drive --pace 1 --web 8080",
        "ssdlab serve drive --wait-ready && nbdinfo 'nbd+unix:///?socket=drive/nbd.sock'",
        "ssdlab serve theory --set capacity_bytes=1GiB --data image.raw -o drive",
        "ssdlab serve drive --nvme-tcp 127.0.0.1:4420",
        "kill $(cat drive/pid)",
    ),
)
@click.argument("drive", metavar="DRIVE|FOLDER")
@click.option("--output", "-o", metavar="FOLDER", help="Make the drive in this new folder.")
@click.option(
    "--state",
    "condition",
    type=click.Choice(conditions.CHOICES),
    help="Bring the new drive into this condition first.",
)
@click.option(
    "--job",
    metavar="JOB.fio",
    help="Reach steady:job with this job's writes; by default, with 4 KiB random writes.",
)
@SET_OPTION
@SPAN_OPTION
@EXACT_OPTION
@SEED_OPTION
@click.option(
    "--data",
    "image",
    metavar="FILE",
    help="Fill the new drive with this raw disk image, which must be as long as the drive.",
)
@click.option(
    "--nbd",
    "places",
    multiple=True,
    metavar="unix:PATH|HOST:PORT",
    help="Speak NBD there; by default at nbd.sock in the folder. May be repeated.",
)
@click.option(
    "--nvme-tcp",
    "nvme_places",
    multiple=True,
    metavar="HOST:PORT",
    help="Speak NVMe over TCP there, too, as with 127.0.0.1:4420. May be repeated.",
)
@click.option(
    "--pace",
    default="off",
    show_default=True,
    metavar="FACTOR|off",
    help="Let so many seconds of the drive's time pass in a second.",
)
@click.option(
    "--durable",
    type=click.Choice(_DURABLE),
    default="process",
    show_default=True,
    help="What acknowledged data outlive.",
)
@click.option(
    "--fault",
    "faults",
    multiple=True,
    type=click.Choice(FAULTS),
    metavar="NAME",
    help="Let this go wrong at power cuts; `ssdlab ctl FOLDER faults -h` lists what. Repeatable.",
)
@click.option(
    "--log",
    metavar="FOLDER",
    help="Write what is done to the drive into this new folder; `ssdlab check` plays it again.",
)
@click.option("--web", metavar="[HOST:]PORT", help="Serve a page that shows the drive live.")
@click.option(
    "--let-other-machines-in",
    "others_may_reach_it",
    is_flag=True,
    help="Take addresses that other machines can reach: no protocol here has passwords.",
)
@click.option(
    "--wait-ready",
    is_flag=True,
    help="Serve in the background, and return once clients can come; the process is in FOLDER/pid.",
)
@JSON_OPTION
@click.option("--ready-fd", type=int, hidden=True)
@click.pass_context
def serve(context: click.Context, /, drive: str, output: str | None, **given: Any) -> int:
    """Serve a drive to other programs as a block device, over NBD or NVMe.

    DRIVE is a profile, a profile file or a drive file, from which -o makes a folder; FOLDER is
    such a folder, whose drive goes on. Ctrl-C, SIGINT and SIGTERM end it: the drive is put away,
    and lies in the folder. SIGKILL is a legal power cut: what was not flushed may be gone.
    """
    pace = _pace(given["pace"])
    # Read before a folder is made, which may take long.
    _nbd_places(Path(), given)
    _nvme_places(given)
    folder = _folder(context, drive, output, given)
    if given["wait_ready"]:
        return _in_background(folder, given)
    return _serve(folder, {**given, "pace": pace})


def _pace(value: str) -> float | None:
    if value == "off":
        return None
    try:
        factor = float(value)
    except ValueError:
        factor = 0.0
    if not 0 < factor <= 1e6:
        raise SsdlabError(
            f"--pace {value}: is no pace\nwrite off, 1, or a factor above 0, at most 1e6"
        )
    return factor


def _folder(context: click.Context, drive: str, output: str | None, given: dict[str, Any]) -> Path:
    """Return the folder to serve; made first where a drive is given."""
    if Path(drive).is_dir():
        for name in ("output", "seed", *_ONLY_MAKING):
            source = context.get_parameter_source(name)
            if source is click.core.ParameterSource.COMMANDLINE:
                option = next(each for each in context.command.params if each.name == name)
                raise SsdlabError(
                    f"{option.opts[0]}: is for a drive that is made; {drive} has one\nleave it out"
                )
        return Path(drive)
    if output is None:
        from ssdlab import engine

        # What is no drive is told first.
        engine.show(drive)
        raise SsdlabError(
            f"{drive}: is a drive to be made, and has no folder yet\n"
            f"say where its bytes go: ssdlab serve {drive} -o FOLDER"
        )
    _make(drive, Path(output), given)
    return Path(output)


def _make(drive: str, folder: Path, given: dict[str, Any]) -> None:
    from ssdlab import engine

    check_exact(given["exact"], given["condition"], "--state")
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise SsdlabError(
            f"{folder}: already exists and is not an empty folder\n"
            f"name another one, or go on with its drive: ssdlab serve {folder}"
        )
    job = read_job_source([given["job"]]) if given["job"] is not None else None
    if job is not None and given["condition"] != conditions.BY_JOB:
        raise SsdlabError(f"--job: its writes lead to {conditions.BY_JOB}\nadd --state steady:job")
    request = RunRequest(
        drive=drive,
        settings=parse_settings(given["settings"]),
        condition=given["condition"],
        job_text=None if job is None else job.text,
        job_name="command line" if job is None else job.name,
        span=text.parse_span(given["span"]),
        exact=given["exact"],
        seed=given["seed"],
    )
    tell_memory([request])

    def task(progress: engine.Progress) -> bool:
        asked = cache.conditioned(request, progress)
        engine.make_folder(asked, folder.absolute(), given["image"], progress)
        return True

    (made,), _ = carry_out([drive], [task])
    if made is None:
        raise Stopped


def _nbd_places(folder: Path, given: dict[str, Any]) -> list[tuple[str, str]]:
    from ssdlab.live.served import NBD_SOCKET

    if not given["places"]:
        return [("unix", str((folder / NBD_SOCKET).absolute()))]
    found = []
    for place in given["places"]:
        kind, _, rest = place.partition(":")
        if kind == "unix":
            found.append(("unix", str(Path(rest).absolute())))
        else:
            found.append(("tcp", _tcp("--nbd", place, given, _NBD_PORT)))
    return found


def _nvme_places(given: dict[str, Any]) -> list[str]:
    return [_tcp("--nvme-tcp", place, given, _NVME_PORT) for place in given["nvme_places"]]


def _tcp(option: str, place: str, given: dict[str, Any], port: int) -> str:
    from ssdlab.live.doors import tcp_address

    host, number = tcp_address(option, place, given["others_may_reach_it"], port)
    return f"[{host}]:{number}" if ":" in host else f"{host}:{number}"


def _nvme(folder: Path, given: dict[str, Any]) -> Nvme | None:
    """Return how NVMe hosts see the drive, where they shall."""
    places = _nvme_places(given)
    if not places:
        return None
    from ssdlab import engine
    from ssdlab.live.served import nvme_of
    from ssdlab.machine.health.simulated import model_name

    return nvme_of(folder, places, model_name(engine.show(str(folder))), engine.version())


def _serve(folder: Path, given: dict[str, Any]) -> int:
    """Serve until a signal comes."""
    from ssdlab.live.doors import Doors
    from ssdlab.live.served import FolderDrive, ServingWishes

    ended = _Ending()
    reach = given["others_may_reach_it"]
    places = _nbd_places(folder, given)
    log = None if given["log"] is None else Path(given["log"])
    nvme = _nvme(folder, given)
    wishes = ServingWishes(
        places, reach, given["pace"], given["durable"], given["faults"], log, nvme
    )
    drive = FolderDrive(folder, wishes)
    doors = Doors(drive)
    try:
        doors.open_control(folder)
        web = None if given["web"] is None else doors.open_web(given["web"], reach)
        _tell(folder, drive.addresses, web, given)
        ended.wait()
        note("ssdlab: putting the drive away (a second signal ends at once)")
    finally:
        doors.close()
        drive.close()
    return 0


def _tell(folder: Path, addresses: Sequence[str], web: str | None, given: dict[str, Any]) -> None:
    """Say where clients can come; to who waits for it, where somebody started this process."""
    told = {"folder": str(folder), "addresses": list(addresses), "web": web, "pid": os.getpid()}
    lines = [*addresses, *([] if web is None else [web])]
    if given["ready_fd"] is not None:
        background.tell_ready(given["ready_fd"], {**told, "lines": lines})
    elif given["as_json"]:
        print_json(told)
    else:
        print_text("\n".join(lines))
    with suppress(OSError, ValueError):
        sys.stdout.flush()
    note(f"ssdlab: {folder} is being served; Ctrl-C puts the drive away")


class _Ending:
    """Waits for a signal; one that a script has servers ignore in the background counts, too."""

    def __init__(self) -> None:
        self._came = threading.Event()
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, self._end)

    def _end(self, *_: Any) -> None:
        if self._came.is_set():
            os._exit(130)
        self._came.set()

    def wait(self) -> None:
        """Wait until one comes."""
        self._came.wait()


def _in_background(folder: Path, given: dict[str, Any]) -> int:
    """Start a process that serves the folder; return once it does."""
    told = background.start(["serve", str(folder), *_words(given)], folder / LOG)
    lines = told.pop("lines")
    if given["as_json"]:
        print_json(told)
    else:
        print_text("\n".join(lines))
    return 0


def _words(given: dict[str, Any]) -> list[str]:
    """Return the options of the process that serves."""
    words = [word for place in given["places"] for word in ("--nbd", place)]
    words += [word for place in given["nvme_places"] for word in ("--nvme-tcp", place)]
    words += [word for fault in given["faults"] for word in ("--fault", fault)]
    words += ["--pace", given["pace"], "--durable", given["durable"]]
    for name in ("web", "log"):
        if given[name] is not None:
            words += [f"--{name}", given[name]]
    if given["others_may_reach_it"]:
        words.append("--let-other-machines-in")
    return words
