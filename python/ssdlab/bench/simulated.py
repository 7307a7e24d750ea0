"""A simulated drive, or a stack of layers over one, as a target in virtual time.

A purge starts over: the drive as it is named (profile or drive file), then a secure erase, where it
has one. Its state goes on from step to step, with no time between them. Data is random. The host
takes no time, and there is no page cache. A volatile write buffer is not switched off but every
write waits for the flash (FUA), which to a drive is the same.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from ssdlab import engine
from ssdlab.bench.estimate import Speeds
from ssdlab.bench.measurement import StepMeasurement
from ssdlab.bench.plan import Deviation, MixedLoad, Step
from ssdlab.bench.probe import speeds
from ssdlab.bench.target import Counters, Description, Purged, Resumption, WriteCache
from ssdlab.engine import Progress
from ssdlab.engine.held import HeldDrive
from ssdlab.engine.request import RunRequest
from ssdlab.engine.shown import parameters, sizes
from ssdlab.ground.errors import SsdlabError

_KEPT = ("jobname", "error", "job options", "job_runtime", "read", "write")
"""Of fio's job; the rest is the same for every step, or always 0."""
_KEPT_OF_LAB = (
    "write_amplification",
    "host_pages_written",
    "nand_pages_written",
    "blocks_erased",
    "unmapped_reads",
    "virtual_time_ns",
    "seed",
)
_LOOKED_AT = 1000
"""Random reads that a purge is checked by."""


class SimulatedTarget:
    """A drive in virtual time.

    Parameters
    ----------
    request
        Its drive, settings, layers, scale and seed.
    """

    def __init__(self, request: RunRequest) -> None:
        self._request = request
        self._shown = engine.show(request.drive, request.settings, request.layers, request.scale)
        self._held: HeldDrive | None = None
        self._by_fua = self._has_volatile_buffer()
        self._capacity, self._sector = host_sees(self._shown)
        single = not self._shown.get("layers") and self._shown["wear"] is not None
        self.resumption: Resumption = "state" if single else "rerun"

    def describe(self) -> Description:
        """Say what it is."""
        wear = self._shown["wear"] or {}
        flash, cycles = wear.get("flash_bytes"), wear.get("rated_cycles")
        return Description(
            kind="simulated",
            name=self._request.drive,
            model=str(self._shown["title"] or self._shown["name"]),
            serial="",
            firmware=f"ssdlab {engine.version()}",
            capacity_bytes=self._capacity,
            sector_bytes=self._sector,
            rated_bytes=int(flash * cycles) if flash and cycles else None,
            surroundings={
                "settings": [list(pair) for pair in self._request.settings],
                "layers": list(self._request.layers),
                "parameters": self._shown["parameters"],
                "host": "simulated; takes no time",
            },
        )

    def deviations(self) -> tuple[Deviation, ...]:
        """Name none: a stack, which has no secure erase, is made anew."""
        return ()

    def speeds(self) -> Speeds | None:
        """Say what is expected of it."""
        return speeds(self._request)

    def purge(self) -> Purged:
        """Take the drive as it is named, and erase it."""
        self._held = HeldDrive(self._request)
        asked = "secure erase"
        try:
            took = self._held.start_over("secure-erase")
            answered = f"{took['start_over_blocks_erased']} blocks erased"
        except SsdlabError as error:
            asked, answered = "a new drive of its profile", str(error).splitlines()[0]
        return self._checked(asked, answered)

    def _checked(self, asked: str, answered: str) -> Purged:
        """Read at random: an empty drive answers from no flash page."""
        job = _options("check", rw="randread", bs="4k", number_ios=_LOOKED_AT)
        (done,) = self._drive().run(job, self._request.seed)
        requests = int(done["read"]["total_ios"])
        # A hard disk has no map; its counters are of layers.
        unmapped = int((done.get("ssdlab") or {}).get("unmapped_reads") or 0)
        checked = f"{unmapped} of {requests} random reads of 4 KiB found nothing written"
        return Purged(asked, answered, checked, unmapped == requests > 0)

    def perform(self, step: Step, progress: Progress) -> StepMeasurement:
        """Carry out a step; where it ended early, its writes go on."""
        (done,) = self._drive().run(self._job(step), step.seed, progress)
        if done["error"]:
            raise SsdlabError(f"{self._request.drive}: {step.name}: error {done['error']}")
        job = _kept(done, whole=step.pauses is not None)
        measured = StepMeasurement.of_jobs([job], job["ssdlab"]["virtual_time_ns"] / 1e9)
        left_s = (step.seconds or 0.0) - measured.seconds
        if step.precision is None or not step.load.writes or left_s <= 0:
            return measured
        rate = round(measured.write.total_bytes / step.load.block_bytes / measured.seconds)
        return replace(measured, rest_bytes=self._write_rest(step, rate, left_s, progress))

    def _write_rest(self, step: Step, rate: int, seconds: float, progress: Progress) -> int:
        """Write on at the step's own rate, without its reads; return the bytes.

        Written at once, they would leave a debt of collection to the next step.
        """
        if rate == 0:
            return 0
        load = step.load
        rest = {"rw": "randwrite", "rate_iops": rate, "iodepth": load.depth * load.threads}
        rest |= {"runtime": f"{round(seconds * 1e6)}us", "time_based": 1}
        job = _options("rest", bs=load.block_bytes, **self._common(), **rest)
        (done,) = self._drive().run(job, step.seed + 1, progress)
        return int(done["write"]["io_bytes"])

    def _job(self, step: Step) -> str:
        load, capacity = step.load, self._capacity
        words = {100: "read", 0: "write"}
        kind = words.get(load.read_percent, "rw")
        options: dict[str, Any] = {
            "rw": f"rand{kind}" if load.pattern == "random" else kind,
            "bs": load.block_bytes,
            "iodepth": load.depth,
            "numjobs": load.threads,
            **self._common(),
        }
        if kind == "rw":
            options["rwmixread"] = load.read_percent
        if isinstance(load, MixedLoad):
            options |= _mixed(load)
        if load.pattern == "sequential":
            options |= _shares(capacity, load.threads, load.block_bytes, step.offset_bytes)
        if step.passes is not None:
            share = capacity // load.threads // load.block_bytes * load.block_bytes
            options["io_size"] = int(step.passes * share)
        if step.seconds is not None:
            options |= {"runtime": f"{round(step.seconds * 1e6)}us", "time_based": 1}
        if step.precision is not None:
            options["steadystate"] = f"iops:{step.precision.deviation_percent}%"
            options["steadystate_duration"] = step.precision.seconds
        if step.pauses is not None:
            pauses = step.pauses
            options["thinktime"] = f"{round(pauses.idle_s * 1e6)}us"
            options["thinktime_iotime"] = f"{round(pauses.work_s * 1e6)}us"
        return _options("step", **options)

    def _common(self) -> dict[str, Any]:
        options: dict[str, Any] = {
            "filename": "/dev/ssd",
            "direct": 1,
            "norandommap": 1,
            "randrepeat": 0,
            "refill_buffers": 1,
            "group_reporting": 1,
        }
        if self._by_fua:
            options["writefua"] = 1
        return options

    def counters(self) -> Counters:
        """Read the drive's own counters, of a stack those of all its drives."""
        counters = self._drive().show()["counters"]
        return Counters(
            int(counters["host_bytes_written"]), int(counters["nand_bytes_written"]), "drive"
        )

    def write_cache_off(self) -> WriteCache:
        """Let every write wait for the flash, where the buffer does not survive a power cut."""
        if self._by_fua:
            return WriteCache("on", "off")
        return WriteCache("none", "none")

    def restore_write_cache(self) -> None:
        """Nothing was switched."""

    def keep(self, place: Path) -> None:
        """Keep the drive in a drive file, and go on from that."""
        self._drive().save(place)

    def go_on_from(self, place: Path) -> None:
        """Take up a drive file; two large drives would need twice the memory."""
        self.close()
        self._held = HeldDrive(RunRequest(str(place), seed=self._request.seed))

    def close(self) -> None:
        """Let go of the drive."""
        self._held = None

    def _drive(self) -> HeldDrive:
        assert self._held is not None, "a part begins with a purge, or with a state that was kept"
        return self._held

    def _has_volatile_buffer(self) -> bool:
        values = parameters(self._shown)
        size = str(values.get("buffer.bytes", 0)).split()[0]
        protected = str(values.get("buffer.power_loss_protected")).lower() == "true"
        return float(size) > 0 and not protected


