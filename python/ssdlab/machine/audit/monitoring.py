"""What monitors read of an audit: a Nagios plug-in's line, and Prometheus' text format."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from ssdlab.ground.exit_codes import Exit
from ssdlab.machine.audit.finding import Finding, Severity
from ssdlab.machine.verdict import Verdict, count, summary

EXIT_CODES = {
    Severity.GREEN: Exit.DONE,
    Severity.UNSEEN: Exit.NOT_JUDGED,
    Severity.YELLOW: Exit.ATTENTION,
    Severity.RED: Exit.FINDING,
}
_PLUG_IN = {
    Severity.GREEN: ("OK", 0),
    Severity.YELLOW: ("WARNING", 1),
    Severity.RED: ("CRITICAL", 2),
    Severity.UNSEEN: ("UNKNOWN", 3),
}
_SEVERITY, _CHECKS, _FINDING = (
    "ssdlab_audit_severity",
    "ssdlab_audit_checks",
    "ssdlab_audit_finding",
)


def severity_of(findings: Sequence[Finding]) -> Severity:
    """Give the worst; unseen where nothing was looked at."""
    return max((finding.severity for finding in findings), default=Severity.UNSEEN)


def plug_in_code(findings: Sequence[Finding]) -> int:
    """Give the exit code of a monitoring plug-in."""
    return _PLUG_IN[severity_of(findings)][1]


def nagios(findings: Sequence[Finding]) -> str:
    """Write the plug-in's line: what decides the state, and the count of the verdicts."""
    severity = severity_of(findings)
    said = [
        f"{finding.check}, {finding.where}: {finding.what}"
        for finding in findings
        if finding.severity is severity and severity is not Severity.GREEN
    ]
    counted = count(finding.verdict for finding in findings)
    told = "; ".join([*said, summary(finding.verdict for finding in findings)])
    data = " ".join(f"'{verdict.key}'={number}" for verdict, number in counted.items())
    line = f"{_PLUG_IN[severity][0]} - {told}".replace("|", "/")
    return f"{' '.join(line.split())} | {data}"


def prometheus(findings: Sequence[Finding]) -> str:
    """Write Prometheus' text format, for the textfile collector."""
    lines = [
        f"# HELP {_SEVERITY} 0 green, 1 not looked at, 2 yellow, 3 red",
        f"# TYPE {_SEVERITY} gauge",
        f"{_SEVERITY} {int(severity_of(findings))}",
        f"# HELP {_CHECKS} Findings of each verdict",
        f"# TYPE {_CHECKS} gauge",
    ]
    counted = count(finding.verdict for finding in findings)
    lines += [f'{_CHECKS}{{verdict="{each.key}"}} {counted[each]}' for each in Verdict]
    lines += [
        f"# HELP {_FINDING} Findings of a check at a place, by severity",
        f"# TYPE {_FINDING} gauge",
    ]
    # What is the same to a monitor is one series.
    told = Counter((each.check, each.where, str(each.severity)) for each in findings)
    for (check, where, severity), number in told.items():
        labels = _labels({"check": check, "where": where, "severity": severity})
        lines.append(f"{_FINDING}{{{labels}}} {number}")
    return "\n".join(lines) + "\n"


def _labels(labels: Mapping[str, str]) -> str:
    return ",".join(f'{name}="{_escaped(value)}"' for name, value in labels.items())


def _escaped(value: str) -> str:
    plain = "".join(sign if sign.isprintable() else " " for sign in value)
    return plain.replace("\\", r"\\").replace('"', r"\"")
