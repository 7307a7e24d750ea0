"""Files that readers of other things are given: one of each kind that `recognise` knows.

All are made up by the forms of the programs named, and tell of no real machine.
"""

from __future__ import annotations

import gzip
import json
from typing import Any


def _json(**content: Any) -> bytes:
    return json.dumps(content, indent=2).encode()


def _at(offset: int, sign: bytes) -> bytes:
    return b"\0" * offset + sign + b"\0" * 4096


_NVME = {"critical_warning": 0, "data_units_written": 5, "avail_spare": 100}
_FIO_TEXT = (
    "job: (g=0): rw=randwrite, bs=(R) 4096B-4096B, (W) 4096B-4096B, ioengine=libaio, iodepth=16\n"
    "fio-3.33\nStarting 1 process\n\njob: (groupid=0, jobs=1): err= 0: pid=12: Mon Jan  1 2024\n"
    "  write: IOPS=9100, BW=35.5MiB/s (37.3MB/s)(1024MiB/28806msec)\n"
)
_SMARTCTL_TEXT = (
    "smartctl 7.2 2020-12-30 r5155 [x86_64-linux] (local build)\n\n"
    "=== START OF INFORMATION SECTION ===\nModel Number: EXAMPLE\n"
)
_FDISK = "Disk /dev/sda: 20 GiB, 21474836480 bytes, 41943040 sectors\n\nDevice Boot Start End\n"

