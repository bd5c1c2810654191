"""The smallest scenario that fails in the same way."""

from __future__ import annotations

from copy import deepcopy
from typing import TYPE_CHECKING

import lasthop as lh
from lasthop import _core

from .tree import drop, paths, text
from .trial import judge

if TYPE_CHECKING:
    from .tree import Tree

MOST_TRIALS = 400


def minimise(tree: Tree, rule: str, most_trials: int = MOST_TRIALS) -> Tree:
    """Removes what it can and rounds the rest, as long as the same rule is broken."""
    left = [most_trials]

    def still_fails(candidate: Tree) -> bool:
        try:
            _core.Scenario.from_text(text(candidate), "case.toml")
        except lh.ScenarioError:
            return False
        left[0] -= 1
        return any(found.rule == rule for found in judge(candidate))

    smaller = True
    while smaller and left[0] > 0:
        smaller = False
        # Whole tables before the values in them.
        for path in sorted(paths(tree), key=len):
            if left[0] <= 0:
                break
            if path[-1] in {"from", "to", "duration"}:
                continue
            candidate = deepcopy(tree)
            try:
                drop(candidate, path)
            except (KeyError, TypeError):
                continue
            if still_fails(candidate):
                tree, smaller = candidate, True
    return tree
