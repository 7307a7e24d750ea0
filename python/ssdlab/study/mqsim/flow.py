"""A synthetic flow of MQSim's workloads as options of a fio job.

    region           flow i of n: from i / n of the drive, Working_Set_Percentage of an nth
    random           independent draws of multiples of Address_Alignment_Unit (`norandommap`, `ba`)
    hot and cold     (100 − h) % of the requests for the first h % of the region (`zoned`)
    a stream         each request begins at the next multiple of the alignment, past a hole
    NORMAL           50 sizes of 2 % each: the middles of 50 equal parts of the law, rounded up;
                     MQSim's variance is used by it, and here, as the standard deviation
    BANDWIDTH        ⌊⌊Bandwidth / 512⌋ / Average_Request_Size⌋ requests a second, at exponential
                     intervals; reads and writes are two such processes, since fio paces each

All is as MQSim's code has it (snapshot 7ec40e3), which rounds rates and repeats streams for ever.
Left out: that a stream begins somewhere in its region; here it begins at its start.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from statistics import NormalDist

from ssdlab.study.mqsim.elements import Elements

SECTOR_BYTES = 512
OPEN_DEPTH = 1024
"""Requests outstanding in an open loop at most, as in the queues of MQSim's own example."""
Option = tuple[str, str | int]

_DISTRIBUTIONS = ("RANDOM_UNIFORM", "RANDOM_HOTCOLD", "STREAMING")
_GENERATORS = ("QUEUE_DEPTH", "BANDWIDTH")
_IGNORED = ("Intensity",)
"""MQSim's examples have it, and its code does not read it."""
_PARTS = 50
_MOST_SECTORS = 1 << 21
_MOST_DEPTH = 1 << 16
_MOST_SEED = 2**31 - 1
_MOST_BYTES_PER_SECOND = 10**12


def options(given: Elements, number: int, flows: int) -> Iterator[Option]:
    """Return the options of a flow's job one after the other.

    Parameters
    ----------
    given
        The flow's elements.
    number
        Of the flow, from 1.
    flows
        How many the scenario has.

    Raises
    ------
    SsdlabError
        An element is missing, or asks for what MQSim itself cannot do.
    """
    sizes = _sizes(given)
    align = _alignment(given, sizes)
    yield from _pattern(given, sizes, align)
    yield from _size_options(sizes)
    yield from _region(given, number, flows, align)
    yield from _pace(given)
    yield "randseed", given.count("Seed", least=0, most=_MOST_SEED)
    yield from _end(given, sizes)
    given.pass_over(*_IGNORED)


def streams_apart(given: Elements) -> bool:
    """Whether reads and writes go on in one stream in MQSim, and in two of fio's."""
    is_stream = given.word("Address_Distribution", _DISTRIBUTIONS) == "STREAMING"
    return is_stream and 0 < _read_percent(given) < 100


def percent(share: float) -> str:
    """Return a share of 1 as a percentage with as many digits as it needs, seven at most.

    Examples
    --------
    >>> percent(0.75), percent(1 / 6)
    ('75%', '16.66667%')
    """
    return f"{share * 100:.7g}%"


