"""Wrong arguments of the public API, each with its whole answer: the table is `wrong_arguments.txt`.

A row is a call and the error that it raises. `python tests/python/test_wrong_arguments.py` writes the answers
anew; whoever does reads each that moved as a user would.
"""

from __future__ import annotations

import re
import tempfile
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import lasthop as lh
from conftest import SMALL
from lasthop.laws import Reno
from lasthop.realtime.programs import Node
from lasthop.suites import cases, measured
from public_names import functions

TABLE = Path(__file__).with_name("wrong_arguments.txt")
# What the calls name, and the class of each.
OWNERS = {
    "lh": "",
    "sc": "Scenario",
    "run": "Run",
    "trace": "Trace",
    "ladder": "Ladder",
    "play": "Play",
    "fit": "Fit",
    "verdicts": "Verdicts",
    "study": "Study",
    "table": "Table",
    "net": "Live",
    "node": "LiveNode",
}
# Arguments whose messages begin with what a user calls them.
CALLED = {
    ("Scenario.set", "values"): "set",
    ("Scenario.vary", "axes"): "vary",
    ("Scenario.check_trace", "channels"): "trace",
}
# Arguments that take any value, with the reason.
ANY = {
    ("Interval.less", "amount"): "arithmetic of Python",
    ("Airtime.share", "seconds"): "arithmetic of Python",
    ("LiveNode.start", "options"): "those of subprocess.Popen",
    ("LiveNode.run", "options"): "those of subprocess.run",
}


@dataclass(frozen=True)
class Row:
    """A call and the error that it has to raise."""

    call: str
    error: str

    @property
    def function(self) -> str:
        """The function that is called, as the list of public names has it."""
        first, *rest = self.call.partition("(")[0].split(".")
        return ".".join(part for part in (OWNERS[first], *rest) if part)


def rows() -> list[Row]:
    found = []
    for block in TABLE.read_text(encoding="utf-8").strip().split("\n\n"):
        call, *error = block.split("\n")
        found.append(Row(call.removeprefix(">>> "), "\n".join(error)))
    return found


def verdicts() -> lh.Verdicts:
    """Those that are published."""
    chosen = cases.suite("rfc7928")
    known = measured.published(chosen)
    assert known is not None
    return lh.Verdicts(chosen, known)


def things(folder: Path) -> dict[str, Any]:
    """What the calls name: a scenario, a run with a trace, and a study with a table."""
    file = folder / "small.toml"
    file.write_text(SMALL)
    sc = lh.load(file).set({"run.duration": "1 s"})
    run = sc.run(trace=["cwnd", "events"])
    study = sc.sweep(1, folder / "study").run()
    table = study.table("flows.main.goodput_bps")
    named = {"sc": sc, "run": run, "trace": run.trace("cwnd"), "study": study, "table": table}
    return {
        **named,
        "ladder": run.ladder(),
        "play": run.play(),
        "fit": captured(folder),
        "verdicts": verdicts(),
        "net": lh.live(sc, ["a"]),
        "node": lh.LiveNode(Node("a", "10.0.0.1", 0, 0), 1, [], []),
        "lh": lh,
        "Pool": ProcessPoolExecutor,
        "folder": folder,
        "Reno": Reno,
    }


def captured(folder: Path) -> lh.Fit:
    """A fit of a short capture."""
    lh.load("hops/hotel").set({"run.duration": "1 s", "run.warmup": "0 s"}).run(
        pcap={"air": folder / "air.pcap"}
    )
    return lh.fit(folder / "air.pcap")


def raised(call: str, named: dict[str, Any]) -> lh.LasthopError:
    """The error of a call, with another name for the folder."""
    with pytest.raises(lh.LasthopError) as caught:
        eval(call, dict(named))
    return caught.value


def answer(error: lh.LasthopError, named: dict[str, Any]) -> str:
    text = str(error).replace(str(named["folder"]), "FOLDER")
    return f"{type(error).__name__}: {text}"


@pytest.fixture(scope="module")
def named(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    return things(tmp_path_factory.mktemp("wrong"))


@pytest.mark.parametrize("row", [pytest.param(row, id=row.call) for row in rows()])
def test_a_wrong_argument_is_answered_as_the_table_says(row: Row, named: dict[str, Any]) -> None:
    error = raised(row.call, named)
    assert answer(error, named) == row.error
    assert isinstance(error, ValueError)
    assert error.argument is None or str(error).startswith(f"{error.argument}: ")
    assert re.search(r"; (expected|did you mean|run\()", str(error))


def test_every_argument_of_every_public_function_has_a_row(named: dict[str, Any]) -> None:
    there = {(row.function, raised(row.call, named).argument) for row in rows()}
    missing = [
        f"{function.name}({parameter})"
        for function in functions()
        for parameter in function.parameters
        if (place := (function.name, parameter)) not in ANY
        and (function.name, CALLED.get(place, parameter)) not in there
    ]
    assert missing == []


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as made:
        every = things(Path(made))
        blocks = [f">>> {row.call}\n{answer(raised(row.call, every), every)}" for row in rows()]
        TABLE.write_text("\n\n".join(blocks) + "\n", encoding="utf-8")