def host_sees(shown: Mapping[str, Any]) -> tuple[int, int]:
    """Return capacity and sector in bytes, of a stack those at its top, not those of its drives."""
    found = sizes(shown)
    return found.host_bytes, found.host_sector_bytes


def _shares(capacity: int, threads: int, block: int, offset: int) -> dict[str, Any]:
    """Give each thread a stretch of its own, so that together they pass once over the drive."""
    share = capacity // threads // block * block
    shares = {"offset": offset, "size": share - offset}
    return shares | {"offset_increment": share} if threads > 1 else shares


def _mixed(load: MixedLoad) -> dict[str, str]:
    """Give the sizes and zones of requests, as fio takes them."""
    sizes = ":".join(f"{size}/{percent}" for size, percent in load.sizes)
    zones = ":".join(f"{percent}/{of}" for percent, of in load.zones)
    where = {"blockalign": str(load.block_bytes), "random_distribution": f"zoned:{zones}"}
    return {"bssplit": sizes, **where}


def _options(name: str, **options: Any) -> str:
    return "\n".join([f"[{name}]", *(f"{key}={value}" for key, value in options.items())]) + "\n"


def _kept(job: Mapping[str, Any], whole: bool) -> dict[str, Any]:
    """Leave out clocks of this machine, and what is the same for every step."""
    lab = job["ssdlab"]
    names = (*_KEPT_OF_LAB, "time_series") if whole else _KEPT_OF_LAB
    kept = {name: job[name] for name in _KEPT}
    return {**kept, "ssdlab": {name: lab[name] for name in names if name in lab}}
