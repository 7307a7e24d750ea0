"""Results: figures out of fio's JSON."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import synthetic
from ssdlab.engine.latency import percentile_of
from ssdlab.engine.result import Result, merge
from ssdlab.ground.errors import SsdlabError


def test_figures_of_a_job() -> None:
    """IOPS, throughput and latencies are those of fio's block."""
    job = synthetic.result(synthetic.job(iops=8000)).job()
    assert job.directions == ["write"]
    assert job.iops() == 8000
    assert job.bandwidth() == 8000 * 4096
    assert job.percentile_ns(50) == 2_000_000
    assert job.percentile_ns(99) == 16_000_000
    assert job.write_amplification == 2.75


def test_percentile_of_a_mix_needs_histograms() -> None:
    """Reads and writes have a common percentile only where their bins were kept."""
    data = synthetic.job(rw="randrw")
    assert synthetic.result(data).job().percentile_ns(99) is not None
    for direction in ("read", "write"):
        del data[direction]["clat_ns"]["bins"]
    job = synthetic.result(data).job()
    assert job.percentile_ns(99) is None
    assert job.percentile_ns(99, "read") == 16_000_000


def test_percentile_by_hand() -> None:
    """Of 100 requests the 99th is the last of the fast ones."""
    bins = [(10, 99), (1000, 1)]
    assert percentile_of(bins, 99) == 10
    assert percentile_of(bins, 99.5) == 1000


def test_lines_before_the_object_are_skipped() -> None:
    """fio may print a warning before its JSON."""
    text = "fio: a warning\n" + synthetic.text(synthetic.job("x"))
    assert Result.from_json(text).jobs[0].name == "x"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("no json", "not JSON"),
        ("{}", "no jobs in it"),
        ("[1]", "no result of fio or ssdlab"),
        ("{", "line 1"),
    ],
)
def test_what_is_no_result_is_refused(tmp_path: Path, content: str, message: str) -> None:
    """The file is named, and how to make one that can be read."""
    file = tmp_path / "x.json"
    file.write_text(content)
    with pytest.raises(SsdlabError, match=message) as caught:
        Result.load(file)
    assert str(file) in str(caught.value)
    assert "--output-format json" in str(caught.value)


def test_missing_file(tmp_path: Path) -> None:
    """A missing file is said to be missing."""
    with pytest.raises(SsdlabError, match="No such file"):
        Result.load(tmp_path / "x.json")


def test_job_by_name_lists_what_there_is() -> None:
    """Asking for a job that is not there names those that are."""
    found = synthetic.result(synthetic.job("a"), synthetic.job("b"))
    assert found.job("b").name == "b"
    with pytest.raises(SsdlabError, match="jobs: a, b"):
        found.job()


def test_dataframe() -> None:
    """One row per job and direction."""
    frame = synthetic.result(synthetic.job("a", rw="randrw"), synthetic.job("b")).dataframe()
    assert list(frame["job"]) == ["a", "a", "b"]
    assert list(frame["direction"]) == ["read", "write", "write"]
    assert frame["iops"].sum() == pytest.approx(16_000)


def test_dataframe_without_pandas(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without pandas the remedy is named."""
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(SsdlabError, match="pip install pandas"):
        synthetic.result(synthetic.job()).dataframe()


def test_a_single_result_is_passed_on_unchanged() -> None:
    """Two equal runs give equal bytes: nothing is decoded and written anew."""
    text = '{"jobs":   [],\n"x": 1.50}'
    assert merge([text]) == text


def test_to_dict_is_a_copy() -> None:
    """Changing what was given out does not change the result."""
    found = synthetic.result(synthetic.job())
    found.to_dict()["jobs"].clear()
    assert len(found.to_dict()["jobs"]) == 1


def test_notebook_view_names_the_figures() -> None:
    """The HTML view shows job and IOPS, and escapes names."""
    script = (
        "import sys, types\n"
        "sys.modules['IPython'] = types.ModuleType('IPython')\n"
        "import ssdlab, synthetic\n"
        "print(synthetic.result(synthetic.job('<b>', iops=8000))._repr_html_())"
    )
    here = Path(__file__).parent
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, cwd=here)
    assert "8000" in done.stdout, done.stderr
    assert "<b>" not in done.stdout
