"""A drive's health as smartctl prints it: text of the document that `smart_json` writes.

Programs that read text (Icinga's check, scripts with grep and awk) find each line where smartctl
has it. The first line says that the drive is simulated. A section that the drive does not have is
left out, as smartctl leaves it out or says so.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ssdlab.ground import text
from ssdlab.machine.health.simulated import VERSION, WARNINGS
from ssdlab.real.smart.life import NVME_UNIT_BYTES

_FAILED = {"now": "FAILING_NOW", "": "-"}


@dataclass(frozen=True)
class Parts:
    """What is printed.

    Attributes
    ----------
    information, capabilities, health, attributes, errors, self_tests, statistics
        Sections, as smartctl's -i, -c, -H, -A, -l error, -l selftest and -l devstat name them.
    is_brief
        Attributes in smartctl's brief form, as -x has them.
    """

    information: bool = False
    capabilities: bool = False
    health: bool = False
    attributes: bool = False
    errors: bool = False
    self_tests: bool = False
    statistics: bool = False
    is_brief: bool = False

    @property
    def has_data(self) -> bool:
        """Whether anything beyond the information is printed."""
        others = (self.health, self.attributes, self.errors, self.self_tests, self.statistics)
        return any(others)


def banner() -> str:
    """Return smartctl's first line, which says whose it is."""
    return f"smartctl {'.'.join(map(str, VERSION))} (ssdlab, a simulated drive)"


def smart_text(document: Mapping[str, Any], parts: Parts) -> str:
    """Write the sections of a document as smartctl does.

    Parameters
    ----------
    document
        As `smart_json` writes it.
    parts
        Which sections.
    """
    nvme = document["device"]["protocol"] == "NVMe"
    lines = [banner(), ""]
    capabilities = parts.capabilities and nvme
    if parts.information or capabilities:
        lines += ["=== START OF INFORMATION SECTION ==="]
        lines += _information(document, nvme) if parts.information else ()
        lines += _power_states(document.get("nvme_power_states", ())) if capabilities else ()
        lines += _formats(document["nvme_namespaces"]) if capabilities else ()
        lines += [""]
    if parts.has_data:
        lines += [f"=== START OF {'SMART DATA' if nvme else 'READ SMART DATA'} SECTION ==="]
        lines += _of_nvme(document, parts) if nvme else _of_ata(document, parts)
    return "\n".join(lines).rstrip("\n") + "\n"


def _information(document: Mapping[str, Any], nvme: bool) -> Iterator[str]:
    size = document["user_capacity"]["bytes"]
    shown = text.size(size)
    rows: list[tuple[str, str | None]]
    firmware = document.get("firmware_version")
    if nvme:
        rows = [
            ("Model Number", document["model_name"]),
            ("Serial Number", document["serial_number"]),
            ("Firmware Version", firmware),
            ("Total NVM Capacity", f"{size:,} [{shown}]"),
            ("Number of Namespaces", "1"),
            ("Namespace 1 Size/Capacity", f"{size:,} [{shown}]"),
            ("Namespace 1 Formatted LBA Size", str(document["logical_block_size"])),
        ]
    else:
        rows = [
            ("Model Family", document.get("model_family")),
            ("Device Model", document["model_name"]),
            ("Serial Number", document["serial_number"]),
            ("Firmware Version", firmware),
            ("User Capacity", f"{size:,} bytes [{shown}]"),
            ("Sector Size", f"{document['logical_block_size']} bytes logical/physical"),
            ("Rotation Rate", "Solid State Device"),
            ("SMART support is", "Available - device has SMART capability."),
            ("SMART support is", "Enabled"),
        ]
    width = 36 if nvme else 18
    for name, value in rows:
        if value is not None:
            yield f"{name + ':':{width}}{value}"


