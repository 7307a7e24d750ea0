"""The two drives of the FreeBSD forum, of one controller: a Vertex 2 and a Corsair F60."""

from __future__ import annotations

from ssdlab.engine.request import Settings

VERTEX = "ocz-vertex-2-90gb"
F60: Settings = (
    ("capacity_bytes", "60 GB"),
    ("nand.dies_per_channel", "2"),
    ("over_provisioning", "0.0737"),
)
"""The Corsair F60 as the same controller with two thirds of the flash: 64 GiB of dies of 4 GiB,
less the one that parity (RAISE) takes: (64.425 - 60) / 60."""
IN_SEQUENCE: Settings = (("ftl.mapping_unit_bytes", "32 KiB"), ("buffer.join_bytes", "0"))
"""What dd meets: chosen by its first run at sector 63, among units of 4 to 32 KiB
(docs/explanation/validation/fits.toml). The data sheet's 50 000 writes of 4 KiB at random ask for
small units, so the profile has those: no one size of unit explains both."""
