"""Three drives that somebody measured for weeks, and what the model says of them.

``python -m ssdlab.referee.measured`` replays the rows on a slice of each drive and judges them;
what each profile was fitted to is shown apart and not counted. Source of the measurements:
gabriel-haas/ssdiq-pub, commit 8a0a3f4, the data of SSD-iQ (VLDB 2025).
"""
