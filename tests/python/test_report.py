"""The report: one page that stands alone and says what it shows."""

from __future__ import annotations

import re
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

import synthetic
from ssdlab import write_report
from ssdlab.engine.result import Result
from ssdlab.ground.errors import SsdlabError
from ssdlab.report.charts import colours_of
from ssdlab.report.limits import of_these
from ssdlab.report.page import build_html
from ssdlab.report.parameters import drives_of
from ssdlab.report.runs import collect

pytestmark = pytest.mark.end_to_end

_VOID = {"meta", "br", "link", "img", "hr"}


class Page(HTMLParser):
    """Headings, table rows, ids and references of a page; fails where tags do not match."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.headings: list[str] = []
        self.rows: list[list[str]] = []
        self.ids: list[str] = []
        self.references: list[str] = []
        self.pictures = 0
        self.feed(html)
        assert self.open == [], f"not closed: {self.open}"

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        if tag not in _VOID:
            self.open.append(tag)
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")
        if tag in ("h1", "h2", "h3"):
            self.headings.append("")
        self.pictures += tag == "figure"
        for name, value in attributes:
            if name == "id":
                self.ids.append(value or "")
            if name in ("href", "xlink:href", "src"):
                self.references.append(value or "")

    def handle_startendtag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attributes)
        if tag not in _VOID:
            self.open.pop()

    def handle_endtag(self, tag: str) -> None:
        assert self.open and self.open[-1] == tag, f"</{tag}> closes {self.open[-1:]}"
        self.open.pop()

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] in ("td", "th"):
            self.rows[-1][-1] += data
        if self.open and self.open[-1] in ("h1", "h2", "h3"):
            self.headings[-1] += data


def two_runs() -> list[Result]:
    return [
        synthetic.result(synthetic.job(iops=20_000, write_amplification=1.0), name="fresh.json"),
        synthetic.result(synthetic.job(iops=7000, condition="steady"), name="steady.json"),
    ]


def test_page_stands_alone() -> None:
    """Nothing is loaded: no address outside the page, no script, every reference inside."""
    html = build_html(two_runs())
    page = Page(html)
    assert all(reference.startswith("#") for reference in page.references)
    assert len(page.ids) == len(set(page.ids))
    assert {reference[1:] for reference in page.references} <= set(page.ids)
    assert {name for name in re.findall(r"url\(#([^)]+)\)", html)} <= set(page.ids)
    assert "<script" not in html
    assert "@import" not in html


def test_page_has_every_section() -> None:
    """Each thing that a report promises has its heading and its chart."""
    page = Page(build_html(two_runs()))
    for heading in (
        *("Summary", "Over time", "Latency", "Where the time went", "Single operations", "Wear"),
        *("Parameters of the drives", "What this cannot tell you"),
    ):
        assert heading in page.headings
    # Overview, over time, latency, utilization, two timelines, one wear histogram.
    assert page.pictures == 7


def test_summary_shows_the_figures() -> None:
    """The figures of the results stand in the table, under the files' names."""
    rows = Page(build_html(two_runs())).rows
    assert ["randwrite", "fresh", "20,000", "81.9 MB/s"] in [row[:4] for row in rows]
    assert ["randwrite", "steady", "7000", "28.7 MB/s"] in [row[:4] for row in rows]


def labels_of(html: str, chart: str) -> list[str]:
    """Return the texts of the chart that has this description."""
    drawing = html[html.index(f'aria-label="{chart}') :]
    return re.findall(r"<text[^>]*>([^<]*)</text>", drawing[: drawing.index("</svg>")])


def test_a_mix_is_drawn_by_direction() -> None:
    """Two drives and a mix of 6000 reads and 6000 writes: four bars, and four lines over time."""
    drives = ("a", "b")
    jobs = [synthetic.job("mix", rw="randrw", iops=12_000, profile=drive) for drive in drives]
    html = build_html([synthetic.result(*jobs)])
    bars = labels_of(html, "IOPS of every run")
    for drive in drives:
        assert {f"mix, {drive}, fresh, reads", f"mix, {drive}, fresh, writes"} <= set(bars)
    assert len([text for text in bars if "6000 · 24.6 MB/s" in text]) == 4
    assert not any("12,000" in text for text in bars)
    assert len([text for text in bars if "WA" in text]) == 2
    lines = labels_of(html, "IOPS and write amplification over time")
    wanted = [f"{drive}, fresh, {way}" for drive in drives for way in ("reads", "writes")]
    assert [text for text in lines if text in wanted] == wanted


