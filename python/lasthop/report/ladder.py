"""The ladder of a run for the page of a report."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lasthop.study.study import Study


def ladder(study: Study, point: int, replication: int) -> str | None:
    """The ladder of a run as SVG; this implementation draws none and returns `None` for every run.

    The page includes ladders of the first replications until their share of its size is used up, and shows
    each below the command that repeats its run, on a white background. Scripts inside a ladder do not run.

    Args:
        study: The study of the run.
        point: The number of its point.
        replication: The number of the replication.

    Returns:
        An `<svg>` element with a `viewBox` and escaped texts, or `None` if there is no drawing.
    """
    return None
