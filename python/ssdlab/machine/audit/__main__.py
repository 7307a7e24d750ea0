"""``python3 -m ssdlab.machine.audit``: the audit as JSON, with nothing but the standard library."""

from __future__ import annotations

import argparse
import json
import sys

from ssdlab.ground.errors import SsdlabError
from ssdlab.ground.exit_codes import Exit
from ssdlab.machine.audit.prove_trim import prove_trim
from ssdlab.machine.audit.walk import audit
from ssdlab.real.system import LiveSystem, open_root


def main() -> int:
    """Run the audit; the exit codes are those of ``ssdlab audit``."""
    parser = argparse.ArgumentParser(prog="python3 -m ssdlab.machine.audit", description=__doc__)
    parser.add_argument("places", nargs="*", metavar="DEVICE|FOLDER")
    parser.add_argument("--root", help="a captured tree")
    parser.add_argument("--prove-trim", metavar="FOLDER", help="trim, and see how far it gets")
    options = parser.parse_args()
    try:
        system = open_root(options.root) if options.root else LiveSystem()
        if options.prove_trim:
            proof = prove_trim(system, options.prove_trim)
            print(json.dumps(proof.to_dict(), indent=1))
            return proof.exit_code
        found = audit(system, options.places)
    except SsdlabError as error:
        print(f"ssdlab audit: {error}", file=sys.stderr)
        return int(Exit.WRONG_INPUT)
    print(json.dumps(found.to_dict(), indent=1))
    return found.exit_code


if __name__ == "__main__":
    sys.exit(main())