def _power_states(states: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    if states:
        yield from ("", "Supported Power States")
        yield "St Op     Max   Active     Idle   RL RT WL WT  Ent_Lat  Ex_Lat"
    for number, each in enumerate(states):
        power = each["max_power"]
        digits = {100: 2, 10_000: 4}[power["units_per_watt"]]
        watts = f"{power['value'] / power['units_per_watt']:.{digits}f}W"
        level = each["relative_read_latency"]
        latency = f"{each['entry_latency_us']:8} {each['exit_latency_us']:7}"
        sign = "-" if each["non_operational_state"] else "+"
        relative = f"{level:3} {level:2} {level:2} {level:2}"
        yield f"{number:2} {sign} {watts:>9} {'- ':>8} {'- ':>8} {relative} {latency}"


def _formats(namespaces: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    for namespace in namespaces:
        yield from ("", f"Supported LBA Sizes (NSID 0x{namespace['id']:x})")
        yield "Id Fmt  Data  Metadt  Rel_Perf"
        for number, each in enumerate(namespace["lba_formats"]):
            numbers = f"{each['metadata_bytes']:7} {each['relative_performance']:9}"
            yield f"{number:2} {'+' if each['formatted'] else '-'} {each['data_bytes']:7} {numbers}"


def _verdict(document: Mapping[str, Any]) -> Iterator[str]:
    status = document["smart_status"]
    verdict = "PASSED" if status["passed"] else "FAILED!"
    yield f"SMART overall-health self-assessment test result: {verdict}"
    for key, sentence in WARNINGS.items():
        if status.get("nvme", {}).get(key):
            yield f"- {sentence}"
    yield ""


def _of_nvme(document: Mapping[str, Any], parts: Parts) -> Iterator[str]:
    if parts.health:
        yield from _verdict(document)
    log = document["nvme_smart_health_information_log"]
    if parts.attributes:
        yield "SMART/Health Information (NVMe Log 0x02)"
        for name, value in _health_log(log):
            yield f"{name + ':':36}{value}"
        yield ""
    if parts.errors:
        yield from _error_log(document["nvme_error_information_log"])
        yield ""
    if parts.self_tests:
        yield from _self_test_log(document["nvme_self_test_log"])
        yield ""


def _error_log(log: Mapping[str, Any]) -> Iterator[str]:
    yield f"Error Information (NVMe Log 0x01, {log['read']} of {log['size']} entries)"
    if "table" not in log:
        yield "No Errors Logged"
        return
    yield "Num   ErrCount  SQId   CmdId  Status  PELoc          LBA  NSID    VS  Message"
    for number, each in enumerate(log["table"]):
        status = each["status_field"]
        field = f"0x{status['value'] << 1 | each['phase_tag']:04x}"
        command, lba = f"0x{each['command_id']:04x}", each["lba"]["value"]
        yield (
            f"{number:3} {each['error_count']:10} {each['submission_queue_id']:5} {command:>7} "
            f"{field:>7} {'-':>6} {lba:12} {each['nsid']:5} {'-':>5}  {status['string']}"
        )
    if log["unread"]:
        yield f"... ({log['unread']} entries not read)"


def _self_test_log(log: Mapping[str, Any]) -> Iterator[str]:
    yield "Self-test Log (NVMe Log 0x06, NSID 0xffffffff)"
    yield f"Self-test status: {log['current_self_test_operation']['string']}"
    if "table" not in log:
        yield "No Self-tests Logged"
        return
    yield (
        "Num  Test_Description  Status                       Power_on_Hours  Failing_LBA  NSID "
        "Seg SCT Code"
    )
    for number, each in enumerate(log["table"]):
        kind, result = each["self_test_code"]["string"], each["self_test_result"]["string"]
        yield (
            f"{number:2}   {kind:17} {result:33} {each['power_on_hours']:9} {'-':>12} {'-':>5} "
            f"{each.get('segment', '-'):>3} {'-':>3} {'-':>4}"
        )


def _health_log(log: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    celsius = log.get("temperature")
    yield "Critical Warning", f"0x{log['critical_warning']:02x}"
    yield "Temperature", "-" if celsius is None else f"{celsius} Celsius"
    yield "Available Spare", f"{log['available_spare']}%"
    yield "Available Spare Threshold", f"{log['available_spare_threshold']}%"
    yield "Percentage Used", f"{log['percentage_used']}%"
    for name, key in (
        ("Data Units Read", "data_units_read"),
        ("Data Units Written", "data_units_written"),
    ):
        yield name, f"{log[key]:,} [{text.size(log[key] * NVME_UNIT_BYTES)}]"
    yield "Host Read Commands", f"{log['host_reads']:,}"
    yield "Host Write Commands", f"{log['host_writes']:,}"
    for name, key in (("Power Cycles", "power_cycles"), ("Power On Hours", "power_on_hours")):
        if key in log:
            yield name, f"{log[key]:,}"
    yield "Unsafe Shutdowns", f"{log['unsafe_shutdowns']:,}"
    yield "Media and Data Integrity Errors", f"{log['media_errors']:,}"
    yield "Error Information Log Entries", f"{log['num_err_log_entries']:,}"


def _of_ata(document: Mapping[str, Any], parts: Parts) -> Iterator[str]:
    if parts.health:
        yield from _verdict(document)
    table = document.get("ata_smart_attributes", {}).get("table")
    if parts.attributes and table:
        yield "SMART Attributes Data Structure revision number: 1"
        yield "Vendor Specific SMART Attributes with Thresholds:"
        yield from _attributes(table, parts.is_brief)
        yield ""
    if parts.errors:
        yield from ("SMART Error Log Version: 1", "No Errors Logged", "")
    if parts.self_tests:
        yield "SMART Self-test log structure revision number 1"
        yield from ("No self-tests have been logged.  [To run self-tests, use: smartctl -t]", "")
    if parts.statistics and "ata_device_statistics" in document:
        yield from _statistics(document["ata_device_statistics"]["pages"])


def _attributes(table: Sequence[Mapping[str, Any]], is_brief: bool) -> Iterator[str]:
    if is_brief:
        yield "ID# ATTRIBUTE_NAME          FLAGS    VALUE WORST THRESH FAIL RAW_VALUE"
    else:
        yield (
            "ID# ATTRIBUTE_NAME          FLAG     VALUE WORST THRESH TYPE      UPDATED  "
            "WHEN_FAILED RAW_VALUE"
        )
    for each in table:
        flags, fails = each["flags"], each["when_failed"]
        begins = f"{each['id']:3} {each['name']:23} "
        levels = f"{each['value']:03}   {each['worst']:03}   {each['thresh']:03}"
        raw = each["raw"]["string"]
        if is_brief:
            yield f"{begins}{flags['string']}  {levels}    {'NOW ' if fails else '-   '} {raw}"
        else:
            kind = "Pre-fail" if flags["prefailure"] else "Old_age "
            failed = f"{_FAILED[fails]:11}"
            yield f"{begins}0x{flags['value']:04x}   {levels}    {kind}  Always   {failed} {raw}"
    if is_brief:
        yield "                            ||||||_ K auto-keep"
        yield "                            |||||__ C event count"
        yield "                            ||||___ R error rate"
        yield "                            |||____ S speed/performance"
        yield "                            ||_____ O updated online"
        yield "                            |______ P prefailure warning"


def _statistics(pages: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    yield "Device Statistics (GP Log 0x04)"
    yield "Page  Offset Size        Value Flags Description"
    for page in pages:
        number = f"0x{page['number']:02x}"
        yield f"{number}  =====  =               =  ===  == {page['name']} (rev 1) =="
        for row in page["table"]:
            value = row.get("value", "-")
            yield f"{number}  0x{row['offset']:03x}  {row['size']}  {value:>14}  ---  {row['name']}"
