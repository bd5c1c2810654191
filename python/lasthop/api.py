"""What `import lasthop` gives: scenarios and studies with everything that can be done with them as methods.

A room knows the plain scenario and the plain study, and its functions act on them; it cannot know the
rooms above it. Here, above all of them, the same functions become methods.

>>> import tempfile
>>> sc = load("ejtcp/fig10-baselines").set(
...     {"run.duration": "2 s", "links.r1-r2.rate": "5 Mbit/s", "links.r2-d.loss.rate": "1 %"}
... )
>>> study = sc.sweep(replications=2, out=tempfile.mkdtemp() + "/study").run()
>>> [row["n"] for row in study.table("flows.main.goodput_bps").rows]
[2, 2, 2, 2, 2]
"""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import TYPE_CHECKING

from lasthop.figures.draw import draw, figure_named
from lasthop.scenario import scenario
from lasthop.study import study
from lasthop.study.export import write
from lasthop.study.sweep import Sweep
from lasthop.views.contrasts import contrasts
from lasthop.views.means import means

if TYPE_CHECKING:
    from collections.abc import Sequence
    from concurrent.futures import Executor
    from typing import Self

    from matplotlib.figure import Figure

    from lasthop.base.table import Table
    from lasthop.scenario.overrides import Pairs
    from lasthop.study.sweep import Precision
    from lasthop.study.work import Limits


def load(path_or_id: str | Path, overrides: Pairs | None = None, *, argument: str = "set") -> Scenario:
    """Read a scenario from a path or by its id below `scenarios/`; it is checked now.

    `argument` is what messages call the one that gave the overrides.
    """
    return Scenario.load(path_or_id, overrides, argument=argument)


class Scenario(scenario.Scenario):
    """An immutable scenario: what is run, what is swept and what is drawn."""

    def sweep(
        self,
        replications: int | None = None,
        out: str | Path | None = None,
        *,
        seed: int | None = None,
        where: Sequence[str] = (),
        fresh: bool = False,
    ) -> Study:
        """A study of all points in a directory; opens the one that is there, runs nothing yet."""
        return Study.create(self, out, replications=replications, seed=seed, where=where, fresh=fresh)


class Study(study.Study):
    """A study directory; `create` or `Scenario.sweep` makes one, `open` reads one."""

    scenario_class = Scenario
    scenario: Scenario

    def run(
        self,
        executor: Executor | None = None,
        *,
        jobs: int | None = None,
        limits: Limits | None = None,
        precision: Precision | None = None,
    ) -> Self:
        """Carry out what is missing, on threads or on any executor; returns itself.

        An interrupted study keeps every finished run and continues with the next `run`. Runs
        that fail are listed in `failures` and do not stop the others.
        """
        Sweep(self, executor=executor, jobs=jobs, limits=limits, precision=precision).run()
        if self.failures:
            warnings.warn(
                f"{len(self.failures)} of {self.size} runs failed; see study.failures",
                RuntimeWarning,
                stacklevel=2,
            )
        return self

    def table(self, metric: str) -> Table:
        """The mean of a metric at every point with its 95 % interval and n."""
        return means(self, metric)

    def contrast(self, metric: str, key: str, baseline: str | None = None) -> Table:
        """Differences between the values of a key, paired by common random numbers."""
        return contrasts(self, metric, key, baseline)

    def plot(self, figure: str | None = None) -> Figure:
        """Draw a figure of the scenario; the first without a name."""
        return draw(self, figure_named(self.scenario, figure))

    def to_csv(self, path: str | Path) -> None:
        """Write one row per run as CSV."""
        write(self, Path(path), "csv")

    def to_json(self, path: str | Path) -> None:
        """Write one object per run as JSON."""
        write(self, Path(path), "json")

    def to_parquet(self, path: str | Path) -> None:
        """Write one row per run as Parquet; needs pyarrow."""
        write(self, Path(path), "parquet")
