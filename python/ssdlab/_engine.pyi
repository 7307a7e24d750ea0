"""The compiled engine: converts between Python and Rust, holds no logic."""

from collections.abc import Callable, Sequence
from os import PathLike
from typing import final

from ssdlab.ground.output import PendingFile

__all__ = [
    "EngineError",
    "Cancelled",
    "DiskError",
    "Disk",
    "Server",
    "check_folder",
    "make_folder",
    "replay_log",
    "HeldDrive",
    "version",
    "profiles",
    "layers",
    "show",
    "run",
    "check_job",
    "survey_trace",
    "render",
    "season",
    "scenario",
    "theory",
    "explain",
    "register_policy",
    "unregister_policy",
]

class EngineError(Exception):
    """What the user can mend: the message names place, value and remedy."""

class Cancelled(Exception):
    """The callback asked to stop."""

class DiskError(Exception):
    """A command of a drive with bytes was not carried out: its arguments are the kind and the message."""

@final
class Disk:
    """A drive that holds bytes, in RAM and virtual time; callable from any thread, and each call is over at once."""

    def __new__(
        cls, request_json: str, faults: Sequence[str], progress: Callable[[str, float], bool] | None
    ) -> Disk: ...
    def submit(self, name: int, command: tuple[str, int, int, bool], data: bytes) -> int:
        """Hands over a command (operation, offset, length, FUA) under a name that no other has; the number of the last write."""

    def wait(self, name: int) -> bytes:
        """Lives on until a command has ended; what it read. Once for each."""

    def perform(
        self, name: int, command: tuple[str, int, int, bool], data: bytes
    ) -> tuple[int, bytes]:
        """As `submit` and then `wait`."""

    def step(self) -> bool:
        """Lives on until the next event; whether there was one."""

    def advance(self, nanoseconds: int) -> None:
        """Lives on for so long."""

    def power_cut(
        self, seed: int
    ) -> tuple[
        list[tuple[int, int, bool, str, int | None, int | None, bool]],
        list[int],
        list[tuple[int, int]],
    ]:
        """Cuts the power: sectors that are lost (as `LostSector`), names of commands that were dropped, stretches whose undo had been dropped."""

    def copy(self) -> Disk:
        """The same drive once more, with all that is under way."""

    def now_ns(self) -> int:
        """The instant that it has lived to."""

    def limits(self) -> tuple[int, int, int, int, bool]:
        """Bytes, bytes of a sector, bytes that a trim must cover, commands at once, whether the buffer is volatile."""

    def stats(self) -> str:
        """JSON {name, condition, read_only, write_amplification, counters}, the last two of what happened since it was opened."""

@final
class Server:
    """A drive in a folder that is served over NBD, and NVMe over TCP, until it is stopped; callable from any thread."""

    def __new__(
        cls,
        folder: PathLike[str] | str,
        places: tuple[list[tuple[str, str]], tuple[list[str], tuple[str, str, str, str]] | None],
        others_may_reach_it: bool,
        pace: float | None,
        durable_host: bool,
        log: PathLike[str] | str | None,
    ) -> Server:
        """Places are those of NBD, `unix` and a path, or `tcp` and an address with its port, and those of NVMe: addresses, and model, serial number, firmware and qualified name; a pace of None is as fast as it is computed; what is done to the drive goes into a new folder `log`."""

    def places(self) -> list[tuple[str, str]]:
        """Where NBD clients find it, with the ports that the machine chose."""

    def nvme_places(self) -> list[str]:
        """Where NVMe hosts find it."""

    def stats(self) -> str:
        """What it is like and what it has done, as JSON; see `ssdlab.live.api.Served.stats`."""

    def power_cut(self, seed: int) -> str:
        """Cuts the power, which stays away; JSON {seed, at_ns, lost, dropped}."""

    def power_on(self) -> None:
        """The power comes back."""

    def checkpoint(self) -> None:
        """Keeps what the drive is like, as soon as nothing is under way."""

    def arm(self, faults: Sequence[str]) -> None:
        """What goes wrong at cuts from now on."""

    def snapshot(self, name: str) -> None:
        """Keeps a copy of the drive."""

    def restore(self, name: str) -> None:
        """The drive is what a copy has; who was connected has lost it."""

    def erase(self, how: str) -> int:
        """Starts over; the time that it takes, in nanoseconds."""

    def age(self, words: str, used_percent: int | None) -> None:
        """Each good block has been erased so many times more."""

    def inject(self, latency_ns: int, count: int | None, hangs: bool) -> None:
        """Holds requests back from now on, for so long, or until a hang is ended; `count` of them, or all."""

    def spoil(self, offset: int, length: int) -> None:
        """Sectors that hold these bytes cannot be read until they are written or trimmed."""

    def stop(self) -> None:
        """Ends what is under way, puts the drive away and closes its folder."""

