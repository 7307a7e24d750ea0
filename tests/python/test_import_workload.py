"""``ssdlab import workload.xml``: MQSim's scenarios as fio job files."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from statistics import mean, pstdev

import pytest

Command = Callable[..., tuple[int, str, str]]

COMMON = {
    "Priority_Class": "HIGH",
    "Device_Level_Data_Caching_Mode": "WRITE_CACHE",
    "Channel_IDs": "0,1",
    "Chip_IDs": "0",
    "Die_IDs": "0,1",
    "Plane_IDs": "0",
    "Initial_Occupancy_Percentage": "60",
}
SYNTHETIC = {
    **COMMON,
    "Working_Set_Percentage": "50",
    "Synthetic_Generator_Type": "QUEUE_DEPTH",
    "Read_Percentage": "0",
    "Address_Distribution": "RANDOM_UNIFORM",
    "Percentage_of_Hot_Region": "0",
    "Generated_Aligned_Addresses": "true",
    "Address_Alignment_Unit": "16",
    "Request_Size_Distribution": "FIXED",
    "Average_Request_Size": "8",
    "Variance_Request_Size": "0",
    "Seed": "77",
    "Average_No_of_Reqs_in_Queue": "4",
    "Bandwidth": "4096000",
    "Stop_Time": "20000000",
    "Total_Requests_To_Generate": "0",
}
TRACE = {
    **COMMON,
    "File_Path": "some.trace",
    "Percentage_To_Be_Executed": "100",
    "Relay_Count": "1",
    "Time_Unit": "NANOSECOND",
}
COUNTED = {"Stop_Time": "0", "Total_Requests_To_Generate": "4000"}
SMALL = ("--drive", "theory", "--set", "capacity_bytes=1GiB", "--no-layout")
GIB = 1 << 30


@pytest.fixture(autouse=True)
def _in_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def synthetic(**changed: str | None) -> str:
    """Write a synthetic flow; None leaves an element out."""
    return _flow("Synthetic", {**SYNTHETIC, **changed})


def trace(**changed: str | None) -> str:
    """Write a flow that replays a trace."""
    return _flow("Trace_Based", {**TRACE, **changed})


def _flow(kind: str, given: dict[str, str | None]) -> str:
    leaves = "".join(f"<{key}>{value}</{key}>" for key, value in given.items() if value is not None)
    name = f"IO_Flow_Parameter_Set_{kind}"
    return f"<{name}>{leaves}</{name}>"


def define(*scenarios: str) -> None:
    """Write a definition of scenarios."""
    inside = "".join(f"<IO_Scenario>{each}</IO_Scenario>" for each in scenarios)
    Path("w.xml").write_text(f"<MQSim_IO_Scenarios>{inside}</MQSim_IO_Scenarios>")


def imported(command: Command, *scenarios: str) -> str:
    """Import a definition as load.fio; return what was told."""
    define(*scenarios)
    code, _, err = command("import", "w.xml", "-o", "load.fio")
    assert code == 0, err
    return err


def options(command: Command, **changed: str | None) -> dict[str, str]:
    """Import one synthetic flow; return its job's options."""
    imported(command, synthetic(**changed))
    lines = Path("load.fio").read_text().partition("[flow-1]\n")[2].splitlines()
    return dict(line.split("=", 1) for line in lines)


def requests(command: Command, job: str = "load.fio") -> list[tuple[str, int, int]]:
    """Run a job on a fresh drive of 1 GiB; return kind, offset and length of each request."""
    code, _, err = command("run", job, *SMALL, "--write_iolog=done.log")
    assert code == 0, err
    rows = [line.split() for line in Path("done.log").read_text().splitlines()]
    named = [row[-3:] for row in rows if row[-3] in ("read", "write")]
    return [(kind, int(offset), int(length)) for kind, offset, length in named]


def test_a_flow_by_hand(command: Command) -> None:
    """Sectors are 512 bytes, nanoseconds microseconds; what MQSim fills first is a comment."""
    told = imported(command, synthetic())
    assert "load.fio: MQSim fills a part of the drive first" in told
    assert "run it with --state steady --span 60%\n" in told and "not carried over" not in told
    text = Path("load.fio").read_text()
    assert "; with --state steady --span 60%\n" in text
    assert text.partition("[flow-1]\n")[2].splitlines() == [
        *("rw=randwrite", "norandommap=1", "ba=8192", "bs=4096", "size=50%", "iodepth=4"),
        *("randseed=77", "time_based=1", "runtime=20000us"),
    ]


