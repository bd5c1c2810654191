"""Columns as tables of other libraries: Arrow by its stream interface, numpy, pandas."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lasthop.base.errors import LasthopError, reason

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    import numpy as np
    import numpy.typing as npt


def array(columns: Mapping[str, Sequence[Any] | npt.NDArray[Any]]) -> npt.NDArray[Any]:
    """A structured array with one field per column: integers stay integers, None becomes nan."""
    import numpy as np

    arrays = {name: _array(values) for name, values in columns.items()}
    rows = len(next(iter(arrays.values()), ()))
    table = np.empty(rows, dtype=np.dtype([(name, found.dtype) for name, found in arrays.items()]))
    for name, found in arrays.items():
        table[name] = found
    return table


def _array(values: Sequence[Any] | npt.NDArray[Any]) -> npt.NDArray[np.generic]:
    import numpy as np

    if isinstance(values, np.ndarray):
        return values
    known = [value for value in values if value is not None]
    if all(isinstance(value, str) for value in known) and known:
        return np.asarray(["" if value is None else value for value in values])
    if known and len(known) == len(values) and all(isinstance(value, int) for value in known):
        return np.asarray(values, dtype=np.int64)
    return np.asarray([np.nan if value is None else value for value in values], dtype=np.float64)


def arrow(columns: Mapping[str, Sequence[Any] | npt.NDArray[Any]], schema: object = None) -> object:
    """The Arrow stream of some columns, as `__arrow_c_stream__` gives it."""
    try:
        import pyarrow as pa
    except ImportError as e:
        raise LasthopError(
            f'pyarrow: {reason(e)}; expected it for Arrow (pip install "lasthop[parquet]")'
        ) from e
    table = pa.table({name: pa.array(values) for name, values in columns.items()})
    return table.__arrow_c_stream__(schema)


def pandas(columns: Mapping[str, Sequence[Any] | npt.NDArray[Any]]) -> Any:
    """A data frame of pandas."""
    try:
        import pandas as pd  # type: ignore[import-untyped, import-not-found, unused-ignore]
    except ImportError as e:
        raise LasthopError(f"pandas: {reason(e)}; expected it to be installed") from e
    return pd.DataFrame(dict(columns))


def parquet(chunks: Iterable[Mapping[str, Sequence[Any] | npt.NDArray[Any]]], path: Path) -> None:
    """Write columns that come in chunks as a Parquet file, a row group for each chunk."""
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError as e:
        raise LasthopError(
            f'pyarrow: {reason(e)}; expected it for Parquet (pip install "lasthop[parquet]")'
        ) from e
    writer = None
    for columns in chunks:
        table = pa.table({name: _arrow_column(values) for name, values in columns.items()})
        if writer is None:
            writer = pq.ParquetWriter(path, table.schema)
        writer.write_table(table)
    if writer is not None:
        writer.close()


def _arrow_column(values: Sequence[Any] | npt.NDArray[Any]) -> Any:
    import pyarrow as pa

    # A list without words still is one of words.
    return pa.array(values, type=pa.string()) if isinstance(values, list) else pa.array(values)
