"""Runs live cases and counts them: `python -m search.live 200`."""

from __future__ import annotations

import argparse
import itertools
import json
import sys
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

from . import signals
from .cases import Case, case
from .trial import Verdict, judge


def main() -> int:
    parser = argparse.ArgumentParser(prog="search.live")
    parser.add_argument("count", type=int, nargs="?", default=200, help="how many cases")
    parser.add_argument("--from", type=int, default=0, dest="first", help="the first case")
    parser.add_argument("--case", type=int, help="show one case, run it and report")
    parser.add_argument("--only", action="append", default=[], help="only cases with this text in their line")
    parser.add_argument("--at-once", type=int, default=2, help="cases that run at the same time")
    parser.add_argument("--signals", type=int, help="end this many runs by each signal, at random instants")
    options = parser.parse_args()
    if options.signals is not None:
        return end_by_signals(options.signals, options.at_once)
    if options.case is not None:
        return show(options.case)
    counts: Counter[tuple[str, str, str]] = Counter()
    failed = 0
    with ThreadPoolExecutor(options.at_once) as pool:
        every = map(case, itertools.count(options.first))
        wanted = (one for one in every if all(text in one.label for text in options.only))
        for one, verdict in pool.map(trial, itertools.islice(wanted, options.count)):
            counts.update((one.agent, one.law, what) for what in one.disturbances)
            failed += bool(verdict.faults)
            if verdict.faults:
                print(one.label, *verdict.faults, sep="\n    ")
                print(f"    kernels {verdict.kernels}, agents {verdict.agents}", flush=True)
    table(counts)
    print(f"{options.count} cases, {failed} with faults")
    return 1 if failed else 0


def end_by_signals(count: int, at_once: int) -> int:
    tries = [(number, instant) for instant in range(count) for number in signals.SIGNALS]
    with ThreadPoolExecutor(at_once) as pool:
        found = [one for left in pool.map(lambda each: signals.left(*each), tries) for one in left]
    print(*found, f"{len(tries)} runs ended, {len(found)} things left", sep="\n")
    return 1 if found else 0


def trial(one: Case) -> tuple[Case, Verdict]:
    begun = time.monotonic()
    verdict = judge(one)
    note = {"number": one.number, "label": one.label, "took_s": round(time.monotonic() - begun, 2)}
    note |= {
        "ahead": verdict.ahead,
        "kernels": verdict.kernels,
        "agents": verdict.agents,
        "faults": verdict.faults,
    }
    print(json.dumps(note), file=sys.stderr, flush=True)
    return one, verdict


def table(counts: Counter[tuple[str, str, str]]) -> None:
    """How often each agent and law met each disturbance."""
    disturbances = sorted({what for _, _, what in counts})
    for agent in dict.fromkeys(agent for agent, _, _ in counts):
        for law in dict.fromkeys(law for _, law, _ in counts):
            met = {what: counts[agent, law, what] for what in disturbances}
            print(f"{agent}, {law}: " + ", ".join(f"{what} {n}" for what, n in met.items() if n))


def show(number: int) -> int:
    one = case(number)
    print(f"# {one.label}\n{one.text}\n# {json.dumps(one.plan)}")
    verdict = judge(one)
    print(json.dumps({**vars(verdict), "reports": None}, indent=1))
    if verdict.faults and one.agent != "none":
        without = judge(replace(one, tree={**one.tree, "agents": {}}, agent="none"))
        print("# without an agent:", without.faults or "nothing is wrong")
    return 1 if verdict.faults else 0


if __name__ == "__main__":
    sys.exit(main())
