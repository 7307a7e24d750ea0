"""Random writes of steady drives, beside what their makers publish.

``python -m ssdlab.referee.published`` runs each drive and judges the mean of predicted to
published. Figures that a profile was fitted to, and those of caches, are shown and do not count.
"""
