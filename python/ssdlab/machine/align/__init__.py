"""Alignment: boundaries that fit, layouts that do or do not, and how to put them right.

Pure functions: nothing here looks at the machine. `check` takes a layout from wherever it comes.
"""

from ssdlab.machine.align.commands import commands
from ssdlab.machine.align.findings import LayerFinding, check, misaligned, verdict
from ssdlab.machine.align.grid import Boundaries, Grid, Unit, boundaries
from ssdlab.machine.align.layout import (
    Array,
    Crypt,
    FileSystem,
    Layer,
    Layout,
    Partition,
    PhysicalVolume,
)
from ssdlab.machine.align.moving import move
from ssdlab.machine.align.notation import Geometry
from ssdlab.machine.align.procedure import ChosenPartition, ProcedureStep
from ssdlab.machine.align.spare_area import SparePlan, spare
from ssdlab.machine.align.tools import LayoutPlan, Lines, plan

__all__ = [
    "Array",
    "Boundaries",
    "Crypt",
    "ChosenPartition",
    "FileSystem",
    "LayerFinding",
    "Geometry",
    "Grid",
    "Layer",
    "Layout",
    "Lines",
    "Partition",
    "PhysicalVolume",
    "LayoutPlan",
    "SparePlan",
    "ProcedureStep",
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
