"""Nothing vanishes: what a reader of measurements does not understand is refused, or quoted."""

from __future__ import annotations

import json
import random
import re
import shutil
from collections.abc import Callable
from functools import partial
from pathlib import Path
from xml.etree import ElementTree

import pytest

import ssdlab.cli
from insertions import FIELD, VALUE, fields_inserted, is_told, rows_inserted, units_changed
from ssdlab.bench.report.reading import not_judged
from ssdlab.bench.report.sources import read_results
from ssdlab.experiment.ensemble.document import read as read_ensemble
from ssdlab.ground.unread import Unread
from ssdlab.study.fitting.read_any import read_all
from ssdlab.study.sizing.prices import read_prices
from ssdlab.study.twin.goals import read_goals
from test_ensemble_compare import document as ensemble_document
from test_fit_logs import averaged, result
from test_pts_tkperf import whole

pytestmark = pytest.mark.end_to_end

Command = Callable[..., tuple[int, str, str]]
HEADER = "job,condition,metric,value,spread,settings,span"
READS = "--rw=randread --bs=4k --iodepth=4 --runtime=1 --time_based"
TABLE = (
    f"{HEADER}\n{READS},steady,iops,9100,0.01,ftl.gc=fifo ftl.trim=false,80%\n"
    "--rw=randwrite --bs=8k,,mean_us,140,,,\n"
)
KNOWN = ("intel-dc-s3500-80gb", "samsung-990-pro-1tb", "theory")
STRANGE_ROWS = ("frobnication,12", "# a note of mine", "total;9100;12", "9100", "a,b,c,d,e,f,g,h,i")


@pytest.fixture(autouse=True)
def _in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def measured(*paths: str) -> list[Unread]:
    return read_all(paths, None).unread


def test_rows_of_a_table() -> None:
    """A row that nobody knows, anywhere in a table of measurements, is refused with its place."""
    for text, row in rows_inserted(TABLE, STRANGE_ROWS):
        Path("m.csv").write_text(text, encoding="utf-8")
        assert not is_told(lambda: measured("m.csv"), "m.csv:"), row


def test_columns_of_a_table() -> None:
    """A column that nobody knows, or one there twice, is refused wherever it stands."""
    cells = [line.split(",") for line in TABLE.splitlines()]
    for place in range(len(cells[0]) + 1):
        for name in (FIELD, "value", "Value", ""):
            lines = [
                ",".join([*row[:place], name if number == 0 else VALUE, *row[place:]])
                for number, row in enumerate(cells)
            ]
            Path("m.csv").write_text("\n".join(lines), encoding="utf-8")
            assert not is_told(lambda: measured("m.csv"), "m.csv:1: "), (place, name)


def test_rows_that_are_cut() -> None:
    """A row that ends early is refused, whatever the order of the columns."""
    draw = random.Random(36)
    names = HEADER.split(",")
    row = dict(zip(names, TABLE.splitlines()[1].split(","), strict=True))
    for _ in range(40):
        order = draw.sample(names, len(names))
        needed = max(order.index(each) for each in ("job", "condition", "metric", "value"))
        cells = [row[each] for each in order][: draw.randint(1, needed)]
        Path("m.csv").write_text(f"{','.join(order)}\n{','.join(cells)}\n", encoding="utf-8")
        assert not is_told(lambda: measured("m.csv"), "m.csv:2: "), order


def test_units_of_a_table() -> None:
    """A number with a unit, a sign or a letter in it is refused with its line."""
    draw = random.Random(36)
    values = "9100,0.01"
    for changed in units_changed(values, draw, 8):
        Path("m.csv").write_text(TABLE.replace(values, changed), encoding="utf-8")
        assert not is_told(lambda: measured("m.csv"), "m.csv:2: "), changed


FIGURES = (
    "figure,value,drive_writes,rate,use\ncapacity_bytes,960197124096\nread_iops,900000\n"
    "fresh_mib_per_s,1703\nknee_drive_writes,0.1328\nuniform,326.5,4.99\n"
    "never-rewritten 0.4,306,6.99,,predict\nread_p50_us,56,,10000\n"
)


def test_figures_of_a_twin() -> None:
    """A row, a column, a unit, and a cell that its figure has no use for, are refused."""
    Path("f.csv").write_text(FIGURES, encoding="utf-8")
    read_goals(Path("f.csv"))
    header, _, body = FIGURES.partition("\n")
    unfit: tuple[str, ...] = (
        "read_mb_per_s,9,3",
        "read_mb_per_s,9,,,predict",
        "read_p99_us,9,3,10000",
    )
    unfit += ("read_p99_us,9,,10.5", "zipf-0.8,9,,10", "uniform,300", f"{FIELD},7")
    strange = list(rows_inserted(FIGURES, (*STRANGE_ROWS, *unfit)))
    units = units_changed(body, random.Random(36), 60)
    strange += [
        (f"{header}\n{each}", "unit") for each in units if not is_number_changed(each, body)
    ]
    strange += [(FIGURES.replace("uniform,326.5,4.99", "uniform,326.5,4.99,,predict"), "predict")]
    strange += [(FIGURES.replace("rate,use", f"rate,use,{FIELD}"), "column")]
    for content, row in strange:
        Path("f.csv").write_text(content, encoding="utf-8")
        assert not is_told(lambda: read_goals(Path("f.csv")), "f.csv:"), (row, content)


