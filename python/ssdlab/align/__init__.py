"""Alignment: boundaries that fit, layouts that do or do not, and how to put them right.

Pure functions: nothing here looks at the machine. `check` takes a layout from wherever it comes.
"""

from ssdlab.align.commands import commands
from ssdlab.align.findings import Finding, check, misaligned, verdict
from ssdlab.align.grid import Boundaries, Grid, Unit, boundaries
from ssdlab.align.layout import (
    Array,
    Crypt,
    FileSystem,
    Layer,
    Layout,
    Partition,
    PhysicalVolume,
)
from ssdlab.align.moving import move
from ssdlab.align.notation import Geometry
from ssdlab.align.procedure import Disk, Step
from ssdlab.align.spare_area import SparePlan, spare
from ssdlab.align.tools import Lines, Plan, plan

__all__ = [
    "Array",
    "Boundaries",
    "Crypt",
    "Disk",
    "FileSystem",
    "Finding",
    "Geometry",
    "Grid",
    "Layer",
    "Layout",
    "Lines",
    "Partition",
    "PhysicalVolume",
    "Plan",
    "SparePlan",
    "Step",
    "Unit",
    "boundaries",
    "check",
    "commands",
    "misaligned",
    "move",
    "plan",
    "spare",
    "verdict",
]
