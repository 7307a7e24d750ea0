"""Runs in the guest: a served drive beside the kernel's own NVMe/TCP target over a RAM disk.

Both are asked by the same kernel over the guest's own loopback, by turns. One JSON object a
measurement goes to the second serial port.
"""

from __future__ import annotations

import json
from pathlib import Path

from common import PORT, shell

from ssdlab import engine
from ssdlab.engine.request import RunRequest
from ssdlab.live.served import FolderDrive, ServingWishes, nvme_of

NAME = "nqn.2014-08.org.nvmexpress:uuid:22222222-2222-4222-8222-222222222222"
SIZE = "64MiB"
ROUNDS = 3
TARGET = f"""
set -e
mount -t configfs none /sys/kernel/config 2>/dev/null || true
cd /sys/kernel/config/nvmet
mkdir subsystems/{NAME}
echo 1 > subsystems/{NAME}/attr_allow_any_host
mkdir subsystems/{NAME}/namespaces/1
echo -n /dev/ram0 > subsystems/{NAME}/namespaces/1/device_path
echo 1 > subsystems/{NAME}/namespaces/1/enable
mkdir ports/1
echo tcp > ports/1/addr_trtype
echo ipv4 > ports/1/addr_adrfam
echo 127.0.0.1 > ports/1/addr_traddr
echo 4421 > ports/1/addr_trsvcid
ln -s /sys/kernel/config/nvmet/subsystems/{NAME} ports/1/subsystems/{NAME}
"""
LOAD = (
    "fio --name=load --filename={device} --rw={pattern} --bs=4k --iodepth=16 --direct=1 --size=12m "
    "--ioengine=libaio --time_based --runtime=4 --output-format=json"
)


def serve() -> FolderDrive:
    """Serve a drive as fast as it is computed."""
    folder = Path("/tmp/drive")
    settings = (("capacity_bytes", SIZE), ("buffer.bytes", "4MiB"))
    request = RunRequest(drive="theory", settings=settings)
    engine.make_folder(request, folder, None)
    nvme = nvme_of(folder, ["127.0.0.1:4420"], "ssdlab", "1")
    return FolderDrive(folder, ServingWishes([("unix", str(folder / "nbd.sock"))], nvme=nvme))


def measured(device: str, pattern: str) -> dict[str, float]:
    """Measure once: IOPS and bytes."""
    code, said = shell(LOAD.format(device=device, pattern=pattern))
    assert code == 0, said
    job = json.loads(said[said.index("{") :])["jobs"][0]
    ways = (job["read"], job["write"])
    return {figure: sum(way[figure] for way in ways) for figure in ("iops", "io_bytes")}


def counted(drive: FolderDrive) -> int:
    """Return the bytes that the served drive has read and written for its host."""
    counters = drive.stats()["counters"]
    return int(counters["host_bytes_read"] + counters["host_bytes_written"])


shell("ip link set lo up")
with open(PORT, "w", encoding="utf-8") as port:
    drive = serve()
    made = [shell(TARGET)]
    name = drive.addresses[1].rpartition("/")[2]
    for at, subsystem in (("4420", name), ("4421", NAME)):
        made.append(shell(f"nvme connect -t tcp -a 127.0.0.1 -s {at} -n {subsystem}"))
    made.append(shell("sleep 1; ls /dev/nvme0n1 /dev/nvme1n1"))
    print(made, flush=True)
    port.write(json.dumps({"name": "made", "lines": made}) + "\n")
    for pattern in ("randread", "randwrite"):
        before = counted(drive)
        devices = [f"/dev/nvme{which}n1" for which in (0, 1)]
        turns = [[measured(device, pattern) for device in devices] for _ in range(ROUNDS)]
        told = {"name": pattern, "turns": turns, "counted": counted(drive) - before}
        print(told, flush=True)
        port.write(json.dumps(told) + "\n")
        port.flush()
    shell("nvme disconnect-all")
    drive.close()
