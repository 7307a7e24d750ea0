"""Lines of smartctl's text on which no verdict hangs: a heading, and what may stand below it.

A line that neither ``smartctl_text`` reads nor anything here knows is quoted in the answer. The
patterns are of smartctl 5.3 to 7.5, of ATA, NVMe and SCSI drives.
"""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True)
class Block:
    """One part of the text.

    Attributes
    ----------
    heading
        Its first line.
    row
        The lines that may follow, up to the next heading.
    """

    heading: re.Pattern[str]
    row: re.Pattern[str]


def _block(heading: str, *rows: str) -> Block:
    below = "|".join(f"(?:{row})" for row in rows) or r"(?!)"
    return Block(re.compile(heading), re.compile(below))


_REGISTERS = (
    r"\t(CR|FR|SC|SN|CL|CH|DH|DC|ER|ST|FEATR|COUNT|LBA_48|LH|LM|LL|DV)\s*=.*",
    r" +(CR|FR|SC|SN|CL|CH|DH|DC|ER|ST|FEATR|COUNT|LBA_48|LH|LM|LL|DV)\s*=.*",
    r"(Powered_Up_Time|Timestamp) .*",
    r"DDd\+hh.*|SS=sec.*|SS=.*|Note: timestamp .*",
    r"(ATA|Device) Error Count: \d+.*",
    r"Error \d+ (\[\d+\] )?(occurred at|log entry is empty).*",
    r"  (When the command|After command completion|Commands leading to).*",
    r"  (Error: .*|at LBA.*)",
    r"  (ER|CR|--)[ A-Z_0-9-]*(?:Powered_Up_Time|Command/Feature_Name|Timestamp)?.*",
    r"  ([0-9a-fA-F-]{2}[ =]+){4,}.*",
    r"(No Errors Logged|Invalid .*Error Log index.*|\[.*\])",
    r"  -- -- .*",
    r"\s*[0-9.d+:hms]+ +[A-Z ].*",
)
_HEX = r"(0x)?[0-9a-fA-F]+"
_NUMBER = r"[\d.,'\u00a0\u202f\u2019 ]+"
BLOCKS = (
    _block(
        r"General SMART Values:",
        r"Off-?line data collection( status: .*)?",
        r"Self-test execution status: .*",
        r"Total time to complete [Oo]ff-?line\s*",
        r"data collection: .*",
        r"capabilities:\s.*",
        r"SMART capabilities: .*",
        r"Error logging capability: .*",
        r"(Short|Extended|Conveyance) self-test routine\s*",
        r"recommended polling time: .*",
        r"SCT capabilities: .*",
        r"\s{4,}(was |never started|completed|suspended|aborted|Automatic timer|Auto "
        r"|without error|been run|the host|by the host|occurred|its self-test|routine"
        r"|a test element|element that|the (electrical|servo|read|self-test)|test failed"
        r"|device is|damage|with unknown|progress|\d+0% of test|Suspend|Abort|command|No "
        r"|Offline|Self-test|Conveyance|Selective|power-saving|Supports|General Purpose|SCT "
        r"|failed)"
        r".*",
    ),
    _block(
        r"(SMART Extended Comprehensive Error Log|SMART Error Log) (Version|not supported).*"
        r"|SMART Extended Comprehensive Error Log \(GP Log 0x03\) not supported"
        r"|Error Log Version.*",
        *_REGISTERS,
    ),
    _block(
        r"(General Purpose Log|SMART( and GP)?) (Log )?Directory.*|Log Directories not read.*"
        r"|SMART Log Directory.*|General Purpose Log Directory.*",
        r"SMART +Log Directory Version.*",
        r"Address +Access +R/W +Size +Description",
        r"(GP/S|GP|SL|SMART)?\s*(Log )?(at address )?0x[0-9a-f]{2}(-0x[0-9a-f]{2})? .*",
    ),
    _block(
        r"SMART Selective self-test log data structure revision number.*"
        r"|Selective Self-tests/Logging not supported|Device does not support Selective Self.*",
        r"(Note|Warning): .*revision number.*",
        r"\s*SPAN .*",
        r"\s*\d+ +\d+ +\d+ +(Not_testing|Read_scanning|Self_test|Aborted|Interrupted"
        r"|Completed( \[.*|$)).*",
        r"Selective self-test flags .*",
        r"  (After scanning|Currently read-scanning|Read-scan of).*",
        r"If Selective self-test is pending.*",
    ),
    _block(
        r"SCT (Status Version|Commands not supported|Data Table command not|Temperature History"
        r"|Error Recovery Control|Feature Control|Support Level).*"
        r"|Warning: device does not support SCT .*|(Read|Write) SCT .* failed.*",
        r"(SCT Version|SCT Support Level|Device State|Current Temperature|Power Cycle M"
        r"|Lifetime +M|Specified Max|Under/Over|Vendor specific:|Minimum supported ERC"
        r"|Power Cycle Max|Temperature (Sampling|Logging|History)|Min/Max |Invalid Temp).*",
        r"([0-9a-f]{2} ){15}[0-9a-f]{2}",
        r"Index +Estimated Time +Temperature Celsius",
        r"\s*(\d+|\.\.\.) +.*\d{4}-\d\d-\d\d \d\d:\d\d.*|\s*\.\.\. .*skipped.*",
        r"\s+(Power-on )?(Read|Write):\s+(Disabled|\d+ .*)",
    ),
    _block(
        r"SATA Phy Event Counters \(GP Log 0x11\).*",
        r"ID +Size +Value +Description",
        r"0x[0-9a-f]{4} +\d+ +\d+\+? +.*|0x[0-9a-f]{4}  \d+: Invalid entry|All counters reset"
        r"|\[Reserved: .*\]",
    ),
    _block(
        r"Pending Defects log \(GP Log 0x0c\) not supported|No Defects Logged",
    ),
    _block(
        r"Supported Power States",
        r"St Op +Max.*",
        r"\s*\d+ [+-] +[\d.]+.*|\s*\d+ [+-] .*",
    ),
    _block(
        r"Supported LBA Sizes \(NSID.*",
        r"Id Fmt +Data.*",
        r"\s*\d+ [+-] +\d+ +\d+ +\d+",
    ),
    _block(
        r"Error Information \(NVMe Log 0x01.*",
        r"Num +ErrCount.*",
        r"\s*\d+ +\d+ .*",
        r"(No Errors Logged|\.\.\. .*|  - \[\d+ unused entr.*)",
    ),
    _block(
        r"(Read Self-test Log failed.*|Self-tests not supported)",
    ),
    _block(
        r"Vendor \(.*\) .*information",
        r"  [A-Za-z].* = [\d.]+",
    ),
    _block(
        r"(Background scan results|Protocol Specific port|General statistics and performance"
        r"|FARM|Seagate FARM|relative target port|Environmental Reports|Device statistics \(SSC).*",
        r"\s+[A-Za-z][\w ,()/\[\]<>%.-]*[:=] ?\S.*",
        r"\s+\d+ +\d+:\d+ +.*|\s+#  when .*",
        r"(generation code|number of phys|attached|phy identifier|relative target).*",
    ),
)