@final
class HeldDrive:
    """A drive or a stack that goes on from run to run, with no time between them; callable from any thread."""

    def __new__(cls, request_json: str) -> HeldDrive: ...
    def run(self, job_text: str, seed: int, progress: Callable[[str, float], bool] | None) -> str:
        """Runs a job; fio's JSON with histograms and our object per job. Nothing is laid out before reads."""

    def start_over(self, how: str) -> str:
        """Starts the drive over; JSON {start_over_ns, start_over_blocks_erased}."""

    def save(
        self,
        path: str,
        progress: Callable[[str, float], bool] | None,
        files: Callable[[str, str, bool], PendingFile],
    ) -> None:
        """Keeps the drive in a file, and goes on from what was written."""

    def show(self) -> str:
        """As the function `show`."""

def check_folder(folder: PathLike[str] | str) -> str:
    """What is in a drive's folder and what is wrong with it, as JSON; see `ssdlab.engine.check_folder`."""

def replay_log(folder: PathLike[str] | str) -> str | None:
    """What the cuts of a log take when it is played again, as JSON; None where the folder is of no log."""

def make_folder(
    request_json: str,
    folder: PathLike[str] | str,
    image: PathLike[str] | str | None,
    progress: Callable[[str, float], bool] | None,
) -> None:
    """Makes a folder with the drive of a request, in its condition, and the bytes of a raw image or zeroes."""

def version() -> str: ...
def profiles() -> str:
    """JSON list of {name, title, capacity_bytes, over_provisioning, cell, link, summary}."""

def layers() -> str:
    """JSON list of {name, about, example, second_drive, parameters:[{key, default, unit, expects, about}]}."""

def show(drive: str, settings: list[tuple[str, str]], layers: list[str], scale: str | None) -> str:
    """JSON {name, file, drive_file, condition, conditioned_by, started_over, layers:[kind], parameters:[{key, value, text, unit, kind, source, about}], derived:[{key, value, unit, about}], counters, memory_bytes, wear}."""

def run(
    request_json: str,
    progress: Callable[[str, float], bool] | None,
    files: Callable[[str, str, bool], PendingFile],
) -> str:
    """Runs the job of a request (`RunRequest`) on its drive; fio's JSON with our object per job. `progress(phase, share)` returns False to stop; `files(path, option, must_be_new)` is what logs and the drive are written by."""

def check_job(job_text: str | None, job_name: str, flags: list[str]) -> str:
    """Reads a job without running it; JSON {jobs:[name], notices:[sentence]}."""

def survey_trace(
    path: str, device: str | None, progress: Callable[[str, float], bool] | None
) -> str:
    """Reads a trace to its end; JSON {format, packed_with, device, requests, reads:{requests, bytes}, writes, trims, flushes, end_bytes, duration_ns, in_order}."""

def render(result_json: str, format: str) -> str:
    """A result (fio's JSON) as fio's `normal` or `terse` text, or as `json` without what only `json+` has."""

def season(
    request_json: str,
    progress: Callable[[str, float], bool] | None,
    files: Callable[[str, str, bool], PendingFile],
) -> str:
    """Starts a request's drive over, brings it into its condition, and saves it; JSON {file, condition, started_over, start_over_ns, start_over_blocks_erased, steady_reached, rounds:[wa…], scale_model, way, counters}."""

def scenario(
    request_json: str,
    name: str,
    values: list[tuple[str, str]],
    progress: Callable[[str, float], bool] | None,
) -> str:
    """Runs a scenario on a request's drive; JSON {profile, seed, scenario:{scenario, elapsed_s, cpu_s, traffic, steps, …}, counters, parameters}."""

def theory(
    over_provisioning: float,
    pages_per_block: int,
    gc: str,
    hot_space: float | None,
    hot_writes: float | None,
    trim_share: float | None,
    unwritten_share: float | None,
) -> str:
    """JSON {write_amplification, formula, effective_over_provisioning}."""

def explain(settings: list[tuple[str, str]]) -> str:
    """A small drive under a script of commands; JSON {drive:{profile, settings, channels, dies, blocks, pages_per_block, page_bytes, sector_bytes, units, victim_policy, static_wear_cycles}, steps:[{chapter, commands, command, happened, time_ns, blocks:[{die, state, erases, programmed, units, valid}], map, counters, write_amplification}]}."""

def register_policy(address: int, sees: int) -> int:
    """Makes the function at an address (`ssdlab_policy_choose`) known; its number for `ftl.gc=function:NUMBER:NAME`."""

def unregister_policy(number: int) -> None:
    """No drive that is opened from now on has that function as policy."""
