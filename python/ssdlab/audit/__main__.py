"""``python3 -m ssdlab.audit``: the audit as JSON, with nothing but the standard library."""

from __future__ import annotations

import argparse
import json
import sys

from ssdlab.audit.prove_trim import prove_trim
from ssdlab.audit.system import LiveSystem, open_root
from ssdlab.audit.walk import audit
from ssdlab.errors import SsdlabError


def main() -> int:
    """Run the audit; exit code 0 green, 1 yellow, 3 red, 2 where the user can mend something."""
    parser = argparse.ArgumentParser(prog="python3 -m ssdlab.audit", description=__doc__)
    parser.add_argument("places", nargs="*", metavar="DEVICE|MOUNTPOINT")
    parser.add_argument("--root", help="a captured tree")
    parser.add_argument("--prove-trim", metavar="MOUNTPOINT", help="trim, and see how far it gets")
    options = parser.parse_args()
    try:
        system = open_root(options.root) if options.root else LiveSystem()
        if options.prove_trim:
            print(json.dumps(prove_trim(system, options.prove_trim).to_dict(), indent=1))
            return 0
        found = audit(system, options.places)
    except SsdlabError as error:
        print(f"ssdlab audit: {error}", file=sys.stderr)
        return 2
    print(json.dumps(found.to_dict(), indent=1))
    return (0, 1, 3)[found.severity]


if __name__ == "__main__":
    sys.exit(main())
