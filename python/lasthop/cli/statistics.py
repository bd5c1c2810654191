"""Commands on the statistics of a study: quantile, steady."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from lasthop.cli import completing
from lasthop.cli.options import (
    Place,
    Share,
    Word,
    examples,
    form_option,
    json_option,
    law_option,
    no_bar_option,
    talk_options,
)
from lasthop.cli.talk import data, note, warn_of_stopped

if TYPE_CHECKING:
    from pathlib import Path
    from typing import Any

    from lasthop.base.table import Table


@click.command(
    "quantile",
    epilog=examples(
        "lasthop quantile studies/ejtcp/fig10-baselines flows.main.goodput_bps",
        "lasthop quantile studies/ejtcp/fig10-baselines flows.main.goodput_bps --share '10 %'",
    ),
)
@click.argument("study", type=Place(), shell_complete=completing.studies)
@click.argument("metric", type=Word(), shell_complete=completing.metrics)
@click.option(
    "--share", type=Share(), default=0.5, help="The share of runs below it; default: 50 %, the median."
)
@form_option
@no_bar_option
@json_option
@law_option
@talk_options
def quantile_command(study: Path, metric: str, share: float, form: str, as_json: bool) -> None:
    """Print a quantile of METRIC over the runs of each point of STUDY, with its 95 % interval and n.

    The interval is that of two of the ordered runs, so it holds whatever the distribution is. Too few
    runs have none: a median needs 6, the 90 % quantile 36.
    """
    from lasthop.study.study import Study
    from lasthop.views.quantiles import quantiles

    opened = Study.open(study)
    warn_of_stopped(opened)
    table = quantiles(opened, metric, share)
    title = f"{metric}: {100 * share:.6g} % quantile of the runs"
    _print(table, {"metric": metric, "share": share}, form, title, as_json=as_json)


@click.command(
    "steady",
    epilog=examples(
        "lasthop steady studies/long",
        "lasthop steady studies/long --cut",
    ),
)
@click.argument("study", type=Place(), shell_complete=completing.studies)
@click.argument("metric", required=False, type=Word(), shell_complete=completing.metrics)
@click.option("--cut", is_flag=True, help="Leave the warm-up that was found out of the means.")
@form_option
@no_bar_option
@json_option
@law_option
@talk_options
def steady_command(study: Path, metric: str | None, cut: bool, form: str, as_json: bool) -> None:
    """Print where the warm-up of each run of STUDY ends, and the mean of METRIC with its interval.

    METRIC is a goodput that `run.bin` records; default: the first. MSER-5 finds the warm-up; the mean
    leaves out `run.warmup` and, only with --cut, what was found. The 95 % interval is that of the means of
    20 batches of one run.
    """
    from lasthop.study.study import Study
    from lasthop.views.steady import binned, remarks, steady_runs

    opened = Study.open(study)
    warn_of_stopped(opened)
    table = steady_runs(opened, metric, cut=cut)
    metric = metric or binned(opened)[0]
    title = f"{metric}: mean of each run"
    _print(table, {"metric": metric, "cut": cut}, form, title, as_json=as_json)
    if not cut:
        for remark in remarks(table):
            note(f"note: {remark}")


def _print(table: Table, head: dict[str, Any], form: str, title: str, *, as_json: bool) -> None:
    from lasthop.base.jsontext import dumps

    if as_json:
        data(dumps({**head, "rows": table.rows}))
    elif form == "markdown":
        data(table.to_markdown())
    else:
        data(table.to_latex() if form == "latex" else f"{title}\n{table}")
