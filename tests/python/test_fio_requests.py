"""fio's requests beside ours: 200 drawn jobs of every option that chooses an address or a size.

fio issues them to its null engine and logs them (``write_iolog``), at depth 1 as a synchronous
engine does and at depth 2 as one that queues. Where nothing is drawn, the logs are equal. Where
chance is fio's own, eight seeds of ours say how far a figure scatters, and fio's must lie within:
how many requests and bytes, how many places, how often each size, where in the region, how often
one request goes on where the last one ended, after how many requests the order repeats.
"""

from __future__ import annotations

import collections
import itertools
import json
import shutil
import statistics
import subprocess
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

import fio_jobs
from process import ssdlab_run

JOBS = 200
SEED = 36
SEEDS = range(1, 9)
# A Student's t with 7 degrees of freedom passes 9 once in 20,000 times; some 4,000 figures are
# compared.
DEVIATIONS = 9
BINS = 8
DRIVE_BYTES = 64 << 20
LARGEST_BYTES = 16 * 1024

Request = tuple[str, int, int]
Requests = list[Request]

pytestmark = [
    pytest.mark.end_to_end,
    pytest.mark.skipif(shutil.which("fio") is None, reason="needs fio: scripts/install-tools.sh"),
]


@pytest.fixture(scope="module")
def jobs() -> list[fio_jobs.Job]:
    return [fio_jobs.drawn(number, SEED) for number in range(JOBS)]


