"""One live case run and judged."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from bisect import bisect_left
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .cases import Case

TESTS = Path(__file__).parents[2]
#: A SYN and a FIN count as one byte each in what the kernel says is acknowledged.
_SYN_AND_FIN = 2
_OTHER = {"client": "server", "server": "client"}


@dataclass
class Verdict:
    """What a case showed."""

    faults: list[str]
    #: The counters of the agents, and of both kernels.
    agents: dict[str, float] = field(default_factory=dict)
    kernels: dict[str, int] = field(default_factory=dict)
    #: The most bytes by which a sender was ahead of its receiver.
    ahead: int = 0
    length_s: float = 0.0
    late_p99_s: float = 0.0
    reports: dict[str, Any] = field(default_factory=dict)


def judge(case: Case) -> Verdict:
    """Run a case, and say what is wrong."""
    with tempfile.TemporaryDirectory(prefix="lasthop-live-") as folder:
        return _judged(case, Path(folder))


def _judged(case: Case, folder: Path) -> Verdict:
    (folder / "case.toml").write_text(case.text)
    (folder / "plan.json").write_text(json.dumps(case.plan))
    nodes = {"server": "server", "client": "phone"}
    if not case.mobile_connects:
        nodes = {"server": "phone", "client": "server"}
    words = [sys.executable, "-m", "lasthop", "live", "case.toml", "--late", "1000000", "-o", "out"]
    limit_s = case.plan["limit_s"] + 10
    words += ["--limit", str(limit_s)]
    for side in ("server", "client"):
        words += [
            "--node",
            nodes[side],
            "--",
            "env",
            f"PYTHONPATH={TESTS}",
            sys.executable,
            "-m",
            f"search.live.{'quic' if case.plan['quic'] else 'endpoint'}",
            "plan.json",
            side,
            nodes[_OTHER[side]],
        ]
    try:
        done = subprocess.run(
            words, cwd=folder, capture_output=True, text=True, timeout=limit_s + 30, check=False
        )
    except subprocess.TimeoutExpired:
        return Verdict(["the run does not end at its limit"])
    reports = {side: folder / f"{side}.json" for side in _OTHER}
    if done.returncode or not all(file.exists() for file in reports.values()):
        return Verdict([f"exit code {done.returncode}: {done.stderr.strip()[-2000:]}"])
    run = json.loads((folder / "out" / "run.json").read_text())
    found = {side: json.loads(file.read_text()) for side, file in reports.items()}
    verdict = Verdict(
        [*_faults(case, found, run)], length_s=run["length_s"], late_p99_s=run["late_p99_s"] or 0.0
    )
    verdict.agents = {n: v for n, v in run["metrics"].items() if n.startswith("agents.") and v}
    for side in found:
        for name, value in found[side]["counters"].items():
            verdict.kernels[name] = verdict.kernels.get(name, 0) + value
    verdict.ahead, beyond = ahead(found, is_safe=case.agent.startswith("lle-tcp"))
    verdict.faults += beyond
    verdict.reports = found
    return verdict


def _faults(case: Case, found: dict[str, Any], run: dict[str, Any]) -> Iterator[str]:
    for lane in case.plan["lanes"]:
        for connection in lane:
            for side in _OTHER:
                yield from faults_of(connection, side, found[side]["connections"].get(connection["name"]))
    for node, counts in run["nodes"].items():
        if counts["without_content"]:
            yield f"{node}: {counts['without_content']} packets without content"
        if case.plan["quic"] and counts["rewritten"]:
            yield f"{node}: {counts['rewritten']} datagrams rewritten"
        if counts["ignored"]:
            yield f"{node}: {counts['ignored']} packets ignored"
    for side in _OTHER:
        if wrong := found[side]["counters"].get("InCsumErrors"):
            yield f"{side}: {wrong} segments with a wrong checksum"


def faults_of(connection: dict[str, Any], side: str, end: dict[str, Any] | None) -> Iterator[str]:
    name = f"{connection['name']} {side}"
    if end is None:
        yield f"{name}: never begins"
        return
    expected = connection[_OTHER[side]]["size"]
    if end["fault"]:
        yield f"{name}: {end['fault']}"
    if not end["is_over"]:
        yield f"{name}: hangs after {end['read']} of {expected} read: {end['info']}"
    elif not connection["reset"] and not end["fault"] and end["read"] != expected:
        yield f"{name}: {end['read']} of {expected} read"


def ahead(found: dict[str, Any], *, is_safe: bool) -> tuple[int, list[str]]:
    """By how much a kernel had more acknowledged than the other had received, and where that was too much.

    An agent in safe mode may acknowledge what the receiver has offered to take, others nothing.
    """
    most, faults = 0, []
    for side in _OTHER:
        for name, end in found[side]["connections"].items():
            other = found[_OTHER[side]]["connections"].get(name)
            if other is None or not other["samples"]:
                continue
            begins = [sample[0] for sample in other["samples"]]
            edge = beyond = 0
            for _, after, acked, _, _, _ in end["samples"]:
                place = bisect_left(begins, after)
                if place == len(begins):
                    # The other end has closed its socket.
                    break
                _, _, _, received, offered, _ = other["samples"][place]
                edge = max(edge, received + (offered if is_safe else 0))
                most = max(most, acked - _SYN_AND_FIN - received)
                beyond = max(beyond, acked - _SYN_AND_FIN - edge)
            if beyond:
                faults.append(f"{name} {side}: {beyond} bytes acknowledged that the other end cannot have")
    return most, faults
