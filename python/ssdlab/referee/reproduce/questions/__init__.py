"""One file a question; `ssdlab.referee.reproduce.catalogue` finds them by their `QUESTION`."""
