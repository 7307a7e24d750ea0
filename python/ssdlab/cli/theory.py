"""``ssdlab theory``: the closed form, to compare a run with."""

from __future__ import annotations

import click

from ssdlab import engine
from ssdlab.cli.arguments import whole_number
from ssdlab.cli.console import fitted, print_json, print_text
from ssdlab.cli.json_option import JSON_OPTION
from ssdlab.cli.verb import Verb
from ssdlab.ground import text
from ssdlab.ground.errors import SsdlabError

_MOST_OVER_PROVISIONING = 10.0


def _share(value: str | None, option: str) -> float | None:
    return None if value is None else text.parse_share(value, option)


def _over_provisioning(value: str) -> float:
    share = text.parse_share(value, "--op")
    if share > _MOST_OVER_PROVISIONING:
        raise SsdlabError(
            f"--op {value}: that is {share:.0%}; must be at most {_MOST_OVER_PROVISIONING:.0%}\n"
            "write a share or a percentage: 0.28 or 28%"
        )
    return share


@click.command(
    cls=Verb,
    short_help="Compute the write amplification of random writes.",
    examples=(
        "ssdlab theory --op 28% --pages-per-block 64 --gc greedy",
        "ssdlab theory --op 0.1 --gc fifo --hot-space 5% --hot-writes 95%",
    ),
)
@click.option(
    "--op", required=True, metavar="SHARE", help="Set the over-provisioning: 0.28 or 28%."
)
@click.option(
    "--pages-per-block",
    default="128",
    show_default=True,
    metavar="N",
    callback=whole_number(1, 2**32 - 1),
    help="Set the pages per block.",
)
@click.option(
    "--gc",
    default="greedy",
    show_default=True,
    help="Use victim policy greedy, fifo, random or d-choices:N.",
)
@click.option(
    "--hot-space", metavar="SHARE", help="Make this share of the pages hot (with --gc fifo)."
)
@click.option(
    "--hot-writes", metavar="SHARE", help="Send this share of the writes to the hot pages."
)
@click.option(
    "--trim-share", metavar="SHARE", help="Make this share of the requests trim a mapped page."
)
@click.option(
    "--unwritten", metavar="SHARE", help="Leave this share of the exported pages unwritten."
)
@JSON_OPTION
def theory(
    op: str,
    pages_per_block: int,
    gc: str,
    hot_space: str | None,
    hot_writes: str | None,
    trim_share: str | None,
    unwritten: str | None,
    as_json: bool,
) -> None:
    """Compute the write amplification of random single-page writes in steady state."""
    answer = engine.theory(
        _over_provisioning(op),
        pages_per_block=pages_per_block,
        gc=gc,
        hot_space=_share(hot_space, "--hot-space"),
        hot_writes=_share(hot_writes, "--hot-writes"),
        trim_share=_share(trim_share, "--trim-share"),
        unwritten_share=_share(unwritten, "--unwritten"),
    )
    if as_json:
        print_json(answer)
        return
    print_text(
        f"write amplification  {answer['write_amplification']:.4f}\n"
        f"spare in effect      {text.percent(answer['effective_over_provisioning'], 2)}\n"
        + fitted(answer["formula"], "formula              ")
    )
