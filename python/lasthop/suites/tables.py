"""The results of a suite in words: a row for each case, for one law or for all."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from lasthop.base.quantity import digits
from lasthop.base.table import grid, markdown
from lasthop.suites.cases import FAILS, PASSES, WORDS

if TYPE_CHECKING:
    from collections.abc import Callable

    from lasthop.papers.results import Outcome
    from lasthop.suites.cases import Case, Suite
    from lasthop.suites.measured import Results

    Paint = Callable[[str, str], str]

COLOURS = {PASSES: "green", FAILS: "red"}
_SIGNS = {PASSES: "✓", FAILS: "✕"}


def of_law(chosen: Suite, found: Results, law: str, known: Results | None, paint: Paint) -> str:
    """A row for each case with the value of a law, what is demanded, the verdict, and its place among all."""
    head = ["section", "case", "value", "demanded", "verdict", *(["place"] if known else [])]
    rows = []
    for case in chosen.cases:
        one = found.outcomes[case.id][law]
        place = [rank(case, chosen, law, one, known)] if known else []
        rows.append(
            [case.section, case.id, value(case, chosen, one), demand(case, chosen), verdict(one), *place]
        )
    lines = grid(head, rows).split("\n")
    for number, row in enumerate(rows, 1):
        told = row[4]
        lines[number] = lines[number].replace(f"  {told}", f"  {paint(told, COLOURS.get(told, 'yellow'))}", 1)
    return "\n".join([*lines, "", summary(found, law)])


def matrix(chosen: Suite, found: Results) -> str:
    """A row for each case, a column for each law: ✓ passes, ✕ fails, ? cannot tell."""
    rows = [
        [case.section, case.id, *(sign(found.outcomes[case.id][law]) for law in found.laws)]
        for case in chosen.cases
    ]
    return "\n".join(
        [grid(["section", "case", *found.laws], rows), "", *(summary(found, law) for law in found.laws)]
    )


def page(chosen: Suite, found: Results) -> str:
    """The tables of the guide: the verdicts of all laws, and every value, in Markdown."""
    sections = [
        [case.section, case.says, *(sign(found.outcomes[case.id][law]) for law in found.laws)]
        for case in chosen.cases
    ]
    passed = [["", "passed", *(str(count(found, law, PASSES)) for law in found.laws)]]
    values = [
        [case.id, demand(case, chosen), *(digits(found.outcomes[case.id][law].mean, 3) for law in found.laws)]
        for case in chosen.cases
    ]
    return "\n\n".join(
        [
            markdown(["section", "case", *found.laws], [*sections, *passed]),
            "Values; the demand has their unit and what they are compared with.",
            markdown(["case", "demand", *found.laws], values),
        ]
    )


def summary(found: Results, law: str) -> str:
    """How many cases a law passes."""
    parts = [(count(found, law, word), word) for word in WORDS.values()]
    told = {PASSES: "passed", FAILS: "failed"}
    return f"{law}: {', '.join(f'{number} {told.get(word, word)}' for number, word in parts if number)}"


def count(found: Results, law: str, word: str) -> int:
    """The number of cases in which a law has this verdict."""
    return sum(verdict(case[law]) == word for case in found.outcomes.values())


def verdict(one: Outcome) -> str:
    """Passes, fails, or cannot tell."""
    return WORDS[one.verdict]


def sign(one: Outcome) -> str:
    """The verdict as one sign."""
    return _SIGNS.get(verdict(one), "?")


def value(case: Case, chosen: Suite, one: Outcome) -> str:
    """A value with its interval and unit."""
    ends = f" [{digits(one.low, 3)}, {digits(one.high, 3)}]" if one.low is not None else ""
    return f"{digits(one.mean, 3)}{ends} {unit(case, chosen)}".rstrip()


def unit(case: Case, chosen: Suite) -> str:
    """The unit of a case; empty for a ratio."""
    return case.claim(chosen.standard, chosen.standard).unit


def demand(case: Case, chosen: Suite) -> str:
    """What a case demands, such as `gain ≥ -10 %`."""
    claim = case.claim(chosen.standard, chosen.standard)
    return f"{claim.kind} {claim.expected} {claim.unit}".rstrip()


def rank(case: Case, chosen: Suite, law: str, one: Outcome, known: Results) -> str:
    """The place of a law among the published ones, from the best."""
    others = [them for name, them in known.outcomes[case.id].items() if name != law]
    is_floor = not math.isfinite(case.claim(chosen.standard, chosen.standard).band.high)
    ahead = sum(_is_ahead(them, one, is_floor=is_floor) for them in others)
    return f"{ahead + 1} of {len(others) + 1}"


def _is_ahead(them: Outcome, one: Outcome, *, is_floor: bool) -> bool:
    if them.mean is None or one.mean is None:
        return one.mean is None and them.mean is not None
    return them.mean > one.mean if is_floor else them.mean < one.mean