@pytest.mark.parametrize("read_percentage", ["0", "100"])
def test_the_line_that_is_told_takes_the_short_way(command: Command, read_percentage: str) -> None:
    """A scale model comes into steady state, so that a drive of hundreds of GB is soon there.

    The drive has MQSim's own policy, and a part of its map in RAM.
    """
    told = imported(command, synthetic(Read_Percentage=read_percentage))
    state = told.partition("run it with ")[2].splitlines()[0].split()
    like_mqsim = ("--set", "ftl.gc=d-choices:6", "--set", "ftl.mapping_cache_bytes=65536")
    code, out, err = command(
        "run", "load.fio", *SMALL, *like_mqsim, *state, "--no-cache", "--output-format", "json"
    )
    assert code == 0, err
    lab = json.loads(out)["jobs"][0]["ssdlab"]
    assert (lab["condition"], lab["steady_reached"]) == ("steady:uniform", True)
    assert "scale_model" in lab["season"]
    assert "over the first 60 % of the drive" in lab["conditioned_by"]


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        ({"Read_Percentage": "100"}, {"rw": "randread"}),
        ({"Read_Percentage": "30"}, {"rw": "randrw", "rwmixread": "30"}),
        ({"Address_Distribution": "streaming"}, {"rw": "write:4096"}),
        ({"Address_Distribution": "STREAMING", "Address_Alignment_Unit": "8"}, {"rw": "write"}),
        ({"Generated_Aligned_Addresses": "false"}, {"ba": "512"}),
        (
            {"Address_Distribution": "RANDOM_HOTCOLD", "Percentage_of_Hot_Region": "20"},
            {"random_distribution": "zoned:80/20:20/80"},
        ),
        (
            {"Synthetic_Generator_Type": "BANDWIDTH"},
            {"rate_iops": "1000", "rate_process": "poisson", "iodepth": "1024"},
        ),
        (
            {"Synthetic_Generator_Type": "BANDWIDTH", "Read_Percentage": "30"},
            {"rate_iops": "300,700"},
        ),
        (COUNTED, {"number_ios": "4000", "io_size": str(4000 * 4096)}),
        ({"Request_Size_Distribution": "NORMAL"}, {"bs": "4096"}),
    ],
)
def test_choices(command: Command, changed: dict[str, str], expected: dict[str, str]) -> None:
    """Each choice of MQSim sets what stands for it in fio."""
    got = options(command, **changed)
    assert {key: got.get(key) for key in expected} == expected