INFORMATION = frozenset(
    name.lower()
    for name in (
        "LU WWN Device Id|Sector Size|Sector Sizes|Form Factor|TRIM Command|Zoned Device"
        "|Device is|ATA Version is|ATA Standard is|SATA Version is|Transport Type|Local Time is"
        "|AAM feature is|AAM level is|APM feature is|APM level is|Rd look-ahead is"
        "|Write cache is|DSN feature is|ATA Security is|Wt Cache Reorder|Power mode is"
        "|Power mode was|SCT Write Cache Control|PCI Vendor ID|PCI Vendor Subsystem ID"
        "|PCI Vendor/Subsystem ID|IEEE OUI Identifier|Unallocated NVM Capacity|Controller ID"
        "|NVMe Version|Number of Namespaces|Maximum Data Transfer Size"
        "|Warning  Comp. Temp. Threshold|Critical Comp. Temp. Threshold|Compliance"
        "|Logical block size|Physical block size|Lowest aligned LBA|LB provisioning type"
        "|Logical Unit id|Device type|Transport protocol|Temperature Warning|Read Cache is"
        "|Writeback Cache is|LU is resource provisioned, LBPRZ=0|Namespaces|Power mode"
        "|Add. Product Id|Total NVM Capacity|User Capacity|Size/Capacity"
    ).split("|")
)
"""Names of its first section that no verdict hangs on."""
OTHERS = re.compile(
    r"Copyright \(C\) .*|Home page is .*|smartctl (version )?\d.*"
    r"|Namespace \d+ .*|(Firmware Updates|Optional (Admin|NVM) Commands|Log Page Attributes)"
    r" ?(\(0x[0-9a-f]+\))?: .*"
    r"|LU is (fully|resource|thin) provisioned.*|Formatted with .*protection.*"
    r"|\d+ (protection information|bytes of protection).*|Logical block provisioning.*"
    r"|Drive failure expected in less than 24 hours.*|See vendor-specific Attribute list.*"
    r"|Please note the following marginal Attributes:|No failed Attributes found\."
    r"|Warning: This result is based on an Attribute check\.|Failed Attributes:"
    r"|SMART Attributes Data Structure revision number: .*|TapeAlert.*"
    r"|Vendor Specific SMART Attributes with Thresholds:|Device supports SMART and is Enabled"
    r"|Temperature Warning (Enabled|Disabled)|SMART (En|Dis)abled\..*|Informational Except.*"
    r"|\s*\|+_+ .*|\s+\|[|_ ]+.*|(Short|Extended|Conveyance) .*minutes.*|ATA_READ_LOG_EXT.*"
    r"|Read SMART Log Directory failed.*|Read (GP|SMART|SCT|Device) .* failed.*"
    r"|Device Statistics \(.*\) (supported pages|not supported)|The previous SCT .*"
    r"|Probable ATA device behind a SAT layer|Try an additional .*|.* output truncated"
    r"|The above only provides legacy SMART information.*|Warning! .*Checksum.*|mandatory.*"
)
NVME_ROWS = {
    "critical warning": ("critical_warning", ""),
    "available spare": ("available_spare", "%"),
    "available spare threshold": ("available_spare_threshold", "%"),
    "percentage used": ("percentage_used", "%"),
    "data units read": ("data_units_read", ""),
    "data units written": ("data_units_written", ""),
    "host read commands": ("host_reads", ""),
    "host write commands": ("host_writes", ""),
    "controller busy time": ("controller_busy_time", ""),
    "power cycles": ("power_cycles", ""),
    "power on hours": ("power_on_hours", ""),
    "unsafe shutdowns": ("unsafe_shutdowns", ""),
    "media and data integrity errors": ("media_errors", ""),
    "error information log entries": ("num_err_log_entries", ""),
}
"""Rows of NVMe's health log by name: the field of smartctl's JSON, and the unit behind it."""
NVME_UNUSED = re.compile(
    r"(warning +comp\. temperature time|critical comp\. temperature time|temperature sensor \d"
    r"|thermal (temp\.|management) .*)",
    re.IGNORECASE,
)
