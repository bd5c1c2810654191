"""`lasthop fit`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from lasthop.base.errors import UsageError
from lasthop.base.files import STDOUT
from lasthop.cli.options import Output, Place, examples, json_option, no_bar_option, talk_options
from lasthop.cli.talk import data, report, written

if TYPE_CHECKING:
    from pathlib import Path


@click.command(
    "fit",
    epilog=examples(
        "lasthop fit air.pcap",
        "lasthop fit air.pcap.gz -o air.toml --no-prediction",
    ),
)
@click.argument("capture", type=Place())
@click.option("-o", "--out", type=Output(), help="File for the scenario; - for the standard output.")
@click.option("--no-prediction", is_flag=True, help="Do not compare the halves of the capture.")
@json_option
@no_bar_option
@talk_options
def fit_command(capture: Path, out: Path | None, no_prediction: bool, as_json: bool) -> None:
    """Make a scenario like the Wi-Fi link in CAPTURE, a pcap or pcapng file with radiotap headers.

    Printed are the quantities that the capture shows, with 95 % intervals; and how well a scenario that is
    fitted to its first half predicts the second one.
    """
    from lasthop.base.jsontext import dumps
    from lasthop.captures.fitted import Fit

    if as_json and out == STDOUT:
        raise UsageError("the scenario goes there; expected a file, or no --json", argument="out")
    fit = Fit(capture)
    if out is not None:
        fit.save(out)
        written(out)
    if out == STDOUT:
        return
    measured = fit.parameters()
    predicted = None if no_prediction else fit.predict()
    if as_json:
        rows = {"quantities": measured.rows, "prediction": predicted.rows if predicted else None}
        data(dumps({**rows, "scenario": fit.text}))
    else:
        report(f"{measured}" + (f"\n\n{predicted}" if predicted else ""))
