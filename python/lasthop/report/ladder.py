"""The ladder of a run as the page shows it: the place where the drawing of `lasthop ladder` belongs."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lasthop.study.study import Study


def ladder(study: Study, point: int, replication: int) -> str | None:
    """The ladder of a run as SVG, or none where there is no drawing of it.

    The page keeps the ladders of the first replications until their share of its size is used up, and shows
    each below the command that repeats its run, on white paper. Scripts in it do not run.

    Args:
        study: The study of the run.
        point: The number of its point.
        replication: The number of the replication.

    Returns:
        An `<svg>` element with a `viewBox`; its texts are escaped. `None` without a drawing.
    """
    return None
