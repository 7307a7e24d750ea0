"""``ssdlab import``: MQSim's configuration as a profile, its traces as fio's iolog."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from ssdlab import engine
from ssdlab.engine.shown import sizes
from ssdlab.experiment.drives import drive

Command = Callable[..., tuple[int, str, str]]

VALUES = {
    "PCIe_Lane_Bandwidth": "1.0",
    "PCIe_Lane_Count": "4",
    "SATA_Processing_Delay": "400000",
    "Seed": "7",
    "Memory_Type": "FLASH",
    "HostInterface_Type": "NVME",
    "IO_Queue_Depth": "1024",
    "Caching_Mechanism": "ADVANCED",
    "Data_Cache_Capacity": "1048576",
    "Data_Cache_DRAM_tRCD": "13",
    "Address_Mapping": "PAGE_LEVEL",
    "Ideal_Mapping_Table": "true",
    "CMT_Capacity": "2097152",
    "Overprovisioning_Ratio": "0.2",
    "GC_Exec_Threshold": "0.05",
    "GC_Block_Selection_Policy": "RGA",
    "Use_Copyback_for_GC": "false",
    "Dynamic_Wearleveling_Enabled": "true",
    "Static_Wearleveling_Enabled": "false",
    "Static_Wearleveling_Threshold": "100",
    "Flash_Channel_Count": "2",
    "Flash_Channel_Width": "1",
    "Channel_Transfer_Rate": "333",
    "Chip_No_Per_Channel": "2",
    "CMD_Suspension_Support": "NONE",
    "Flash_Technology": "MLC",
    "Page_Read_Latency_LSB": "50000",
    "Page_Read_Latency_CSB": "60000",
    "Page_Read_Latency_MSB": "70000",
    "Page_Program_Latency_LSB": "750000",
    "Page_Program_Latency_CSB": "750000",
    "Page_Program_Latency_MSB": "750000",
    "Block_Erase_Latency": "3800000",
    "Block_PE_Cycles_Limit": "10000",
    "Suspend_Program_Time": "100000",
    "Die_No_Per_Chip": "2",
    "Plane_No_Per_Die": "1",
    "Block_No_Per_Plane": "64",
    "Page_No_Per_Block": "32",
    "Page_Capacity": "8192",
    "Page_Metadat_Capacity": "448",
}
"""A small drive: 8 dies of 64 blocks of 32 pages of 8 KiB, 128 MiB."""


@pytest.fixture(autouse=True)
def _in_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def configuration(**changed: str | None) -> str:
    """Write a configuration; None leaves an element out."""
    given = {name: value for name, value in {**VALUES, **changed}.items() if value is not None}
    leaves = "".join(f"<{name}>{value}</{name}>\n" for name, value in given.items())
    return f"<Execution_Parameter_Set><A>{leaves}</A></Execution_Parameter_Set>"


def imported(command: Command, **changed: str | None) -> dict[str, object]:
    """Import a configuration; return the drive's parameters."""
    Path("ssd.xml").write_text(configuration(**changed))
    code, _, err = command("import", "ssd.xml", "-o", "mine.toml")
    assert code == 0, err
    return {each["key"]: each["value"] for each in engine.show("mine.toml")["parameters"]}


def test_numbers_by_hand(command: Command) -> None:
    """Sizes, times and rates of the small drive; 128 MiB less a fifth is exported."""
    values = imported(command)
    assert sizes(engine.show("mine.toml")).capacity_bytes == (128 << 20) * 4 // 5 // 8192 * 8192
    assert (values["nand.channels"], values["nand.dies_per_channel"]) == (2, 4)
    assert values["nand.read_us"] == [50.0, 70.0], "MLC has no CSB pages"
    assert (values["nand.program_us"], values["nand.erase_us"]) == (750.0, 3800.0)
    assert (values["nand.channel_mb_per_s"], values["link.mb_per_s"]) == (333.0, 4000.0)
    assert (values["ftl.gc"], values["ftl.gc_low_blocks"]) == ("d-choices:6", 3)


def test_what_is_left_is_named(command: Command) -> None:
    """Elements without a counterpart, and those alone; a seed is of a run."""
    Path("ssd.xml").write_text(configuration())
    _, _, err = command("import", "ssd.xml", "-o", "mine.toml")
    named = err.partition("not carried over: ")[2].strip().split(", ")
    assert named == [
        *("SATA_Processing_Delay", "Data_Cache_DRAM_tRCD", "CMT_Capacity"),
        *("Static_Wearleveling_Threshold", "Suspend_Program_Time"),
    ]


def test_a_drive_that_cannot_be_simulated_is_refused(command: Command) -> None:
    """One die of 64 blocks leaves too few spare ones; the import says so, and writes nothing."""
    one_die = {"Flash_Channel_Count": "1", "Chip_No_Per_Channel": "1", "Die_No_Per_Chip": "1"}
    Path("ssd.xml").write_text(configuration(**one_die, Overprovisioning_Ratio="0.05"))
    code, _, err = command("import", "ssd.xml", "-o", "mine.toml")
    assert code == 2
    assert "ssd.xml: describes a drive that ssdlab cannot simulate; nothing was written" in err
    assert "leaves 3 spare blocks" in err and "/tmp" not in err
    assert not Path("mine.toml").exists()