@pytest.fixture(scope="module")
def of_fio(
    jobs: list[fio_jobs.Job], tmp_path_factory: pytest.TempPathFactory
) -> dict[str, Requests]:
    """Log what fio issues."""
    folder = tmp_path_factory.mktemp("fio")
    all_of: dict[str, Requests] = {}
    # The null engine is synchronous for all jobs of a process once one of them has depth 1.
    for depth in ("1", "2"):
        some = [job for job in jobs if job.options["iodepth"] == depth]
        text = "\n".join(["[global]", "ioengine=null", "thread", *map(fio_section, some)])
        (folder / "drawn.fio").write_text(text + "\n")
        done = subprocess.run(
            ["fio", "drawn.fio", "--output-format=json"],
            cwd=folder,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert done.returncode == 0, done.stdout[-500:] + done.stderr[-500:]
        for job, result in zip(some, json.loads(done.stdout)["jobs"], strict=True):
            all_of[job.name] = read_fio(folder / f"{job.name}.log", job, ios_of(result, job))
    return all_of


@pytest.fixture(scope="module")
def of_ours(
    jobs: list[fio_jobs.Job], tmp_path_factory: pytest.TempPathFactory
) -> dict[str, list[Requests]]:
    return logged_here(jobs, tmp_path_factory.mktemp("ours"))


def logged_here(jobs: list[fio_jobs.Job], folder: Path) -> dict[str, list[Requests]]:
    """Log what we issue, seed by seed: one job after the other, the log cut by their counts."""
    log = folder / "all.log"
    engines = {"1": "psync", "2": "libaio"}
    sections = [
        f"{job.section}\nstonewall\nioengine={engines[job.options['iodepth']]}" for job in jobs
    ]
    text = "\n".join(["[global]", "filename=/dev/ssd", f"write_iolog={log}", *sections])
    (folder / "drawn.fio").write_text(text + "\n")
    all_of: dict[str, list[Requests]] = collections.defaultdict(list)
    for seed in SEEDS:
        code, out, err = ssdlab_run(
            *(
                "run",
                str(folder / "drawn.fio"),
                "--drive",
                "theory",
                "--set",
                f"capacity_bytes={DRIVE_BYTES}",
            ),
            *("--seed", str(seed), "--no-cache", "--output-format=json"),
        )
        assert code == 0, err
        lines = iter(lines_of(log))
        for job, result in zip(jobs, json.loads(out)["jobs"], strict=True):
            all_of[job.name].append(from_region(itertools.islice(lines, ios_of(result, job)), job))
        assert next(lines, None) is None
    return all_of


def fio_section(job: fio_jobs.Job) -> str:
    """Write a job with a log and, but where it has several, a file as long as the drive."""
    options = dict(job.options)
    if not job.has("nrfiles"):
        options["filename"] = f"{job.name}.dev"
        if not job.has("filesize"):
            # To the null engine the file is as long as `size`, and worked on up to `filesize`.
            options["filesize"] = str(int(options["size"]) + int(options.get("offset", "0")))
            options["size"] = str(DRIVE_BYTES)
    return f"{fio_jobs.Job(job.name, options).section}\nwrite_iolog={job.name}.log"


def ios_of(result: dict[str, Any], job: fio_jobs.Job) -> int:
    """How many requests a job made, as its result has it."""
    assert result["jobname"] == job.name
    count: int = sum(result[kind]["total_ios"] for kind in ("read", "write", "trim"))
    return count


def lines_of(path: Path) -> list[tuple[str, str, int, int]]:
    """File, direction, offset and length of each request of an iolog of version 3."""
    parts = [line.split() for line in path.read_text().splitlines()]
    found = [part for part in parts if len(part) == 5 and part[2] in ("read", "write", "trim")]
    return [(name, kind, int(offset), int(length)) for _, name, kind, offset, length in found]


def read_fio(path: Path, job: fio_jobs.Job, count: int) -> Requests:
    """Read requests, with offsets from the start of their file or of the region."""
    lines = lines_of(path)
    if job.options["iodepth"] == "2":
        # The null engine has room for one: each request but the first of a pass is issued again
        # when there is room, and logged again.
        runs = [list(run) for _, run in itertools.groupby(lines)]
        lines = [line for run in runs for line in run[: (len(run) + 1) // 2]]
    assert len(lines) == count, job.section
    offset = int(job.options.get("offset", "0"))
    length = file_bytes(job)
    files = job.has("nrfiles")
    first = {name: int(name.rsplit(".", 1)[1]) * length if files else 0 for name, *_ in lines}
    return [(kind, first[name] + at - offset, size) for name, kind, at, size in lines]


def from_region(lines: Iterable[tuple[str, str, int, int]], job: fio_jobs.Job) -> Requests:
    """Count offsets from the start of the region, or of the drive where a unit tells of it."""
    told = job.options.get("offset", "0")
    offset = int(told) if told.isdigit() else 0
    return [(kind, at - offset, size) for _, kind, at, size in lines]


def file_bytes(job: fio_jobs.Job) -> int:
    """Bytes of each file of a job that has several, in whole blocks."""
    return int(job.options["size"]) // int(job.options.get("nrfiles", "1"))


def figures(requests: Requests) -> dict[str, float]:
    """Count what is compared where requests are drawn."""
    result: dict[str, float] = {"requests": len(requests)}
    result["places"] = len({at for _, at, _ in requests})
    ends: dict[str, int] = {}
    follow = 0
    highest = max((at for _, at, _ in requests), default=0) + 1
    for kind, at, size in requests:
        result[f"{kind}s"] = result.get(f"{kind}s", 0) + 1
        result[f"{kind}s of {size}"] = result.get(f"{kind}s of {size}", 0) + 1
        place = at * BINS // highest
        result[f"in part {place}"] = result.get(f"in part {place}", 0) + 1
        follow += ends.get(kind) == at
        ends[kind] = at + size
    result["bytes"] = sum(size for _, _, size in requests)
    result["go on"] = follow
    result["repeat after"] = period(requests)
    return result


def period(requests: Requests) -> int:
    """After how many requests the order repeats to the end; 0 where it does not."""
    for length in range(len(requests) // 4, len(requests) * 9 // 10):
        if (
            requests[length] == requests[0]
            and requests[length:] == requests[: len(requests) - length]
        ):
            return length
    return 0


def differing(job: fio_jobs.Job) -> frozenset[str]:
    """Figures in which we differ (docs/reference/fio.md, "Where it differs")."""
    found = set()
    if job.options["rw"].startswith("rand") and job.has("bs") and not job.has("norandommap"):
        # Towards the end of a pass neighbours follow each other more often in fio's random map.
        found.add("go on")
    if job.options["rw"].split(":")[0] in ("rw", "randrw"):
        # fio corrects the share of a mix by what it issued in all passes.
        found.add("repeat after")
    return frozenset(found)


def strays(
    fio: Requests, ours: list[Requests], left_out: frozenset[str] = frozenset()
) -> list[str]:
    """Figures of fio that ours do not explain."""
    if all(requests == ours[0] for requests in ours):
        return (
            []
            if fio == ours[0]
            else [f"fio {fio[:5]}… {len(fio)}, ours {ours[0][:5]}… {len(ours[0])}"]
        )
    of_fio, of_ours = figures(fio), [figures(requests) for requests in ours]
    found = []
    for name in sorted(set(of_fio).union(*of_ours) - left_out):
        values = [each.get(name, 0) for each in of_ours]
        mean, spread = statistics.mean(values), statistics.stdev(values)
        # The last request may reach beyond what is asked for.
        more = LARGEST_BYTES if name == "bytes" else 1
        if abs(of_fio.get(name, 0) - mean) > DEVIATIONS * spread + more:
            found.append(f"{name}: fio {of_fio.get(name, 0)}, ours {mean:.1f} ± {spread:.1f}")
    return found


def test_200_drawn_jobs_make_the_requests_that_fio_makes(
    jobs: list[fio_jobs.Job], of_fio: dict[str, Requests], of_ours: dict[str, list[Requests]]
) -> None:
    """Each request equal, or, where chance is fio's own, distributed alike."""
    wrong = {
        job.section: strays(of_fio[job.name], of_ours[job.name], differing(job)) for job in jobs
    }
    told = [f"{text}\n  " + "\n  ".join(found) for text, found in wrong.items() if found]
    assert not told, f"{len(told)} of {len(jobs)} jobs differ\n\n" + "\n\n".join(told)
    exact = sum(all(each == of_ours[job.name][0] for each in of_ours[job.name]) for job in jobs)
    # Both kinds are there: else the test would compare nothing of one of them.
    assert 30 <= exact <= 170, exact


def test_wrong_requests_are_noticed(
    jobs: list[fio_jobs.Job], of_fio: dict[str, Requests], of_ours: dict[str, list[Requests]]
) -> None:
    """Without a tenth of its requests, or with requests twice as long, few larger jobs pass."""
    # Where a run at the end of the region ends a pass, passes are of any length.
    plain = [
        job for job in jobs if not job.has("percentage_random") and ":" not in job.options["rw"]
    ]
    large = [job for job in plain if len(of_fio[job.name]) >= 50]
    assert len(large) > len(jobs) // 2
    twice_as_long, shorter = 0, 0
    for job in large:
        fio, ours = of_fio[job.name], of_ours[job.name]
        twice_as_long += not strays([(kind, at, size * 2) for kind, at, size in fio], ours)
        shorter += not strays(fio[: -len(fio) // 10], ours)
    assert twice_as_long == 0
    # Where sizes are drawn and requests are few, a tenth is within what chance does.
    assert shorter < len(large) // 20, (shorter, len(large))


@pytest.fixture(scope="module")
def further(
    tmp_path_factory: pytest.TempPathFactory,
) -> tuple[dict[str, Requests], dict[str, list[Requests]]]:
    """Log what fio issues to files as long as the drive, and what we issue."""
    folder = tmp_path_factory.mktemp("further")
    sections = []
    for job in fio_jobs.FURTHER:
        with (folder / f"{job.name}.dev").open("wb") as file:
            file.truncate(DRIVE_BYTES)
        sections.append(f"{job.section}\nfilename={job.name}.dev\nwrite_iolog={job.name}.log")
    text = "\n".join(["[global]", "ioengine=psync", "thread", *sections])
    (folder / "further.fio").write_text(text + "\n")
    fio_alone(folder, "further.fio")
    logs = {job.name: lines_of(folder / f"{job.name}.log") for job in fio_jobs.FURTHER}
    of_fio = {job.name: from_region(logs[job.name], job) for job in fio_jobs.FURTHER}
    return of_fio, logged_here(fio_jobs.FURTHER, folder)


def fio_alone(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Run fio, and end it where it would write a file beyond the drive's length."""
    limited = f"ulimit -f {DRIVE_BYTES // 512}; exec fio --output-format=json {' '.join(words)}"
    return subprocess.run(
        ["sh", "-c", limited], cwd=folder, capture_output=True, text=True, timeout=120, check=False
    )


def test_further_options_make_the_requests_that_fio_makes(
    further: tuple[dict[str, Requests], dict[str, list[Requests]]],
) -> None:
    """Zones, aligned and shared offsets, shares of the device, sizes by direction and by order."""
    of_fio, of_ours = further
    wrong = {}
    for job in fio_jobs.FURTHER:
        found = strays(of_fio[job.name], of_ours[job.name], differing(job))
        if found or not of_fio[job.name]:
            wrong[job.section] = found
    assert not wrong, "\n\n".join(f"{text}\n  {found}" for text, found in wrong.items())
    exact = sum(all(each == of_ours[name][0] for each in of_ours[name]) for name in of_ours)
    assert 10 <= exact <= 25, exact


@pytest.mark.parametrize("more", ["offset_increment=1m", "offset_increment=10%", "offset=3m"])
def test_jobs_side_by_side_write_where_fios_do(tmp_path: Path, more: str) -> None:
    """Of several jobs fio keeps one log, so the places that have data afterwards are compared."""
    size = f"[j]\nrw=write\nbs=4k\nsize=256k\nnumjobs=3\n{more}\n"
    with (tmp_path / "dev").open("wb") as file:
        file.truncate(DRIVE_BYTES)
    (tmp_path / "a.fio").write_text(f"[global]\nioengine=psync\nfilename=dev\n{size}")
    assert fio_alone(tmp_path, "a.fio").returncode == 0
    log = tmp_path / "log"
    (tmp_path / "b.fio").write_text(f"[global]\nfilename=/dev/ssd\nwrite_iolog={log}\n{size}")
    words = ("--drive", "theory", "--set", f"capacity_bytes={DRIVE_BYTES}", "--no-cache")
    assert ssdlab_run("run", str(tmp_path / "b.fio"), *words)[0] == 0
    ours = {
        at for _, _, start, length in lines_of(log) for at in range(start, start + length, 4096)
    }
    assert written_places(tmp_path / "dev") == ours and len(ours) >= 64


def written_places(path: Path) -> set[int]:
    """Give the beginnings of the blocks of a sparse file that hold data."""
    with path.open("rb") as file:
        blocks = iter(lambda: file.read(4096), b"")
        return {number * 4096 for number, block in enumerate(blocks) if block.strip(b"\0")}


@pytest.mark.parametrize("option", fio_jobs.NO_VALUES)
def test_what_fio_refuses_is_refused_by_name(tmp_path: Path, option: str) -> None:
    """A value that fio does not take is an error here, too, which names the option."""
    options = {"rw": "randwrite", "bs": "4k", "size": "1m", "number_ios": "2"}
    name = option.partition("=")[0]
    lines = [f"{key}={value}" for key, value in options.items() if key != name]
    job = "\n".join(["[j]", *lines, option, "filename="])
    (tmp_path / "dev").write_bytes(bytes(1 << 20))
    (tmp_path / "a.fio").write_text(f"{job}dev\n")
    assert fio_alone(tmp_path, "a.fio").returncode != 0
    (tmp_path / "b.fio").write_text(f"{job}/dev/ssd\n")
    code, _, error = ssdlab_run("run", str(tmp_path / "b.fio"), "--drive", "theory")
    assert code == 2 and name in error
