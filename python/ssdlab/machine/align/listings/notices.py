"""Lines that say nothing of where a partition begins: notices, prompts and commands as typed.

Only what is known is passed over. A line in another language, or of another version, is unread.
"""

from __future__ import annotations

import re

_TOOLS = (
    "fdisk|sfdisk|cfdisk|parted|gdisk|sgdisk|cgdisk|lsblk|blkid|blockdev|partx|kpartx|partprobe|"
    "growpart|gpart|gpt|diskinfo|diskutil|bsdlabel|disklabel|diskpart|wmic|powershell|mmls|"
    "Get-Partition|Get-Disk|Get-WmiObject|Get-CimInstance|gwmi|ssdlab|"
    "Get-PhysicalDisk|Get-Volume|fsutil|powercfg|tunefs|zpool"
)
_INNER = "cat|grep|head|exit|list|lis|detail|det|select|sel|print|unit|clear|p|i|q"
_PROMPT = (
    r"\(parted\)|DISKPART>|(?:PS )?[A-Za-z]:\\[^>]*>|[\w.-]+@[\w.-]+[:\s][^\s]*[#$%]|"
    r"\[[\w.-]+@[\w.-]+ [^\]]*\][#$%]|[$#%>]"
)
_ARGUMENTS = r"(?:\s+[-\w/.,:+=*|<>&;\"'#?\\()\[\] ]*)?"
_SUDO = r"(?:(?:sudo|busybox)\s+)*(?:/\S*/)?"
_TYPED = (
    re.compile(rf"\s*(?:{_PROMPT})\s*{_SUDO}(?:{_TOOLS}|{_INNER})\b{_ARGUMENTS}\s*", re.I),
    re.compile(rf"\s*{_SUDO}(?:{_TOOLS})(?:\s+[-/][-\w/.,:+=*|<>&;\"' ]*)?\s*", re.I),
    re.compile(rf"\s*(?:{_PROMPT})\s*", re.I),
    re.compile(r"\s*(?:```\w*|~~~\w*|\[/?code\]|</?pre>|</?code>)\s*", re.I),
)


_ANSWERED = re.compile(r"(?:Command|Expert command) \(m for help\): (?=\S{2})")


def without_prompt(text: str) -> str:
    """Take away fdisk's prompt before its answer: so it stands where commands came from a file.

    Examples
    --------
    >>> without_prompt("Command (m for help): Disk /dev/sda: 1 GiB")
    'Disk /dev/sda: 1 GiB'
    """
    return _ANSWERED.sub("", text)


def is_typed(text: str) -> bool:
    """Whether a line is a command as it was typed, an empty prompt or the fence around a paste.

    Examples
    --------
    >>> is_typed("root@host:~# fdisk -l /dev/sda"), is_typed("# 7  2048  4095  1M  Linux")
    (True, False)
    """
    return any(each.fullmatch(text) for each in _TYPED)