EXAMPLES: dict[str, tuple[bytes, ...]] = {
    "a drive file of ssdlab": (b"ssdlab drive 8\n" + b"\x00\x81" * 40,),
    "blktrace's binary trace": (b"\x07tae" + b"\0" * 44,),
    "a gzip archive": (gzip.compress(b"text", mtime=0),),
    "a zstd archive": (b"\x28\xb5\x2f\xfd\x24\x00\x01",),
    "an xz archive": (b"\xfd7zXZ\0\0",),
    "a bzip2 archive": (b"BZh91AY&SY\x00",),
    "a 7z archive": (b"7z\xbc\xaf\x27\x1c",),
    "a zip archive, as documents of office programs are": (b"PK\x03\x04\x14\0[Content_Types].xml",),
    "a tar archive": (_at(257, b"ustar"),),
    "a picture (PNG)": (b"\x89PNG\r\n\x1a\n\0\0",),
    "a picture (JPEG)": (b"\xff\xd8\xff\xe0\0\x10JFIF",),
    "a picture (GIF)": (b"GIF89a\x01\0",),
    "a picture (SVG)": (b'<svg xmlns="http://www.w3.org/2000/svg"></svg>',),
    "a PDF": (b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n",),
    "a document of an office program": (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1",),
    "a program or a library": (b"\x7fELF\x02\x01\x01\0",),
    "a program of Windows": (b"MZ\x90\x00\x03\0",),
    "an SQLite database": (b"SQLite format 3\0",),
    "a Parquet table": (b"PAR1\x15\0",),
    "an image of a virtual machine's disk (qcow2)": (b"QFI\xfb\0\0\0\x03",),
    "an image of a virtual machine's disk (VMDK)": (b"KDMV\x01\0\0\0",),
    "the beginning of an encrypted volume (LUKS)": (b"LUKS\xba\xbe\0\x02",),
    "an image of a disk with a GPT": (_at(512, b"EFI PART"),),
    "an image of a file system (ext4)": (_at(1080, b"\x53\xef"),),
    "an image of a disk, or of its boot sector": (_at(510, b"\x55\xaa"),),
    "zeroes, such as an image of an empty disk": (bytes(4096),),
    "binary data, not text": (b"\x01\x02\0\x03" * 50, b"caf\xe9 and more\n"),
    "text in UTF-16, as PowerShell's > writes": ("\ufeffPartition".encode("utf-16-le"),),
    "an empty file": (b"", b" \n\n\t"),
    "fio's JSON": (_json(**{"fio version": "fio-3.33", "jobs": []}),),
    "fio's JSON of several clients": (_json(**{"fio version": "fio-3.33", "client_stats": []}),),
    "a result of ssdlab run or season with --ensemble": (_json(ensemble={"draws": 2}),),
    "smartctl's JSON": (
        _json(json_format_version=[1, 0], smartctl={"version": [7, 2]}, device={}),
        _json(smartctl={}, device={}),
    ),
    "nvme-cli's smart-log": (_json(**_NVME),),
    "nvme-cli's list": (_json(Devices=[{"DevicePath": "/dev/nvme0n1"}]),),
    "nvme-cli's id-ctrl": (_json(vid=1, ssvid=1, sn="-", mn="-"),),
    "nvme-cli's id-ns": (_json(nsze=1, lbafs=[]),),
    "lsblk's JSON": (_json(blockdevices=[]),),
    "sfdisk's JSON": (_json(partitiontable={}),),
    "parted's JSON": (_json(disk={"path": "/dev/sda", "label": "gpt", "partitions": []}),),
    "sysstat's JSON": (_json(sysstat={"hosts": []}),),
    "a capture of ssdlab audit": (_json(commands={}, files={}),),
    "an answer of ssdlab compare": (_json(baseline="a", arms=["b"], rows=[]),),
    "plan.json of a folder of ssdlab pts": (_json(schema_version=1, asked={}),),
    "result.json of a folder of ssdlab pts": (_json(schema_version=1, standard="PTS-E"),),
    "an answer of ssdlab theory": (_json(write_amplification=2.0, policy="greedy"),),
    "JSON of a program that is not known here": (_json(name="x"), b"[1, 2, 3]"),
    "JSON that is cut short, or damaged": (b'{"name": "x", "more": [1,',),
    "a page of HTML": (b"<!DOCTYPE html>\n<html><body>404 Not Found</body></html>",),
    "MQSim's configuration": (b"<Execution_Parameter_Set><Host_Parameter_Set/>",),
    "MQSim's workload definition": (b'<?xml version="1.0"?><MQSim_IO_Scenarios>',),
    "DiskSpd's XML": (b"<Results>\n<System>\n</System></Results>",),
    "TKperf's result": (b"<root><iops><fioversion>1</fioversion></iops></root>",),
    "an XML document": (b'<?xml version="1.0"?><note/>',),
    "smartctl's text": (_SMARTCTL_TEXT.encode(),),
    "nvme-cli's text": (b"Smart Log for NVME device:nvme0n1 namespace-id:ffffffff\n",),
    "hdparm's text": (b"\n/dev/sda:\n\nATA device, with non-removable media\n",),
    "an iolog of fio": (b"fio version 3 iolog\n0 f add\n0 f open\n1 f write 0 4096\n",),
    "fio's terse output": (b"3;fio-3.33;job;0;0;0;0;0;0;0;0\n",),
    "fio's text": (_FIO_TEXT.encode(),),
    "a log of fio (bw, iops or lat)": (b"1000, 9100, 1, 4096, 0\n2000, 9050, 1, 4096, 0\n",),
    "blkparse's text": (b"  8,0    1        1     0.000000000   100  Q   W 2048 + 8 [fio]\n",),
    "a trace of MSR Cambridge": (b"128166372003061629,hm,1,Read,383496192,32768,413\n",),
    "a trace of SYSTOR '17": (b"Timestamp,Response,IOType,LUN,Offset,Size\n1.0,0.1,W,4,0,4096\n",),
    "a trace of block requests": (b"device_id,opcode,offset,length,timestamp\n1,R,0,512,1\n",),
    "a table of measurements": (b"job,condition,metric,value\n--rw=read,steady,iops,1\n",),
    "a listing of partitions": (
        _FDISK.encode(),
        b"label: gpt\ndevice: /dev/sda\n",
        b"GPT fdisk (gdisk) version 1.0.9\n",
        b"  Partition ###  Type              Size     Offset\n",
        b"RO    RA   SSZ   BSZ   StartSec            Size   Device\n",
        b"=>       40  488397088  ada0  GPT  (233G)\n",
    ),
    "lsblk's text": (b"NAME MAJ:MIN RM SIZE RO TYPE MOUNTPOINT\nsda 8:0 0 20G 0 disk\n",),
    "df's text": (b"Filesystem 1K-blocks Used Available Use% Mounted on\n/dev/sda1 1 1 0 1% /\n",),
    "iostat's text": (b"avg-cpu:  %user   %nice\n           1.0  0.0\n",),
    "mdadm's text": (b"/dev/md0:\n           Version : 1.2\n",),
    "the kernel's log (dmesg)": (b"[    1.234567] nvme nvme0: pci function\n",),
    "CrystalDiskMark's text": (b"CrystalDiskMark 8.0.4 x64 (C) 2007-2021 hiyohiyo\n",),
    "AS SSD's text": (b"AS SSD Benchmark 2.0.7316.34247\n",),
    "DiskSpd's text": (b"\nCommand Line: diskspd.exe -b4K -d30 test.dat\n",),
    "vdbench's text": (b"                interval        i/o   MB/sec   bytes\n",),
    "iozone's text": (b"\tIozone: Performance Test of File I/O\n",),
    "ioping's text": (b"--- /dev/sda (block device 20 GiB) ioping statistics ---\n",),
    "dd's text": (b"1073741824 bytes (1.1 GB, 1.0 GiB) copied, 2.1 s, 511 MB/s\n",),
    "a profile of a drive": (b'over = { value = 1, kind = "assumed", source = "-" }\n',),
    "a study": (b"[study]\ndrive = 'theory'\n",),
    "a layout": (b"[[layer]]\nkind = 'partition'\n",),
    "a job file of fio": (b"[global]\ndirect=1\n[job]\nrw=randwrite\nbs=4k\n",),
    "a script": (b"#!/bin/sh\nfio job.fio\n",),
    "an error message of Python": (b'Traceback (most recent call last):\n  File "x", line 1\n',),
    "what a shell showed": (b"$ fio job.fio\n", b"root@host:~# ls\n"),
    "a patch": (b"diff --git a/x b/x\n",),
    "a page of Markdown": (
        b"# Results\n\nHere:\n```\n1\n```\n",
        b"# Results\n\nFast, slow, and both.\n\n## Reads\n",
    ),
    "a table (CSV)": (b"device,read,write\nsda,1,2\n",),
    "a table whose columns stand apart by ; or tabs": (b"device;read;write\nsda;1;2\n",),
}
"""Examples of each kind, by its name."""

UNKNOWN = (b"Dear all,\nthe drive is slow.\n", b"42\n", "Größe: 5 µs\n".encode())
"""What fits none of them."""
