"""Sweeps: a study's points, each run once, on the cores or machines there are, into one table."""

from ssdlab.study.sweeps.perform import Outcome, sweep

__all__ = ["Outcome", "sweep"]
