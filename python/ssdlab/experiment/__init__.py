"""Runs that are set up, kept and compared: every run begins from a copy of a prepared drive."""