@pytest.mark.parametrize(
    ("changed", "key", "value"),
    [
        ({"HostInterface_Type": "SATA"}, "link.protocol", "sata-ncq"),
        ({"HostInterface_Type": "SATA"}, "link.queue_depth", 32),
        ({"HostInterface_Type": "SATA"}, "controller.read_latency_us", 400.0),
        ({"GC_Block_Selection_Policy": "greedy"}, "ftl.gc", "greedy"),
        ({"Caching_Mechanism": "TURNED_OFF"}, "buffer.bytes", 0),
        ({"Ideal_Mapping_Table": "false"}, "ftl.mapping_cache_bytes", 2 << 20),
        ({"CMD_Suspension_Support": "PROGRAM_ERASE"}, "nand.suspend_us", 100.0),
        ({"Static_Wearleveling_Enabled": "true"}, "ftl.static_wear_cycles", 100),
    ],
)
def test_choices(command: Command, changed: dict[str, str], key: str, value: object) -> None:
    """Each choice of MQSim sets what stands for it here."""
    assert imported(command, **changed)[key] == value


def test_the_drive_runs(command: Command) -> None:
    """Random overwrites on the imported drive cost copies, as any full drive's do."""
    imported(command)
    result = drive("mine.toml").run(rw="randwrite", bs="8k", iodepth=8, loops=1, state="used")
    assert (result.job().write_amplification or 0) > 1.2


@pytest.mark.parametrize(
    ("changed", "named"),
    [
        ({"Page_Capacity": None}, "there is no <Page_Capacity>"),
        ({"Page_Capacity": "much"}, "Page_Capacity: 'much': must be a whole number"),
        ({"Page_Capacity": "0"}, "Page_Capacity: 0: must be 1 or more"),
        ({"Overprovisioning_Ratio": "1.5"}, "Overprovisioning_Ratio: 1.5: must be below 1"),
        ({"Overprovisioning_Ratio": "-1"}, "Overprovisioning_Ratio: -1: must be 0 or more"),
        ({"Address_Mapping": "HYBRID"}, "Address_Mapping: HYBRID: must be one of PAGE_LEVEL"),
        ({"GC_Block_Selection_Policy": "RANDOM_PP"}, "must be one of GREEDY, FIFO, RANDOM, RGA"),
        (
            {"Ideal_Mapping_Table": "maybe"},
            "Ideal_Mapping_Table: maybe: must be one of true, false",
        ),
    ],
)
def test_a_wrong_element_is_named(
    command: Command, changed: dict[str, str | None], named: str
) -> None:
    """The element, its value and what it must be; nothing is written."""
    Path("ssd.xml").write_text(configuration(**changed))
    code, _, err = command("import", "ssd.xml", "-o", "mine.toml")
    assert code == 2 and "ssd.xml" in err and named in err, err
    assert not Path("mine.toml").exists()


@pytest.mark.parametrize(
    ("content", "named"),
    [
        ("", "cut short, or not XML"),
        ("<Execution_Parameter_Set>", "cut short, or not XML"),
        ("<other/>", "begins with <other>"),
        ("<!DOCTYPE x [<!ENTITY a 'b'>]><x/>", "a document type declaration is refused"),
        ("<a>" * 20, "nested deeper"),
    ],
)
def test_a_broken_configuration_is_refused(command: Command, content: str, named: str) -> None:
    """What is no configuration says so."""
    Path("ssd.xml").write_text(content)
    code, _, err = command("import", "ssd.xml", "-o", "mine.toml")
    assert code == 2 and named in err, err


def test_a_trace_by_hand(command: Command) -> None:
    """Nanoseconds are rounded to microseconds, sectors are 512 B, 1 is a read; it can be run."""
    Path("few.trace").write_text("1499 0 8 16 0\n2500000 3 0 8 1\r\n\n")
    code, _, err = command("import", "few.trace", "-o", "few.log")
    assert code == 0, err
    assert "2 requests" in err and "2 devices are one drive" in err
    assert Path("few.log").read_text().splitlines()[3:5] == [
        "1 mqsim write 4096 8192",
        "2500 mqsim read 0 4096",
    ]
    done = drive("theory").run(rw="read", read_iolog="few.log").job()
    assert (done.direction("read")["total_ios"], done.direction("write")["total_ios"]) == (1, 1)


@pytest.mark.parametrize(
    ("line", "named"),
    [
        ("1 2 3 4", "line 2: has 4 fields, not 5"),
        ("1 2 3 4 5", "line 2: 5: must be 0 (a write) or 1 (a read)"),
        ("1 2 -3 4 0", "line 2: -3: must be a whole number"),
        ("1 2 3 0 0", "line 2: 0 sectors: must be 1 or more"),
        ("0 2 3 4 0", "line 2: 0 us: is before the line above"),
        ("1 2 3 99999999999999999999 0", "must be a whole number from 0 to"),
        ("9" * 300, "line 2: is longer than 200 characters"),
    ],
)
def test_a_wrong_line_is_named(command: Command, line: str, named: str) -> None:
    """The line's number, the value and what it must be; nothing is written."""
    Path("bad.trace").write_text(f"5000 0 0 8 0\n{line}\n")
    code, _, err = command("import", "bad.trace", "-o", "bad.log")
    assert code == 2 and named in err, err
    assert not Path("bad.log").exists()


def test_an_empty_trace_is_refused(command: Command) -> None:
    """There is nothing to replay."""
    Path("empty.trace").write_text("\n")
    code, _, err = command("import", "empty.trace", "-o", "empty.log")
    assert code == 2 and "there is no request in it" in err
