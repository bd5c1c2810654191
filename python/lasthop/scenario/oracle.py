"""The label of what was made with knowledge that no node could have: TCP's timers, by oracle."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

# What stands below every table and figure of results in which an access point knew what none could.
BY_ORACLE = "TCP timers by oracle"
_REMARK = re.compile(r"\blinks\.[^ :]+\.arq\.timing: ")


def by_oracle(warnings: Iterable[str]) -> bool:
    """Whether the simulator gives TCP's timers to an access point, by the warnings of a scenario."""
    return any(_REMARK.search(warning) for warning in warnings)


def oracle_at(resolved: Mapping[str, Mapping[str, str]]) -> bool:
    """The same of one point, by all of its keys."""
    sources = [entry["value"] for key, entry in resolved.items() if key.endswith(".arq.timing")]
    return any(source.strip('"') == "oracle" for source in sources)
