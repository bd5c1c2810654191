"""The results of a run from the binding, as plain data for another process or for a file."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from typing import Self

    import numpy as np
    import numpy.typing as npt

    from lasthop import _core

    Columns = dict[str, npt.NDArray[np.float64] | npt.NDArray[np.int64] | list[str]]


@dataclass(frozen=True, slots=True)
class Recorded:
    """A run without the extension: the same members, its traces in memory."""

    metrics: dict[str, float | None]
    series: dict[str, list[float]]
    transfers: dict[str, list[Any]]
    events: int
    wall_s: float
    cpu_s: float
    stopped: str | None
    simulated_s: float
    tables: dict[str, tuple[int, int, Columns]]
    laws: dict[str, tuple[int, int, float]] = field(default_factory=dict)

    @classmethod
    def of(cls, run: _core.Run | Recorded) -> Self:
        """A copy of a run, with the rows of its traces and how many to read at a time."""
        tables = {name: (*run.trace_rows(name), run.trace(name)) for name in run.traces()}
        return cls(
            run.metrics,
            run.series,
            run.transfers,
            run.events,
            run.wall_s,
            run.cpu_s,
            run.stopped,
            run.simulated_s,
            tables,
            dict(run.laws),
        )

    def traces(self) -> list[str]:
        """The names of the traces taken."""
        return list(self.tables)

    def trace_rows(self, name: str) -> tuple[int, int]:
        """The number of rows of a trace, and how many to read at a time."""
        rows, at_a_time, _ = self.tables[name]
        return rows, at_a_time

    def trace(self, name: str, first: int = 0, count: int | None = None) -> Columns:
        """The columns of a trace: of all rows, or of at most `count` from row `first` on."""
        end = None if count is None else first + count
        return {column: values[first:end] for column, values in self.tables[name][2].items()}
