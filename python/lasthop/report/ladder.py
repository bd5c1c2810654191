"""The ladder of a run for the page of a report."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lasthop.base.errors import LasthopError, UsageError
from lasthop.figures.ladders import ladder as drawn
from lasthop.views.events import CHANNEL
from lasthop.views.sources import of_run, traced

if TYPE_CHECKING:
    from lasthop.scenario.scenario import Run
    from lasthop.study.study import Study

# A run that needs more events for its first segments is left out: the page shall not take minutes.
_MOST_EVENTS = 2_000_000


def ladder(study: Study, point: int, replication: int) -> str | None:
    """The ladder of the first segments of a run as SVG, for which the run is simulated as far as needed.

    The page includes ladders of the first replications until their share of its size is used up. It shows
    each below the command that repeats its run, on a white background. Scripts inside a ladder do not run.

    Args:
        study: The study of the run.
        point: The number of its point.
        replication: The number of the replication.

    Returns:
        An `<svg>` element with a `viewBox` and escaped texts, or `None` if the run sends no segments, or none
        before many events.
    """

    def run(most: int) -> Run:
        if most > _MOST_EVENTS:
            raise UsageError(f"point {point} sends too few segments in {most} events")
        return study.scenario.run(study.seed, replication, point, trace=[CHANNEL], max_events=most)

    try:
        svg = drawn([of_run(traced(run, None, None))], None, "tcp", None).to_svg()
    except LasthopError:
        return None
    return svg[svg.index("<svg") :]
