"""The ``ssdlab`` command, also as ``python -m ssdlab``.

Signals are answered first, since everything else takes a while to load.
"""

from __future__ import annotations

import atexit
import os
import signal
import sys
import threading

from ssdlab.ground.signals import SIGNALS, leave_on_signals


def entry_point() -> None:
    """Run as the console script."""
    leave_on_signals()
    if "_SSDLAB_COMPLETE" in os.environ:
        from ssdlab.cli import shells

        shells.tell(os.environ)
        return
    from ssdlab.cli import main

    code = main()
    for each in SIGNALS:
        signal.signal(each, signal.SIG_IGN)
    if threading.active_count() > 1:
        # A run that was left behind would be waited for.
        atexit._run_exitfuncs()
        os._exit(code)
    sys.exit(code)


if __name__ == "__main__":
    entry_point()
