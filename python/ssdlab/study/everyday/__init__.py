"""Everyday work on any drive: what a person waits for, and two benchmarks that stand for it.

A scenario says which files there are and what is done with them; the engine carries it out on a
file system of its time, over the drive and its layers.
"""