def test_long_legends_are_not_cut_off() -> None:
    """Labels too long to stand beside each other stand below each other."""
    drives = ("intel-dc-s3500-80gb", "intel-x25-m-g2-160gb", "super-talent-ultradrive-gx-256gb")
    results = [synthetic.result(*(synthetic.job(profile=drive) for drive in drives))]
    html = build_html(results)
    drawing = html[html.index('aria-label="IOPS and write') :]
    drawing = drawing[: drawing.index("</svg>")]
    heights = {
        height
        for drive in drives
        for height in re.findall(rf'y="([\d.]+)"[^>]*>{drive}, fresh<', drawing)
    }
    assert len(heights) == 3


def test_every_drive_is_drawn() -> None:
    """More drives than one chart has colours for: another chart, and none is left out."""
    drives = [f"drive{number}" for number in range(11)]
    html = build_html([synthetic.result(*(synthetic.job(profile=drive) for drive in drives))])
    page = Page(html)
    assert page.headings.count("randwrite (1 of 2)") == 2
    assert page.headings.count("randwrite (2 of 2)") == 2
    drawn = re.findall(r"<text[^>]*>(drive\d+), fresh</text>", html)
    assert sorted(drawn) == sorted(2 * drives)
    mixes = [synthetic.job(profile=drive, rw="randrw") for drive in drives]
    page = Page(build_html([synthetic.result(*mixes)]))
    assert page.headings.count("randwrite (3 of 3)") == 2


def test_seeds_are_one_run_with_an_interval() -> None:
    """Three seeds 7000, 8000, 9000: mean 8000, half width t(2)·1000/√3 = 2484."""
    jobs = [synthetic.job(iops=iops, seed=seed) for seed, iops in enumerate((7e3, 8e3, 9e3))]
    rows = Page(build_html([synthetic.result(*jobs)])).rows
    cells = next(row for row in rows if row[0] == "randwrite")
    assert "8000 ± 2500" in cells
    assert cells[-1] == "3"


def test_colours_go_with_labels() -> None:
    """A label has the same colour in every chart of the page, and two labels differ."""
    runs = collect(two_runs())
    colours = colours_of(runs)
    assert colours["fresh"] != colours["steady"]
    assert set(colours) == {run.label for run in runs}


def test_charts_follow_the_theme() -> None:
    """No placeholder colour is left, and ink and series come from the style sheet."""
    html = build_html(two_runs())
    assert re.search(r"#0a0[bc]\d\d", html) is None
    assert "var(--ink)" in html
    assert "var(--series-1)" in html


def test_same_results_same_page() -> None:
    """A page has no date and no chance in it."""
    assert build_html(two_runs()) == build_html(two_runs())


def test_names_are_escaped() -> None:
    """A job's name cannot break the page."""
    job = synthetic.job("<script>x</script>")
    job["ssdlab"]["parameters"][0] = {**job["ssdlab"]["parameters"][0], "source": "<i>a & b"}
    html = build_html([synthetic.result(job)])
    assert "<script" not in html
    assert "<i>a" not in html
    Page(html)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"unmapped_reads": 4096}, "4096 reads were of addresses never written"),
        ({"condition": "steady", "steady_reached": False}, "steady state was not reached"),
        ({"interrupted": True}, "stopped early"),
        ({"write_amplification": 1.0}, "It will not stay that fast"),
    ],
)
def test_what_these_results_cannot_tell(change: dict[str, Any], said: str) -> None:
    """A flaw of a result is said in plain words, and only where there is one."""
    flawed, sound = synthetic.job(), synthetic.job(condition="steady")
    flawed["ssdlab"].update(change)
    assert said in " ".join(of_these(collect([synthetic.result(flawed)])))
    assert said not in " ".join(of_these(collect([synthetic.result(sound)])))


def test_other_drives_show_only_what_differs() -> None:
    """The second drive's table has the one parameter that was set."""
    one, two = synthetic.job(), synthetic.job(profile="other")
    changed = {**synthetic.PARAMETERS[1], "text": "0.40", "kind": "set", "source": "command line"}
    two["ssdlab"]["parameters"] = [
        changed if parameter["key"] == "over_provisioning" else parameter
        for parameter in synthetic.PARAMETERS
    ]
    first, second = drives_of(collect([synthetic.result(one, two)]))
    assert len(first.rows) == len(synthetic.PARAMETERS)
    assert [row[:3] for row in second.rows] == [("over_provisioning", "0.40", "set")]


