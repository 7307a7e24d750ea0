"""Predictions for a pair of drives before anybody here has seen their measurements.

``python -m ssdlab.referee.predicted`` writes 5, 50 and 95 % of write amplification and rate for
each row of `rows`, over drives that are drawn from ``data/predicted/micron-7450.toml``. What went
in: the data sheet, the free-block counter of one of the pair, and how far three drives of other
makers are from the model (`ssdlab.referee.measured`).
"""
