"""Runs the scenarios of a suite for some laws and judges each case; results are kept as JSON."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from lasthop import _core
from lasthop.base import paths
from lasthop.base.errors import UsageError, reason
from lasthop.base.files import put
from lasthop.base.jsontext import dumps, loads
from lasthop.laws.registered import used
from lasthop.papers.measure import is_stale, judge
from lasthop.papers.results import Outcome, outcome
from lasthop.study.study import Study
from lasthop.study.sweep import Listener, Sweep
from lasthop.suites.cases import WORDS, among, suite

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from lasthop.suites.cases import Case, Suite

PUBLISHED = ".results.json"
"""The ending of the file with the published results of a suite."""


@dataclass(frozen=True, slots=True)
class Results:
    """What was measured.

    Attributes:
        suite: The id of the suite.
        version: Its version.
        model: The version of the simulator's model: other versions give other numbers.
        sources: A hash of the source of each law in Python, by its name.
        outcomes: By case and law, the value with its interval in the unit of the case, and the verdict.
    """

    suite: str
    version: int
    model: str
    sources: Mapping[str, str]
    outcomes: Mapping[str, Mapping[str, Outcome]]

    @property
    def laws(self) -> list[str]:
        """The laws, in the order in which they were measured."""
        return list(dict.fromkeys(law for found in self.outcomes.values() for law in found))

    def beside(self, known: Results) -> Results:
        """These results, followed by those of the other laws of `known`."""
        outcomes = {
            case: {**found, **{law: one for law, one in known.outcomes[case].items() if law not in found}}
            for case, found in self.outcomes.items()
        }
        return replace(self, outcomes=outcomes)

    def text(self) -> str:
        """The file."""
        head = {"suite": self.suite, "version": self.version, "model": self.model, "sources": self.sources}
        outcomes = {
            case: {law: one.as_dict() for law, one in found.items()} for case, found in self.outcomes.items()
        }
        return dumps({**head, "cases": outcomes}) + "\n"


def read(file: Path) -> Results:
    """Results from their file.

    Raises:
        UsageError: The file cannot be read, or is not one of `suite`.
    """
    try:
        whole = loads(file.read_bytes())
        outcomes = {
            case: {law: outcome(entry) for law, entry in found.items()}
            for case, found in whole["cases"].items()
        }
        return Results(whole["suite"], whole["version"], whole["model"], whole["sources"], outcomes)
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as e:
        raise UsageError(f"{file}: {reason(e)}; expected results that suite wrote") from e


def published(chosen: Suite) -> Results | None:
    """The published results of a suite; `None` if those of this version and model are not published."""
    file = paths.data("suites") / f"{chosen.id}{PUBLISHED}"
    found = read(file) if file.is_file() else None
    return found if found and (found.version, found.model) == _now(chosen) else None


def _now(chosen: Suite) -> tuple[int, str]:
    return chosen.version, _core.model_version


def measure(
    chosen: Suite,
    laws: Sequence[str],
    folder: Path,
    *,
    jobs: int | None,
    listener: Callable[[str], Listener],
) -> Results:
    """Run a suite for some laws, and the standard one that they are compared with.

    Args:
        chosen: The suite.
        laws: The laws under test.
        folder: The directory of its studies; runs that are there are not repeated.
        jobs: The number of workers; all cores if `None`.
        listener: Makes a listener for the scenario of this id.

    Returns:
        The results, also in `folder` as `results.json`.
    """
    every = list(dict.fromkeys([*laws, chosen.standard]))
    outcomes: dict[str, dict[str, Outcome]] = {case.id: {} for case in chosen.cases}
    sources: dict[str, str] = {}
    for name in chosen.scenarios:
        place = folder / name.rpartition("/")[2]
        study = Study.create(among(name, chosen.subject, every), place, fresh=is_stale(place))
        Sweep(study, jobs=jobs, listener=listener(name)).run()
        sources |= {
            law.name: law.identity for law in used(study.scenario.text, tuple(study.scenario.overrides))
        }
        for case in (one for one in chosen.cases if one.scenario == name):
            outcomes[case.id] = {law: _judged(case, law, chosen.standard, study) for law in laws}
    found = Results(chosen.id, *_now(chosen), sources, outcomes)
    put(folder / "results.json", found.text())
    return found


def _judged(case: Case, law: str, standard: str, study: Study) -> Outcome:
    return Outcome.of(judge(case.claim(law, standard), study))


def unlike(old: Results, new: Results) -> list[str]:
    """What differs between results and their repetition, one line each.

    >>> first = Results("x", 1, "3", {}, {"a": {"reno": Outcome(1.0, 1.0, 1.0, 3, "agrees")}})
    >>> second = Results("x", 1, "3", {}, {"a": {"reno": Outcome(2.0, 1.0, 1.0, 3, "agrees")}})
    >>> unlike(first, first), unlike(first, second)
    ([], ['a: reno: 1.0 [1.0, 1.0] passes; now 2.0 [1.0, 1.0] passes'])
    """
    return [
        f"{case}: {law}: {_told(one)}; now {_told(again)}"
        for case, found in old.outcomes.items()
        for law, one in found.items()
        if (again := new.outcomes.get(case, {}).get(law)) != one
    ]


def _told(one: Outcome | None) -> str:
    return "nothing" if one is None else f"{one.mean} [{one.low}, {one.high}] {WORDS[one.verdict]}"


def admitted(old: Results) -> Suite:
    """The suite of some results, which can be measured again.

    Raises:
        UsageError: This program has another version of it, or another model.
    """
    chosen = suite(old.suite)
    if (old.version, old.model) != _now(chosen):
        version, model = _now(chosen)
        told = f"of version {old.version} and model {old.model}"
        raise UsageError(f"{told}; expected version {version} of {old.suite} and model {model}")
    return chosen