def is_number_changed(changed: str, text: str) -> bool:
    """Whether the changed cell is still a number: 9e00 for 900."""
    pairs = zip(
        changed.replace("\n", ",").split(","), text.replace("\n", ",").split(","), strict=True
    )
    (cell,) = (new for new, old in pairs if new != old)
    return re.fullmatch(r"[\d.]+e\d+", cell) is not None


def test_prices() -> None:
    """A row, a column or a unit that nobody knows, and a drive there twice, are refused."""
    text = "drive,price\nintel-dc-s3500-80gb,110\nsamsung-990-pro-1tb,99.5\n"
    draw = random.Random(36)
    strange = [*rows_inserted(text, (*STRANGE_ROWS, "theory,5 EUR", ",7", "theory,"))]
    strange += [(each, "unit") for each in units_changed("drive,price\ntheory,110\n", draw, 3)]
    strange += [(text + "intel-dc-s3500-80gb,90\n", "twice"), ("drive,price,vat\n", "column")]
    for content, row in strange:
        Path("p.csv").write_text(content, encoding="utf-8")
        assert not is_told(lambda: read_prices("p.csv", KNOWN), "p.csv, line "), row


def test_prices_of_other_drives(command: Command) -> None:
    """A price of a drive that is no profile is refused with the nearest name."""
    Path("p.csv").write_text("drive,price\nintel-dc-s3500-80g,110\n", encoding="utf-8")
    words = ("--iops", "10", "--drive", "intel-dc-s3500-80gb", "--prices", "p.csv")
    code, out, error = command("sizing", *words)
    assert (code, out) == (2, "")
    assert "p.csv, line 2: intel-dc-s3500-80g: " in error
    assert "intel-dc-s3500-80gb" in error.partition("80g: ")[2]


def test_rows_of_a_log() -> None:
    """A line that nobody knows, anywhere in fio's log of rates, is refused with its place."""
    name = "mine_iops.1.log"
    path = str(result({"write_iops_log": "mine", "log_avg_msec": "1000"}))
    averaged(name)
    assert measured(path) == []
    text = Path(name).read_text(encoding="utf-8")
    rows = ("frobnication", "1000, 9000", "1000, 9000, 7, 0", "1000, 9000, 1.5, 0", "# note")
    for content, row in rows_inserted(text, rows):
        Path(name).write_text(content, encoding="utf-8")
        assert not is_told(lambda: measured(path), f"{name}:"), row
    for content in units_changed(text, random.Random(36), 60):
        Path(name).write_text(content, encoding="utf-8")
        assert not is_told(lambda: measured(path), f"{name}:"), content


def tkperf() -> list[Unread]:
    """Read a.xml as reports and comparisons do."""
    return not_judged(read_results([Path("a.xml")]))


def test_elements_of_tkperf() -> None:
    """An element that nobody knows, one twice, words between: anywhere in TKperf's result."""
    places = [(), *[(number,) for number in range(9)]]
    for place in places:
        for kind in (FIELD, "iops", "roundmat", "words", "attribute", "below"):
            root = whole()
            parent = root[place[0]] if place else root
            if kind == "words":
                parent.tail = VALUE
                parent.text = parent.text or VALUE
            elif kind == "attribute":
                parent.set(FIELD, VALUE)
            else:
                element = ElementTree.SubElement(parent, kind)
                element.text = f'"{VALUE}"'
                if kind == "below":
                    ElementTree.SubElement(element, FIELD).text = VALUE
            if kind == "words" and not place:
                continue
            ElementTree.ElementTree(root).write("a.xml")
            assert is_told(tkperf, "a.xml: ") == "", (place, kind)


@pytest.mark.parametrize(
    "name", ["numjobs", "iodepth", "runtime", "stdyrounds", "stdyavg", "reachstdystate"]
)
def test_what_tkperf_always_writes(name: str) -> None:
    """A load or a verdict that is missing is refused, with what to write, and no default taken."""
    for test in ("iops", "lat", "tp"):
        root = whole()
        parent = root.find(test)
        assert parent is not None
        element = parent.find(name)
        assert element is not None
        parent.remove(element)
        ElementTree.ElementTree(root).write("a.xml")
        assert is_told(tkperf, f"a.xml: {test}/{name} is missing", f"<{name}>") == "", test