def committing(median_ns: int, bins: bool = True) -> dict[str, Any]:
    job = synthetic.job()
    job["sync"] = {"total_ios": 500, "lat_ns": synthetic.latency_block(median_ns, 500, bins)}
    return job


def test_commit_latency_is_drawn_where_there_is_any() -> None:
    """A job with flushes has a chart and a row of them; one without has neither."""
    plain = Page(build_html([synthetic.result(synthetic.job())]))
    for bins in (True, False):
        page = Page(build_html([synthetic.result(committing(300_000, bins))]))
        assert "Commit latency" in page.headings
        assert page.pictures == plain.pictures + 1
        # 100,000 requests at 8000 a second; 500 flushes in the same 12.5 s.
        row = next(row for row in page.rows if row[0] == "randwrite (commits)")
        assert row[2:7] == ["40", "", "546 µs", "300 µs", "2.4 ms"]
    assert "Commit latency" not in plain.headings
    assert not [row for row in plain.rows if "(commits)" in row[0]]


def test_commits_that_all_take_the_same_are_drawn() -> None:
    """A protected drive answers every flush in the same time: one step is a chart too."""
    job = committing(1000)
    job["sync"]["lat_ns"]["bins"] = {"1000": 500}
    assert "Commit latency" in Page(build_html([synthetic.result(job)])).headings


def test_results_of_a_real_drive() -> None:
    """What fio measured is reported as far as it goes, without our sections."""
    job = synthetic.job()
    del job["ssdlab"]
    page = Page(build_html([synthetic.result(job)]))
    assert "Latency" in page.headings
    assert "Wear" not in page.headings


def test_without_histograms_percentiles_are_drawn() -> None:
    """Results of plain `json` still get a latency chart."""
    job = synthetic.job()
    del job["write"]["clat_ns"]["bins"]
    assert "Latency" in Page(build_html([synthetic.result(job)])).headings


def test_no_jobs() -> None:
    """An empty result is refused by name."""
    with pytest.raises(SsdlabError, match="empty.json"):
        build_html([synthetic.result(name="empty.json")])


def test_write_report_leaves_nothing_behind(tmp_path: Path) -> None:
    """A page that cannot be made leaves no file."""
    with pytest.raises(SsdlabError):
        write_report([synthetic.result()], tmp_path / "report.html")
    assert list(tmp_path.iterdir()) == []


def test_command(command: Callable[..., tuple[int, str, str]]) -> None:
    """`ssdlab report` reads files and writes the page."""
    Path("a.json").write_text(synthetic.text(synthetic.job()))
    code, out, err = command("report", "a.json", "-o", "page.html", "--title", "My drive")
    assert (code, out, err) == (0, "", "written: page.html\n")
    assert "My drive" in Page(Path("page.html").read_text()).headings
    code, _, err = command("report", "missing.json")
    assert code == 2
    assert "missing.json: cannot be read: No such file or directory" in err


def test_layers_are_listed_from_the_top() -> None:
    """Each device of a stack has a row with what it was asked; a run without layers has none."""
    traffic = {
        **{name: 0 for name in ("reads", "read_bytes", "write_zeroes", "zeroed_bytes", "flushes")},
        **{"writes": 3, "written_bytes": 12_288, "trims": 1, "trimmed_bytes": 4096},
    }
    counters = {"host_writes": 3, "host_bytes_written": 12_288, "host_trims": 0}
    drive = {"name": "theory", "write_amplification": 1.5, "counters": counters}
    crypt = {
        **{"name": "crypt", "taken": traffic, "asked": [{**traffic, "trims": 0}]},
        **{"counts": {"cpu_ns": 2000, "trimmed_bytes_kept": 0}, "below": [drive]},
    }
    job = synthetic.job()
    job["ssdlab"]["layers"] = crypt
    rows = Page(build_html([synthetic.result(job)])).rows
    assert ["crypt", "none", "3 · 12.3 kB", "1 · 4.1 kB", "0", "cpu_ns: 2 µs"] in rows
    below = ["\N{NO-BREAK SPACE}" * 4 + "theory", "none", "3 · 12.3 kB", "none", "0"]
    assert [*below, "write amplification 1.50"] in rows
    assert "Through the layers" not in build_html([synthetic.result(synthetic.job())])
