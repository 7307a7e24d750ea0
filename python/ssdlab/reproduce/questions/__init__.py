"""One file a question; `ssdlab.reproduce.catalogue` finds them by their `QUESTION`."""