def _sizes(given: Elements) -> dict[int, int]:
    """Return sizes in bytes with their shares in percent."""
    mean = given.count("Average_Request_Size", most=_MOST_SECTORS)
    if given.word("Request_Size_Distribution", ("FIXED", "NORMAL")) == "FIXED":
        given.pass_over("Variance_Request_Size")
        return {mean * SECTOR_BYTES: 100}
    deviation = given.count("Variance_Request_Size", least=0, most=_MOST_SECTORS)
    if deviation == 0:
        return {mean * SECTOR_BYTES: 100}
    law = NormalDist(mean, deviation)
    drawn = [math.ceil(law.inv_cdf((part + 0.5) / _PARTS)) for part in range(_PARTS)]
    counted = Counter(max(sectors, 1) * SECTOR_BYTES for sectors in drawn)
    return {size: times * 100 // _PARTS for size, times in counted.items()}


def _size_options(sizes: dict[int, int]) -> Iterator[Option]:
    if len(sizes) == 1:
        yield "bs", max(sizes)
    else:
        yield "bssplit", ":".join(f"{size}/{share}" for size, share in sizes.items())
        yield "bs_unaligned", 1


def _alignment(given: Elements, sizes: dict[int, int]) -> int:
    """Return what every address is a multiple of, in bytes."""
    if not given.is_true("Generated_Aligned_Addresses"):
        given.pass_over("Address_Alignment_Unit")
        return SECTOR_BYTES
    is_stream = given.word("Address_Distribution", _DISTRIBUTIONS) == "STREAMING"
    if is_stream and len(sizes) > 1:
        # A hole has one length: such a stream's requests follow each other. The name stays unasked.
        return SECTOR_BYTES
    return given.count("Address_Alignment_Unit", most=_MOST_SECTORS) * SECTOR_BYTES


def _pattern(given: Elements, sizes: dict[int, int], align: int) -> Iterator[Option]:
    reads = _read_percent(given)
    kind = "read" if reads == 100 else "write" if reads == 0 else "rw"
    distribution = given.word("Address_Distribution", _DISTRIBUTIONS)
    if distribution == "STREAMING":
        hole = -max(sizes) % align if len(sizes) == 1 else 0
        yield "rw", f"{kind}:{hole}" if hole else kind
    else:
        yield "rw", f"rand{kind}"
    if kind == "rw":
        yield "rwmixread", reads
    if distribution != "STREAMING":
        yield "norandommap", 1
        yield "ba", align
    if distribution == "RANDOM_HOTCOLD":
        hot = given.count("Percentage_of_Hot_Region", most=99)
        yield "random_distribution", f"zoned:{100 - hot}/{hot}:{hot}/{100 - hot}"
    given.pass_over("Percentage_of_Hot_Region")


def _read_percent(given: Elements) -> int:
    return given.count("Read_Percentage", least=0, most=100)


def _region(given: Elements, number: int, flows: int, align: int) -> Iterator[Option]:
    share = given.count("Working_Set_Percentage", most=100) / 100 / flows
    if number > 1:
        yield "offset", percent((number - 1) / flows)
        yield "offset_align", align
    yield "size", percent(share)


def _pace(given: Elements) -> Iterator[Option]:
    if given.word("Synthetic_Generator_Type", _GENERATORS) == "QUEUE_DEPTH":
        given.pass_over("Bandwidth")
        yield "iodepth", given.count("Average_No_of_Reqs_in_Queue", most=_MOST_DEPTH)
        return
    given.pass_over("Average_No_of_Reqs_in_Queue")
    bandwidth = given.count("Bandwidth", most=_MOST_BYTES_PER_SECOND)
    rate = bandwidth // SECTOR_BYTES // given.count("Average_Request_Size")
    reads = round(rate * _read_percent(given) / 100)
    if rate < 1:
        raise given.refused(f"Bandwidth: {bandwidth}: is less than one request a second")
    # fio paces each direction; a rate of 0 would be no limit.
    paced = f"{max(reads, 1)},{max(rate - reads, 1)}" if 0 < _read_percent(given) < 100 else rate
    yield "rate_iops", paced
    yield "rate_process", "poisson"
    yield "iodepth", OPEN_DEPTH


def _end(given: Elements, sizes: dict[int, int]) -> Iterator[Option]:
    stop_ns = given.count("Stop_Time", least=0)
    if stop_ns:
        given.pass_over("Total_Requests_To_Generate")
        yield "time_based", 1
        yield "runtime", f"{math.ceil(stop_ns / 1000)}us"
        return
    requests = given.count("Total_Requests_To_Generate", most=2**31 - 1)
    yield "number_ios", requests
    yield "io_size", requests * max(sizes)