def test_hot_and_cold_requests(command: Command) -> None:
    """80 % go to the first fifth of the working set, and all are aligned and inside it.

    Of 4000 draws the share has a standard deviation of 0.6 %; four of them are allowed.
    """
    hot = {"Address_Distribution": "RANDOM_HOTCOLD", "Percentage_of_Hot_Region": "20"}
    imported(command, synthetic(**hot, **COUNTED))
    done = requests(command)
    assert len(done) == 4000 and {(kind, length) for kind, _, length in done} == {("write", 4096)}
    offsets = [offset for _, offset, _ in done]
    assert max(offsets) < GIB // 2 and not any(offset % 8192 for offset in offsets)
    assert mean(offset < GIB // 10 for offset in offsets) == pytest.approx(0.8, abs=0.025)


def test_sizes_of_a_normal_law(command: Command) -> None:
    """Mean and deviation are MQSim's, which rounds up: half a sector more than the law's mean.

    The middles of 50 parts lose 1.6 % of the deviation; 4000 draws deviate from it by 1.1 %.
    """
    law = {"Request_Size_Distribution": "NORMAL", "Average_Request_Size": "64"}
    imported(command, synthetic(**law, Variance_Request_Size="10", **COUNTED))
    sectors = [length / 512 for _, _, length in requests(command)]
    assert mean(sectors) == pytest.approx(64.5, abs=4 * 10 / 4000**0.5)
    assert pstdev(sectors) == pytest.approx(10, rel=0.05)


def test_a_stream_of_aligned_requests(command: Command) -> None:
    """Each begins at the next multiple of the alignment; the working set is gone through again."""
    stream = {"Address_Distribution": "STREAMING", "Working_Set_Percentage": "1"}
    imported(command, synthetic(**stream, **COUNTED))
    offsets = [offset for _, offset, _ in requests(command)]
    assert offsets[:3] == [0, 8192, 16384]
    assert max(offsets) < GIB // 100 and offsets.count(0) == 4000 * 8192 // (GIB // 100) + 1


def test_a_rate(command: Command) -> None:
    """A bandwidth of 1000 requests a second is kept; twenty draws deviate by 3 % each."""
    imported(
        command,
        synthetic(
            Synthetic_Generator_Type="BANDWIDTH", Stop_Time="1000000000", Read_Percentage="40"
        ),
    )
    done = requests(command)
    assert len(done) == pytest.approx(1000, rel=0.13)
    assert mean(kind == "read" for kind, _, _ in done) == pytest.approx(0.4, abs=0.065)


def test_flows_share_the_drive(command: Command) -> None:
    """Three flows have a third each, from an aligned place on; nothing else is touched."""
    imported(command, *["".join(synthetic(**COUNTED, Seed=seed) for seed in "123")])
    places = sorted(offset * 6 // GIB for _, offset, _ in requests(command))
    assert len(places) == 12000 and set(places) <= {0, 2, 4}, "the first halves of thirds"
    assert [places.count(part) for part in (0, 2, 4)] == [4000] * 3
    assert all(offset % 8192 == 0 for _, offset, _ in requests(command))


def test_a_file_a_scenario(command: Command) -> None:
    """Of several scenarios each becomes a file with its number; each runs."""
    imported(command, synthetic(), synthetic(Read_Percentage="100"))
    assert sorted(path.name for path in Path().iterdir()) == ["load-1.fio", "load-2.fio", "w.xml"]
    kinds = [{kind for kind, _, _ in requests(command, f"load-{n}.fio")} for n in (1, 2)]
    assert kinds == [{"write"}, {"read"}]


def test_a_trace_is_replayed(command: Command) -> None:
    """The first half of the trace, as an iolog beside the job; replays repeat all of it."""
    Path("some.trace").write_text("".join(f"{time}000 0 {time} 8 0\n" for time in range(0, 64, 8)))
    for changed, times in (({}, 4), ({"Relay_Count": "3"}, 24)):
        imported(command, trace(Percentage_To_Be_Executed="50", **changed))
        code, out, err = command("run", "load.fio", *SMALL, "--output-format", "json")
        assert code == 0, err
        assert json.loads(out)["jobs"][0]["write"]["total_ios"] == times
    assert len(Path("load-flow-1.log").read_text().splitlines()) == 8 + 4


def test_what_is_left_is_named(command: Command) -> None:
    """By scenario and flow: other priorities and caches, unknown elements, streams that part."""
    told = imported(
        command,
        synthetic(Intensity="32768", Novelty="1")
        + synthetic(Priority_Class="LOW", Device_Level_Data_Caching_Mode="TURNED_OFF"),
        synthetic(Address_Distribution="STREAMING", Read_Percentage="50"),
    )
    assert "w.xml, scenario 1, flow 1: not carried over: Priority_Class, Novelty\n" in told
    second = "Priority_Class, Device_Level_Data_Caching_Mode"
    assert f"w.xml, scenario 1, flow 2: not carried over: {second}\n" in told
    assert "w.xml, scenario 2, flow 1: reads and writes are a stream each" in told
    sizes = {"Request_Size_Distribution": "NORMAL", "Variance_Request_Size": "2"}
    told = imported(command, synthetic(Address_Distribution="STREAMING", **sizes))
    assert "not carried over: Address_Alignment_Unit\n" in told


@pytest.mark.parametrize(
    ("changed", "named"),
    [
        ({"Seed": None}, "scenario 1, flow 1: there is no <Seed>"),
        ({"Seed": "1_0"}, "Seed: '1_0': must be a whole number"),
        ({"Seed": "9" * 5000}, "must be a whole number"),
        ({"Read_Percentage": "101"}, "Read_Percentage: 101: must be 100 or less"),
        ({"Working_Set_Percentage": "0"}, "Working_Set_Percentage: 0: must be 1 or more"),
        (
            {"Address_Distribution": "MIXED"},
            "must be one of RANDOM_UNIFORM, RANDOM_HOTCOLD, STREAM",
        ),
        (
            {"Address_Distribution": "RANDOM_HOTCOLD"},
            "Percentage_of_Hot_Region: 0: must be 1 or more",
        ),
        (
            {"Synthetic_Generator_Type": "BANDWIDTH", "Bandwidth": "4095"},
            "Bandwidth: 4095: is less than one request a second",
        ),
        ({"Stop_Time": "0"}, "Total_Requests_To_Generate: 0: must be 1 or more"),
        ({"Average_Request_Size": "2097153"}, "Average_Request_Size: 2097153: must be 2097152 or"),
        ({"Channel_IDs": "0,\nrw=read"}, "Channel_IDs: '0,\\nrw=read': must be numbers such as"),
        ({"Priority_Class": "NONE"}, "must be one of URGENT, HIGH, MEDIUM, LOW"),
    ],
)
def test_a_wrong_element_is_named(
    command: Command, changed: dict[str, str | None], named: str
) -> None:
    """The scenario, the flow, the value and what it must be; nothing is written."""
    define(synthetic(**changed))
    code, _, err = command("import", "w.xml", "-o", "load.fio")
    assert code == 2 and "w.xml" in err and named in err, err
    assert [path.name for path in Path().iterdir()] == ["w.xml"]


@pytest.mark.parametrize(
    ("scenarios", "named"),
    [
        ([], "has 0 <IO_Scenario>, not 1 to 99"),
        ([synthetic()] * 100, "has 100 <IO_Scenario>, not 1 to 99"),
        ([synthetic(), ""], "scenario 2: has 0 flows, not 1 to 8"),
        ([synthetic() * 9], "scenario 1: has 9 flows, not 1 to 8"),
        (["<Flow/>"], "scenario 1: <Flow> is not a flow that MQSim knows"),
        ([synthetic() + synthetic(Die_IDs="0")], "flow 2: Die_IDs: 0: differs from flow 1"),
        ([trace()], "File_Path: 'some.trace': is no file"),
        ([trace(File_Path="")], "File_Path: '': is no file"),
        ([trace(File_Path="/dev/zero")], "File_Path: '/dev/zero': is no file"),
        ([trace(File_Path="x" * 9000)], "is no file"),
        ([trace(Time_Unit="MICROSECOND")], "must be one of NANOSECOND"),
        ([trace(Relay_Count="0")], "Relay_Count: 0: must be 1 or more"),
        ([trace(File_Path="w.xml")], "w.xml, line 1: is longer than 200 characters"),
        ([synthetic(), trace(File_Path="w.xml")], "w.xml, line 1: is longer than 200 characters"),
    ],
)
def test_a_wrong_definition_is_refused(command: Command, scenarios: list[str], named: str) -> None:
    """Its scenario and flow are named, and none of the files is written."""
    define(*scenarios)
    code, _, err = command("import", "w.xml", "-o", "load.fio")
    assert code == 2 and named in err and "Traceback" not in err, err
    assert [path.name for path in Path().iterdir()] == ["w.xml"]


@pytest.mark.parametrize("content", ["<MQSim_IO_Scenarios>", "<a>" * 20, "<!DOCTYPE x><x/>"])
def test_a_broken_document_is_refused(command: Command, content: str) -> None:
    """What is no XML, is too deep or declares a type says so."""
    Path("w.xml").write_text(content)
    code, _, err = command("import", "w.xml", "-o", "load.fio")
    assert code == 2 and err.startswith("ssdlab: w.xml: "), err


def test_standard_output_has_room_for_one(command: Command) -> None:
    """One job goes to standard output; several files need a name."""
    define(synthetic())
    code, out, _ = command("import", "w.xml", "-o", "-")
    assert code == 0 and out.endswith("runtime=20000us\n")
    define(synthetic(), synthetic())
    code, out, err = command("import", "w.xml", "-o", "-")
    assert (code, out) == (2, "") and "2 files come of w.xml" in err
