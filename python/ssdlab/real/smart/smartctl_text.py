"""smartctl's text (``smartctl -a``, ``-x``, ``-A``, ``-H``; 5.3 to 7.5) as the JSON it would be.

Read are the identity, the drive's own verdict, NVMe's health log, ATA's attributes (also brief),
device statistics and self-tests, and SCSI's defects, errors and endurance. What no verdict hangs on
is known line by line (``smartctl_lines``); any other line is quoted in the answer.

A raw value of several words, such as ``3 (0 65535)``, stands in text as smartctl reads it: the
first is taken, and attributes of which a family packs bits are not read from it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from ssdlab.ground.unread import Unread
from ssdlab.real.smart.report import DriveReport
from ssdlab.real.smart.smartctl import from_smartctl
from ssdlab.real.smart.smartctl_lines import (
    BLOCKS,
    INFORMATION,
    NVME_ROWS,
    NVME_UNUSED,
    OTHERS,
    Block,
)
from ssdlab.real.smart.told import count_in

_BANNER = re.compile(r"^smartctl (?:version |pre-)?(?P<version>\d+\.\d+)", re.MULTILINE)
_OF_A_DRIVE = re.compile(
    r"^(=== START OF |SMART overall-health|SMART Health Status:|SMART/Health Information"
    r"|ID# +ATTRIBUTE_NAME)",
    re.MULTILINE,
)
_SECTION = re.compile(r"=== START OF (?P<name>.*?) ?(?:SECTION)? ===")
_PAIR = re.compile(r"(?P<name>[^:]+?)\s*:\s*(?P<value>.*?)\s*")
_BRACKETS = re.compile(r"\s*\[[^\[\]]*\]$")
_PROTOCOLS = {"device model": "ATA", "model number": "NVMe", "product": "SCSI"}
_FLAGS = r"0x[0-9a-f]{4}|[POSRCKM+-]{6,7}"
_LEVEL = r"\d{3}|0x[0-9a-f]{2}|-{3,4}"
_ATTRIBUTE = re.compile(
    rf"\s*(?P<id>\d{{1,3}}|0x[0-9a-f]{{2}}) (?P<name>\S+)\s+(?P<flags>{_FLAGS})\s+"
    rf"(?P<value>{_LEVEL})\s+(?P<worst>{_LEVEL})\s+(?P<thresh>{_LEVEL})\s+"
    r"(?:(?P<type>Pre-fail|Old_age)\s+(?:(?:Always|Offline)\s+)?)?"
    r"(?P<failed>-|FAILING_NOW|In_the_past|NOW|Past)\s+(?P<raw>\S.*?)\s*"
)
_RAW = re.compile(
    r"\d+( [(\[].*| h \+ \d+ m)?|0x[0-9a-fA-F]+|\d+(/\d+)+.*|\d+h\+\d+m(\+[\d.]+s)?|-|\d+\.\d+.*"
    r"|([0-9a-f]{1,4}[ :])+[0-9a-f]{1,4}"
)
_STATISTIC = re.compile(
    r"\s*(?:0x[0-9a-f]{2}|\d+)\s+0x[0-9a-f]{3}\s+\d\s+(?P<value>-?\d+|-)(?P<mark>[~!]*)\s+"
    r"(?:(?P<flags>[NDC-]{3}\+?)\s+)?(?P<name>\S.*?)\s*"
)
_STATISTICS_ROW = re.compile(
    r"Page +Offset.*|\s*(0x[0-9a-f]{2}|\d+)\s+=+\s+.*==.*|\s*\|+_* .*|Page +Description"
    r"|0x[0-9a-f]{2}  [A-Z].*|\s*[|_]+ [A-Z] .*"
)
_SELF_TEST = re.compile(
    r"#\s*\d+\s+(?P<kind>\S.*?)\s{2,}(?P<status>\S.*?)\s+(?P<left>\d+)%\s+\d+\s+\S+\s*"
)
_FAILED_TEST = re.compile(r"Completed: .*(failure|damage)|Fatal or unknown error")
_HARMLESS_TEST = re.compile(
    r"Completed without error|Aborted by host|Interrupted \(host reset\)"
    r"|Self-test routine in progress.*|Completed"
)
_SELF_TEST_ROW = re.compile(
    r"Num +Test_Description.*|No self-tests have been logged.*|Warning: ATA.*"
)
_OF_SCSI = (
    "Completed",
    "Aborted (by user command)",
    "Aborted (device reset ?)",
    "Unknown error, incomplete",
    "Completed, segment failed",
    "Failed in first segment",
    "Failed in second segment",
    "Failed in segment",
)
"""How SCSI's self-tests end, by result."""
_OF_NVME = (
    "Completed without error",
    "Aborted: Self-test command",
    "Aborted: Controller Reset",
    "Aborted: Namespace removed",
    "Aborted: Format NVM command",
    "Fatal or unknown test error",
    "Completed: unknown failed segment",
    "Completed: failed segments",
    "Aborted: unknown reason",
    "Aborted: sanitize operation",
)
"""How NVMe's self-tests end, by result."""
_OTHER_TEST_ROW = re.compile(
    r"Num +Test.*|\s+Description .*|Long \(extended\).*|Self-test status: .*|No Self-tests Logged"
)
_NUMBERED_TEST = re.compile(r"(# ?)?\s*\d+ +\S.*")
_SELECTIVE_TEST = re.compile(r"\s*\d+ +\d+ +\d+ +Completed_\w*(failure|damage|unknown)\w*.*")
_PENDING_ROW = re.compile(r"\s*\d+ +\d+ +(\d+|-)")
_OTHER_PENDING_ROW = re.compile(r"Index +LBA +Hours|No Defects Logged|\.\.\. .*")
_EXECUTION = re.compile(r"Self-test execution status: +\( *(?P<status>\d+)\).*")
_OUTDATED = re.compile(r"(?P<old>\d+) of \d+ failed self-tests are outdated.*")
_ERRORS = re.compile(r"(?P<kind>read|write|verify):\s+(?P<numbers>[\d.,\s]+)")
_ERRORS_ROW = re.compile(
    r"\s+(Errors Corrected|ECC |fast \|).*|Non-medium error count: .*|.*\[Hitachi\].*"
)
_NEGLECTED = re.compile(
    r"(Current Drive Temperature|Drive Trip Temperature|Manufactured in|Specified (cycle|load)"
    r"|Accumulated (start|load)|Non-medium error count|Last n error|Temperature:).*"
)