FDISK = (
    r"Welcome to fdisk \(util-linux 2\.\d+(?:\.\d+)*\)\.",
    r"Changes will remain in memory only, until you decide to write them\.",
    r"Be careful before using the write command\.",
    r"WARNING: fdisk GPT support is currently new, and therefore in an experimental phase\. "
    r"Use at your own discretion\.",
    r"WARNING: DOS-compatible mode is deprecated\. It's strongly recommended to",
    r"switch off the mode \(command 'c'\) and change display units to",
    r"switch off the mode \(command 'c'\)\.",
    r"sectors \(command 'u'\)\.",
    r"The device presents a logical sector size that is smaller than",
    r"the physical sector size\. Aligning to a physical sector \(or optimal",
    r"I/O\) size boundary is recommended, or performance may be impacted\.",
    r"Partition \d+ does not (?:end on physical sector|(?:start|end) on cylinder) boundary\.",
    r"Partition \d+ has different physical/logical (?:beginnings \(non-Linux\?\)|"
    r"endings|start|end)(?: \(non-Linux\?\))?:",
    r"phys=\(\d+, ?\d+, ?\d+\) logical=\(\d+, ?\d+, ?\d+\)",
    r"Partition table entries are not in disk order\.?",
    r"Disk \S+ doesn't contain a valid partition table",
    r"Device does not contain a recognized partition table\.",
    r"GPT PMBR size mismatch \(\d+ != \d+\) will be corrected by (?:write|w\(rite\))\.",
    r"The backup GPT table is not on the end of the device\."
    r"(?: This problem will be corrected by write\.)?",
    r"The primary GPT table is corrupt, but the backup appears OK, so that will be used\.",
    r"(?:fdisk: )?cannot open \S+: (?:No medium found|Inappropriate ioctl for device"
    r"|No such file or directory)",
    r"Warning: invalid flag 0x[\da-f]+ of partition table \d will be corrected by w\(rite\)",
    r"The partition table has been altered[.!]",
    r"Calling ioctl\(\) to re-read partition table\.",
    r"Syncing disks\.",
    r"No errors detected\.",
    r"Header version: 1\.0",
    r"Using \d+ out of \d+ partitions\.",
    r"A total of \d+ free sectors is available in \d+ segments?(?: \(the largest is "
    r"[\d.]+(?: [KMGTP]iB)?\))?\.?",
    r"Remaining \d+ unallocated \d+-byte sectors\.",
    r"Found valid GPT with protective MBR; using GPT",
    r"Partition number \(\d[\d,-]*, default \d+\): ?\d*",
    r"(?:First|Last) usable LBA: \d+",
    r"Alternative LBA: \d+",
    r"Partition entries (?:starting |ending )?LBA: \d+",
    r"Allocated partition entries: \d+",
)
"""Of fdisk: notices, and what its commands ask and answer."""
PARTED = (
    r"GNU Parted [1-3]\.\d+(?:\.\d+)*(?:-\S+)?",
    r"Using /\S+",
    r"Welcome to GNU Parted! Type 'help' to view a list of commands\.",
    r"(?:Model|Modell|Modèle|Modelo|Modello|Модель|型号|モデル)\s*[:：].*",
    r"(?:Disk Flags|Disk-Flags|Drapeaux de disque|Indicadores de disco|Флаги диска|磁盘标志)"
    r"\s*[:：].*",
    r"[^:：\d]+(?:: |：)(?:gpt|msdos|mac|bsd|sun|dvh|amiga|pc98|aix|atari|loop|unknown)"
    r"(?:_sync_mbr)?",
    r"Warning: Unable to open \S+ read-write \(Read-only file system\)\.\s+\S+",
    r"has been opened read-only\.",
    r"Error: /\S+: unrecognised disk label",
    r"BIOS cylinder,head,sector geometry: \d+,\d+,\d+\.\s+Each cylinder is \S+\.",
    r"Information: You may need to update /etc/fstab\.",
)
"""Of parted."""
GDISK = (
    r"Partition table scan:",
    r"(?:MBR|BSD|APM|GPT): (?:hybrid|protective|MBR only|not present|present|damaged)",
    r"Found valid GPT with (?:hybrid|protective|corrupt) MBR; using GPT\.?",
    r"Found valid MBR and corrupt GPT\. Which do you want to use\?.*",
    r"\*+",
    r"Found invalid GPT and valid MBR; converting MBR to GPT format",
    r"in memory\.(?: THIS OPERATION IS POTENTIALLY DESTRUCTIVE! Exit by)?",
    r"typing 'q' if you don't want to convert your MBR partitions",
    r"to GPT format!",
    r"Creating new GPT entries(?: in memory)?\.",
    r"Disk identifier \(GUID\): .*",
    r"Partition table holds up to \d+ entries",
    r"Main partition table begins at sector \d+ and ends at sector \d+",
    r"First usable sector is \d+, last usable sector is \d+",
    r"Partitions will be aligned on \d+-sector boundaries",
    r"Total free space is \d+ sectors \([\d.]+ \S+\)",
    r"(?:Command|Recovery/transformation command|Expert command) \(\? for help\): ?\w?",
    r"Disk model: .*",
    r"Model: .*",
    r"Disk size is \d+ sectors \([\d.]+ \S+\)",
    r"MBR disk identifier: 0x[\da-fA-F]+",
    r"MBR partitions:",
)
"""Of gdisk and sgdisk."""
UNIT_WORDS = (
    "Units|Einheiten|Unités|Unidades|Unità|Jednotky|Jednostki|Единицы|Одиниці|单元|单位|單位|単位|"
    "ユニット|Eenheden|Enheter|Enheder|Yksiköt|Birimler|Egységek"
)
DEVICES = (
    "Device|Gerät|Périphérique|Périph|Dispositivo|Disposit\\.?|Zařízení|Urządzenie|Устройство|Устр-во|"
    "Пристрій|设备|設備|裝置|デバイス|장치|Apparaat|Enhet|Enhed|Laite|Aygıt|Eszköz"
)
MODELS = (
    "Disk model|Festplattenmodell|Modèle de disque|Modelo de disco|Modello disco|Model disku|"
    "Модель диска|Modell av disk|磁盘型号|ディスク型式|Schijfmodel|Diskmodel"
)
LABELS = "dos|gpt|sun|sgi|bsd|mac|amiga|msdos"
"""Of fdisk's headings and keys, in the languages that util-linux speaks, and tables it knows."""
