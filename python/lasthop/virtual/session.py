"""A live run in a guest, which gives the same outcome as one in real time."""

from __future__ import annotations

import pickle
import shutil
import sys
from codecs import getincrementaldecoder
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lasthop.base.errors import LasthopError, RunError
from lasthop.base.files import make_folder, replacing
from lasthop.realtime.session import LIMIT_S
from lasthop.scenario.scenario import Scenario, capture_files, captures
from lasthop.virtual import kernel
from lasthop.virtual.guest import INSIDE, guest, mixed

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from lasthop.realtime.programs import Command
    from lasthop.realtime.session import Outcome

_WORKER = Path(__file__).with_name("worker.py")
_ANSWER, _OUT, _CAPTURE = "answer", "kept", "capture-"


def run(
    scenario: Scenario,
    commands: Sequence[Command],
    *,
    others: Sequence[str] = (),
    point: int = 0,
    seed: int | None = None,
    replication: int = 0,
    limit_s: float = LIMIT_S,
    trace: Sequence[str] = (),
    pcap: str | Path | Mapping[str, str | Path] | None = None,
    out: Path | None = None,
    patience_s: float = LIMIT_S,
    given_kernel: str | Path | None = None,
) -> Outcome:
    """Run programs on nodes of a scenario in virtual time, until the last of them ends.

    Args:
        scenario: The scenario.
        commands: The programs, each with the name of its node.
        others: Nodes that are bound without a program.
        point: The number of the point.
        seed: The seed; `None` takes that of the scenario.
        replication: The replication.
        limit_s: The time in seconds after which the run ends.
        trace: The channels to record.
        pcap: A capture file for the first link, or one for each link in a mapping.
        out: A directory for what the run gave and its traces.
        patience_s: The time of this machine after which the run is ended.
        given_kernel: The kernel; `None` takes the one that was made.

    Raises:
        KernelError: There is no kernel.
        RunError: The guest fails, or does not end in time.
        LasthopError: What `realtime.session.run` raises.
    """
    chosen = kernel.find(given_kernel)
    drawn = scenario.seed if seed is None else seed
    captured = list(capture_files(scenario, pcap, point))
    asked: dict[str, Any] = {
        "scenario": Scenario.from_text(scenario.text, scenario.name, scenario.overrides, ident=scenario.id),
        "commands": list(commands),
        "others": list(others),
        "point": point,
        "seed": seed,
        "replication": replication,
        "limit_s": limit_s,
        "trace": list(trace),
        "pcap": {link: INSIDE / f"{_CAPTURE}{number}" for number, link in enumerate(captured)} or None,
        "out": None if out is None else INSIDE / _OUT,
    }
    with guest(chosen) as one, captures(scenario, pcap, point) as drafts:
        (one.folder / _OUT).mkdir()
        code = one.run(
            [sys.executable, "-P", str(_WORKER), str(INSIDE / _ANSWER)],
            pickle.dumps(asked),
            seed=mixed(drawn, replication),
            limit_s=patience_s,
            follow=_printer(),
        )
        try:
            found: Outcome | LasthopError = pickle.loads((one.folder / _ANSWER).read_bytes())  # noqa: S301
        except OSError:
            raise RunError(f"virtual: the run ended with exit code {code}; expected an outcome") from None
        if isinstance(found, LasthopError):
            raise found
        for number, draft in enumerate((drafts or {}).values()):
            shutil.copyfile(one.folder / f"{_CAPTURE}{number}", draft)
        if out is not None:
            _hand_over(one.folder / _OUT, out)
    return found


def _hand_over(kept: Path, out: Path) -> None:
    """Write what a run has kept to where it is wanted."""
    for file in sorted(kept.rglob("*.*")):
        target = out / file.relative_to(kept)
        make_folder(target.parent)
        with replacing(target, expected="a writable directory") as draft:
            shutil.copyfile(file, draft)


def _printer() -> Callable[[str, bytes], None]:
    """What prints the output of a guest."""
    decoders = {name: getincrementaldecoder("utf-8")("replace") for name in ("out", "err")}

    def follow(name: str, part: bytes) -> None:
        into = sys.stdout if name == "out" else sys.stderr
        print(decoders[name].decode(part), end="", file=into, flush=True)

    return follow