@pytest.mark.parametrize("version", ["3.0", "23", "nightly", None])
def test_versions_of_tkperf(version: str | None) -> None:
    """A version whose form is not known here is quoted, and leaves the result not judged."""
    root = whole()
    element = root.find("ioperfversion")
    assert element is not None
    element.text = json.dumps(version)
    if version is None:
        root.remove(element)
    ElementTree.ElementTree(root).write("a.xml")
    assert [each.where for each in tkperf()] == ["a.xml: ioperfversion"]
    assert version is None or version in tkperf()[0].quoted
    assert read_all(["a.xml"], None).unread == tkperf()


def test_fields_of_an_ensemble() -> None:
    """A field that nobody knows, in any object of an ensemble, is refused."""
    content = json.loads(ensemble_document())
    for changed, path in fields_inserted(content):
        if path[-1:] == ("influences",):
            continue  # Its names are those of assumptions.
        text = json.dumps(changed)
        assert not is_told(partial(read_ensemble, text, "a.json"), FIELD), path


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Measure a small drive by two tests, for a few short rounds."""
    place = tmp_path_factory.mktemp("pts") / "done"
    words = ("--set", "capacity_bytes=256MB", "--set", "nand.pages_per_block=32")
    how = ("--tests", "lat,hir", "--cell-seconds", "0.1", "--most-rounds", "6", "-o", str(place))
    assert ssdlab.cli.main(["pts", "intel-dc-s3500-80gb", *words, *how]) != 2
    return place


def of_folder(place: Path) -> list[Unread]:
    """Read a folder as reports and comparisons do."""
    return not_judged(read_results([place]))


def files_of(folder: Path) -> list[Path]:
    """Give a file of each kind that there is in a folder of `ssdlab pts`."""
    kinds = ("plan.json", "runs.json", "result.json", "lat/beginning.json", "lat/round-0002.json")
    return [folder / each for each in (*kinds, "hir/afterwards-0001.json")]


FREE = ("raw", "surroundings", "percentiles_ns", "rounds_before", "system")
"""Objects with names of other programs and machines, which are shown or not judged by."""


@pytest.mark.parametrize("is_whole", [True, False], ids=["whole", "not ended"])
def test_fields_of_a_pts_folder(folder: Path, tmp_path: Path, is_whole: bool) -> None:
    """A field that nobody knows, in any object of any file, is quoted or refused."""
    place = tmp_path / "copy"
    shutil.copytree(folder, place)
    if not is_whole:
        (place / "result.json").unlink()
    assert of_folder(place) == []
    for file in files_of(place):
        if not file.exists():
            continue
        kept = file.read_text(encoding="utf-8")
        for changed, path in fields_inserted(json.loads(kept)):
            if set(path) & set(FREE):
                continue
            file.write_text(json.dumps(changed), encoding="utf-8")
            assert is_told(lambda: of_folder(place), str(file.relative_to(tmp_path))) == "", path
        file.write_text(kept, encoding="utf-8")


def test_versions_of_a_pts_folder(folder: Path, tmp_path: Path) -> None:
    """A plan of another version of the form is not judged by this one."""
    place = tmp_path / "copy"
    shutil.copytree(folder, place)
    for file in (place / "plan.json", place / "result.json"):
        content = json.loads(file.read_text(encoding="utf-8"))
        for version in (2, "1", None):
            file.write_text(json.dumps({**content, "schema_version": version}), encoding="utf-8")
            assert is_told(lambda: of_folder(place), str(file), "schema_version") == ""
        file.write_text(json.dumps(content), encoding="utf-8")


def test_files_of_a_pts_folder(folder: Path, tmp_path: Path) -> None:
    """A round behind a gap, and a file that nobody knows, are quoted."""
    place = tmp_path / "copy"
    shutil.copytree(folder, place)
    (place / "result.json").unlink()
    (place / "lat" / "round-0003.json").unlink()
    (place / "lat" / "round-0004 (copy).json").write_text("{}")
    (place / "notes.json").write_text("{}")
    told = " ".join(each.told() for each in of_folder(place))
    for name in ("round-0004.json", "round-0004 (copy).json", "notes.json"):
        assert name in told


def test_not_judged_reaches_every_verb(command: Command, folder: Path, tmp_path: Path) -> None:
    """Comparison, report and fit of such a folder, and of such XML, end with 4 and quote it."""
    shutil.copytree(folder, "done")
    file = Path("done/plan.json")
    content = json.loads(file.read_text(encoding="utf-8"))
    content["asked"][FIELD] = VALUE
    file.write_text(json.dumps(content), encoding="utf-8")
    root = whole()
    element = root.find("ioperfversion")
    assert element is not None
    element.text = '"soon-7"'
    ElementTree.ElementTree(root).write("a.xml")
    for path in ("done", "a.xml"):
        code, out, error = command("compare", path)
        assert code == 4 and VALUE in out + error, path
        code, out, error = command("compare", path, "--json")
        assert code == 4 and VALUE in json.loads(out)["unread"][0]["quoted"], path
        code, out, error = command("report", path, "-o", "page.html")
        assert code == 4 and VALUE in error, path