def is_text(content: str) -> bool:
    """Whether it is what smartctl prints of a drive."""
    return bool(_OF_A_DRIVE.search(content))


def from_text(content: str, source: str) -> DriveReport:
    """Read what smartctl prints of one drive."""
    reading = _Reading()
    for number, line in enumerate(content.splitlines(), 1):
        if line.strip():
            reading.read(number, line.rstrip())
        else:
            reading.end_warning()
    version = _BANNER.search(content)
    if version:
        parts = [int(part) for part in version["version"].split(".")]
        reading.found.setdefault("smartctl", {})["version"] = parts
    report = from_smartctl(reading.found, source, "text")
    unread = (*reading.unread, *reading.is_cut(), *report.unread)
    return replace(report, unread=unread, warnings=tuple(reading.warnings))


class _Reading:
    """Goes through the lines; what they say is in ``found``, in the shape of smartctl's JSON."""

    def __init__(self) -> None:
        self.found: dict[str, Any] = {}
        self.unread: list[Unread] = []
        self.warnings: list[str] = []
        self._section = ""
        self._block: Block | None = None
        self._rows: Callable[[str], str | None] = self._any
        self._warns = False
        self._is_long = False
        self._last = (0, "")

    def read(self, number: int, line: str) -> None:
        """Read one line."""
        self._last = (number, line)
        self._is_long |= line.startswith("General SMART Values")
        why = self._why_not(line)
        if why is not None:
            self.unread.append(Unread(f"line {number}", line, why))

    def end_warning(self) -> None:
        """Notice an empty line, with which a warning of the drive database ends."""
        self._warns = False

    def is_cut(self) -> list[Unread]:
        """Note where the text ends before what smartctl -a and -x always have."""
        of_scsi = self.found.get("device", {}).get("protocol") == "SCSI"
        if of_scsi and "DATA" in self._section and "scsi_error_counter_log" not in self.found:
            why = "smartctl -a and -x go on with the counters of errors: the text is cut"
        elif self._rows == self._attribute and self._is_long:
            why = "smartctl -a and -x go on after the attributes: the text is cut"
        else:
            return []
        return [Unread(f"line {self._last[0]}, the last one", self._last[1], why)]

    def _why_not(self, line: str) -> str | None:
        """Read a line; say why it was not understood."""
        section = _SECTION.fullmatch(line.strip())
        if section:
            self._section, self._block, self._warns = section["name"], None, False
            self._rows = self._information if "INFORMATION" in self._section else self._any
            return None
        if self._warns or line.startswith("==> WARNING:"):
            self._warning(line)
            return None
        if self._heading(line) or self._status(line) or self._ended_test(line):
            return None
        why = self._rows(line)
        if why is None:
            return None
        if self._block and self._block.row.fullmatch(line):
            return None
        if OTHERS.fullmatch(line) or (not self._section and "smartctl" in line):
            return None
        return why

    def _heading(self, line: str) -> bool:
        """Notice the beginning of a part."""
        for beginning, rows in (
            (r"SMART/Health Information \(NVMe Log 0x02.*", self._nvme),
            (r"ID# ? ?ATTRIBUTE_NAME .*", self._attribute),
            (r"Device Statistics \(.*Log 0x04\)", self._statistic),
            (
                r"SMART (Extended )?Self-test [Ll]og.+([Ss]tructure|[Vv]ersion|not supported).*",
                self._test,
            ),
            (r"SMART Self-test log", self._scsi_test),
            (r"Self-test Log \(NVMe Log 0x06.*", self._nvme_test),
            (r"Pending Defects log \(GP Log 0x0c\)(, .*)?", self._pending_defect),
            (r"Error counter log:", self._errors),
        ):
            if re.fullmatch(beginning, line.strip()):
                self._rows, self._block = rows, None
                return True
        block = next((each for each in BLOCKS if each.heading.fullmatch(line)), None)
        if block is not None:
            self._rows, self._block = self._any, block
        return block is not None

    def _warning(self, line: str) -> None:
        """Keep what the drive database warns of."""
        text = line.removeprefix("==> WARNING:").strip()
        if not self._warns:
            self.warnings.append(text)
        else:
            self.warnings[-1] = f"{self.warnings[-1]} {text}"
        self._warns = True

    def _status(self, line: str) -> bool:
        """Read the drive's own verdict."""
        told = re.fullmatch(r"SMART overall-health self-assessment test result: (\w+)!?", line)
        scsi = re.fullmatch(r"SMART Health Status: (.*)", line)
        if told and told[1] in ("PASSED", "FAILED"):
            self.found["smart_status"] = {"passed": told[1] == "PASSED"}
        elif scsi:
            self.found["smart_status"] = {"passed": scsi[1] == "OK"}
        elif re.fullmatch(r"- .*", line) and "smart_status" in self.found:
            return self._nvme_warning(line)
        else:
            return False
        return True

    def _nvme_warning(self, line: str) -> bool:
        known = (
            "available spare has fallen below threshold",
            "temperature is above or below threshold",
            "NVM subsystem reliability has been degraded",
            "media has been placed in read only mode",
            "volatile memory backup device has failed",
            "persistent memory region has become read-only or unreliable",
        )
        if line[2:] not in known:
            return False
        status = self.found["smart_status"].setdefault("nvme", {"value": 0})
        status["value"] |= 1 << known.index(line[2:])
        return True

    def _information(self, line: str) -> str | None:
        pair = _PAIR.fullmatch(line)
        name, value = (pair["name"].lower(), pair["value"]) if pair else ("", "")
        keys = {
            "device model": "model_name",
            "model number": "model_name",
            "product": "scsi_product",
            "vendor": "scsi_vendor",
            "model family": "model_family",
            "serial number": "serial_number",
            "firmware version": "firmware_version",
            "revision": "scsi_revision",
            "add. product id": "ata_additional_product_id",
        }
        if name in keys:
            self.found[keys[name]] = value
            if name in _PROTOCOLS:
                self.found.setdefault("device", {})["protocol"] = _PROTOCOLS[name]
            names = (self.found.get("scsi_vendor"), self.found.get("scsi_product"))
            if name == "product":
                self.found["scsi_model_name"] = " ".join(filter(None, names))
        elif name == "rotation rate":
            return self._rotation(value)
        elif name == "smart support is":
            return self._support(value)
        elif name in ("user capacity", "total nvm capacity"):
            self._capacity(value)
        elif name not in INFORMATION:
            return self._any(line)
        return None

    def _rotation(self, value: str) -> str | None:
        speed = re.fullmatch(r"(\d+) rpm", value)
        if value == "Solid State Device" or speed:
            self.found["rotation_rate"] = int(speed[1]) if speed else 0
            return None
        return None if value.startswith("Unknown") else "a speed in rpm was expected"

    def _support(self, value: str) -> str | None:
        support = self.found.setdefault("smart_support", {})
        words = {"available": ("available", True), "unavailable": ("available", False)}
        words |= {"enabled": ("enabled", True), "disabled": ("enabled", False)}
        word = re.split(r"[ .]", value, maxsplit=1)[0].lower()
        if word in words:
            support[words[word][0]] = words[word][1]
            return None
        return None if word in ("ambiguous", "unknown") else "Available or Enabled was expected"

    def _capacity(self, value: str) -> None:
        size = count_in(re.sub(r"(?: bytes)?(?:\s*\[.*\])?$", "", value))
        if size is not None:
            self.found["user_capacity"] = {"bytes": size}

    def _nvme(self, line: str) -> str | None:
        pair = _PAIR.fullmatch(line)
        name, value = (pair["name"].lower(), pair["value"]) if pair else ("", "")
        log = self.found.setdefault("nvme_smart_health_information_log", {})
        celsius = re.fullmatch(r"(-?\d+) Celsius", value)
        if name == "temperature" and (celsius or value == "-"):
            if celsius:
                log["temperature"] = int(celsius[1])
        elif name in NVME_ROWS:
            key, unit = NVME_ROWS[name]
            number = count_in(_BRACKETS.sub("", value).removesuffix(unit or "\0"))
            if number is None or (unit and not value.endswith(unit)):
                return f"a whole number{' of percent' if unit else ''} was expected"
            if key in log and log[key] != number:
                return "it is there twice, with another number"
            log[key] = number
            if key == "power_on_hours":
                self.found["power_on_time"] = {"hours": number}
        elif not NVME_UNUSED.fullmatch(name):
            return self._any(line)
        return None

    def _attribute(self, line: str) -> str | None:
        row = _ATTRIBUTE.fullmatch(line)
        if row is None:
            return self._any(line)
        raw = row["raw"]
        if not _RAW.fullmatch(raw):
            return "the raw value is in no form that is known here"
        levels = {key: _level(row[key]) for key in ("value", "worst", "thresh")}
        number = count_in(raw.split(" ", 1)[0])
        failed = {"FAILING_NOW": "now", "NOW": "now", "In_the_past": "past", "Past": "past"}
        flags = row["flags"]
        foretells = int(flags, 16) & 1 == 1 if flags.startswith("0x") else flags.startswith("P")
        entry = {
            "id": int(row["id"], 0) if row["id"].startswith("0x") else int(row["id"]),
            "name": row["name"],
            **{key: level for key, level in levels.items() if level is not None},
            "when_failed": failed.get(row["failed"], ""),
            "flags": {"prefailure": foretells},
            "raw": {"string": raw} | ({} if number is None else {"value": number}),
        }
        table = self.found.setdefault("ata_smart_attributes", {}).setdefault("table", [])
        # What failed is listed by itself before it stands in the whole list.
        table[:] = [each for each in table if each["id"] != entry["id"]] + [entry]
        if entry["id"] == _POWER_ON_HOURS and number is not None:
            self.found.setdefault("power_on_time", {"hours": number})
        return None

    def _statistic(self, line: str) -> str | None:
        row = _STATISTIC.fullmatch(line)
        if row is None:
            return None if _STATISTICS_ROW.fullmatch(line) else self._any(line)
        pages = self.found.setdefault("ata_device_statistics", {}).setdefault(
            "pages", [{"table": []}]
        )
        is_valid = row["value"] != "-"
        value = {"value": int(row["value"])} if is_valid else {}
        pages[0]["table"].append({"name": row["name"], **value, "flags": {"valid": is_valid}})
        return None

    def _test(self, line: str) -> str | None:
        row, outdated = _SELF_TEST.fullmatch(line), _OUTDATED.fullmatch(line)
        logs = self.found.setdefault(
            "ata_smart_self_test_log", {"extended": {"error_count_total": 0}}
        )
        log = logs["extended"]
        if row and _FAILED_TEST.fullmatch(row["status"]):
            log["error_count_total"] += 1
        elif outdated:
            log["error_count_outdated"] = int(outdated["old"])
        elif row and not _HARMLESS_TEST.fullmatch(row["status"]):
            return "a self-test ended in a way that is not known here"
        elif row is None and not _SELF_TEST_ROW.fullmatch(line):
            return self._any(line)
        return None

    def _ended_test(self, line: str) -> bool:
        """Read how the last self-test ended, and what the selective ones found."""
        ended = _EXECUTION.fullmatch(line)
        if ended:
            status = {"value": int(ended["status"])}
            self.found["ata_smart_data"] = {"self_test": {"status": status}}
        elif _SELECTIVE_TEST.fullmatch(line):
            log = self.found.setdefault("ata_smart_selective_self_test_log", {"table": []})
            log["table"].append({"status": {"value": _READ_FAILURE << 4}})
        else:
            return False
        return True

    def _scsi_test(self, line: str) -> str | None:
        result = _result(line, _OF_SCSI, "Self test in progress")
        if result is None:
            return self._other_test(line)
        number = sum(key.startswith("scsi_self_test_") for key in self.found)
        code = _LONG if re.search(r"ground (long|extended)", line) else _SHORT
        test = {"code": {"value": code}, "result": {"value": result}}
        self.found[f"scsi_self_test_{number}"] = test
        return None

    def _nvme_test(self, line: str) -> str | None:
        result = _result(line, _OF_NVME, "Self-test in progress")
        if result is None:
            return self._other_test(line)
        log = self.found.setdefault("nvme_self_test_log", {"table": []})
        code = _LONG if " Extended " in line else _SHORT
        test = {"self_test_code": {"value": code}, "self_test_result": {"value": result}}
        log["table"].append(test)
        return None

    def _other_test(self, line: str) -> str | None:
        if _OTHER_TEST_ROW.fullmatch(line):
            return None
        if _NUMBERED_TEST.fullmatch(line):
            return "a self-test ended in a way that is not known here"
        return self._any(line)

    def _pending_defect(self, line: str) -> str | None:
        log = self.found.setdefault("ata_pending_defects_log", {"count": 0})
        if _PENDING_ROW.fullmatch(line):
            log["count"] += 1
        elif not _OTHER_PENDING_ROW.fullmatch(line):
            return self._any(line)
        return None

    def _errors(self, line: str) -> str | None:
        row = _ERRORS.fullmatch(line)
        if row is None:
            return None if _ERRORS_ROW.fullmatch(line) else self._any(line)
        uncorrected = count_in(row["numbers"].split()[-1])
        if uncorrected is None or len(row["numbers"].split()) != _ERROR_COLUMNS:
            return f"{_ERROR_COLUMNS} numbers were expected, the last one of uncorrected errors"
        log = self.found.setdefault("scsi_error_counter_log", {})
        log[row["kind"]] = {"total_uncorrected_errors": uncorrected}
        return None

    def _any(self, line: str) -> str | None:
        """Read what may stand anywhere."""
        pair = _PAIR.fullmatch(line.strip())
        name, value = (pair["name"].lower(), pair["value"]) if pair else ("", "")
        number = count_in(value.removesuffix("%"))
        if name == "elements in grown defect list" and number is not None:
            self.found["scsi_grown_defect_list"] = number
        elif name in _ENDURANCE and number is not None:
            self.found["scsi_percentage_used_endurance_indicator"] = number
        elif name == "pending defect count" and (count := re.match(r"\d+", value)):
            self.found["scsi_pending_defects"] = {"count": int(count[0])}
        elif hours := re.match(r"\s*Accumulated power on time, hours:minutes (\d+):\d\d", line):
            self.found.setdefault("power_on_time", {"hours": int(hours[1])})
        elif hours := re.fullmatch(r"\s*number of hours powered up = (\d+)(?:\.\d+)?", line):
            self.found["power_on_time"] = {"hours": int(hours[1])}
        elif name == "current drive temperature" and (degrees := re.fullmatch(r"(\d+) C", value)):
            self.found["temperature"] = {"current": int(degrees[1])}
        elif device := re.fullmatch(r"Device: (\S+ +\S.*?) +Version: (\S+)", line):
            self.found["scsi_model_name"] = " ".join(device[1].split())
            self.found["scsi_revision"] = device[2]
        elif line == "Error Counter logging not supported":
            self.found.setdefault("scsi_error_counter_log", {})
        elif not _NEGLECTED.fullmatch(line):
            return "no line of smartctl like this is known here"
        return None


def _result(line: str, ends: Sequence[str], under_way: str) -> int | None:
    """Read how a self-test ended; the longest text that is there tells, None if there is none."""
    if not _NUMBERED_TEST.fullmatch(line):
        return None
    if under_way in line:
        return _IN_PROGRESS
    there = [end for end in ends if end in line]
    return ends.index(max(there, key=len)) if there else None


_POWER_ON_HOURS = 9
_ENDURANCE = ("percentage used endurance indicator", "ss media used endurance indicator")
"""As smartctl names it since 7.0, and before."""
_READ_FAILURE = 7
_SHORT, _LONG = 1, 2
_IN_PROGRESS = 15
_ERROR_COLUMNS = 7


def _level(text: str) -> int | None:
    """Read a normalised value; None where smartctl shows none."""
    if text.startswith("-"):
        return None
    return int(text, 16) if text.startswith("0x") else int(text)
