"""A trace: what one channel of a run recorded."""

from __future__ import annotations

import json
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any

from lasthop import _core
from lasthop.base.arguments import nonblank, place
from lasthop.base.errors import UsageError, nearest
from lasthop.base.files import drafted
from lasthop.base.frames import array, arrow, pandas, parquet
from lasthop.base.paths import expect_folder, protect
from lasthop.base.table import html

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    import numpy as np
    import numpy.typing as npt

    from lasthop.scenario.recorded import Columns, Recorded


@cache
def channels() -> tuple[str, ...]:
    """What a trace can record, by name."""
    return tuple(str(entry["name"]) for entry in json.loads(_core.registry())["channels"])


def known_channel(argument: str, name: object) -> str:
    """A name of a channel."""
    channel = nonblank(argument, name, "a channel such as cwnd")
    if channel not in channels():
        raise UsageError(f'"{channel}" is not a channel; {nearest(channel, channels())}', argument=argument)
    return channel


# Rows that a notebook shows.
_SHOWN = 8


def _place(path: str | Path) -> Path:
    """Where a trace is to be written."""
    file = place("path", path, "a file to write")
    expect_folder(file.parent, "path")
    protect(file)
    return file


def _cell(value: object) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)


class Trace:
    """One recorded channel: equally long columns.

    A run keeps its traces in chunks on the disk. `chunks` gives them one by one; `columns`, `to_numpy`
    and `trace["cwnd"]` bring the whole channel into memory.

    Attributes:
        name: The channel, such as `cwnd`.
    """

    def __init__(self, name: str, core: _core.Run | Recorded) -> None:
        self.name = name
        self._core = core

    @cached_property
    def columns(self) -> Columns:
        """All rows.

        Returns:
            By name of the column its values: an array of numbers in SI units or of integers, or a list
            of words.

        Raises:
            OSError: The chunks on the disk cannot be read.
        """
        return self._core.trace(self.name)

    def chunks(self) -> Iterator[Columns]:
        """The rows in order, some at a time.

        Yields:
            Columns as `columns` has them; at least one part, which may be empty.

        Raises:
            OSError: The chunks on the disk cannot be read.
        """
        rows, at_a_time = self._core.trace_rows(self.name)
        for first in range(0, max(rows, 1), at_a_time):
            yield self._core.trace(self.name, first, at_a_time)

    def __getitem__(self, column: str) -> npt.NDArray[np.float64] | npt.NDArray[np.int64] | list[str]:
        found = self.columns.get(nonblank("column", column, "the name of a column"))
        if found is None:
            raise UsageError(
                f'"{column}" is not a column; {nearest(column, self.columns)}', argument="column"
            )
        return found

    def __len__(self) -> int:
        return self._core.trace_rows(self.name)[0]

    def to_numpy(self) -> npt.NDArray[Any]:
        """All rows as one array.

        Returns:
            A structured array with one field per column; words become text fields.

        Raises:
            OSError: The chunks on the disk cannot be read.
        """
        return array(self.columns)

    def __array__(self, dtype: object = None, copy: bool | None = None) -> npt.NDArray[Any]:
        return self.to_numpy()

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return arrow(self.columns, requested_schema)

    def to_pandas(self) -> Any:
        """All rows as a data frame; needs pandas.

        Returns:
            A `pandas.DataFrame` with one row per row of the trace.

        Raises:
            LasthopError: pandas is not installed.
            OSError: The chunks on the disk cannot be read.
        """
        return pandas(self.columns)

    def to_csv(self, path: str | Path) -> None:
        """Write the channel as a table.

        Args:
            path: The file to write, in an existing directory; it is written completely or not at all.

        Raises:
            UsageError: The directory does not exist.
            OSError: The file cannot be written.
        """
        with drafted(_place(path)) as draft:
            write_csv(self, draft)

    def to_parquet(self, path: str | Path) -> None:
        """Write the channel as Parquet, chunk by chunk; needs pyarrow.

        Args:
            path: The file to write, in an existing directory; it is written completely or not at all.

        Raises:
            UsageError: The directory does not exist.
            LasthopError: pyarrow is not installed.
            OSError: The file cannot be written.
        """
        with drafted(_place(path)) as draft:
            parquet(self.chunks(), draft)

    def _repr_html_(self) -> str:
        columns = self._core.trace(self.name, 0, _SHOWN)
        rows = [[_cell(values[i]) for values in columns.values()] for i in range(min(len(self), _SHOWN))]
        more = f", of which the first {_SHOWN}" if len(self) > _SHOWN else ""
        return f"<div><b>trace {self.name}</b>: {len(self)} rows{more}</div>" + html(columns, rows)

    def __repr__(self) -> str:
        names = self._core.trace(self.name, 0, 0)
        return f"<Trace {self.name}: {len(self)} rows of {', '.join(names)}>"


def write_csv(trace: Trace, draft: Path) -> None:
    """Write a channel as a table into the draft of a file."""
    import csv

    with draft.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        for number, part in enumerate(trace.chunks()):
            if number == 0:
                writer.writerow(part)
            columns = [c if isinstance(c, list) else c.tolist() for c in part.values()]
            writer.writerows(zip(*columns, strict=True))
