"""Tables: rows of named values, and text in aligned columns.

>>> table = Table(["x", "mean"], [{"x": "1 %", "mean": 2.0}])
>>> table.column("mean"), len(table)
([2.0], 1)
>>> print(table)
x    mean
1 %  2.000
>>> print(Table(["x", "mean"], [{"x": "1 %", "mean": 2e6}], {"mean": "bit/s"}))
x    mean (Mbit/s)
1 %  2.000
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from textwrap import fill, wrap
from typing import TYPE_CHECKING, Any

from lasthop.base.arguments import nonblank
from lasthop.base.errors import UsageError, nearest
from lasthop.base.frames import array, arrow, pandas
from lasthop.base.quantity import digits, labelled, prefix

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    import numpy.typing as npt


@dataclass(slots=True)
class Table:
    """Rows of named values.

    Attributes:
        columns: The names of the columns, in order.
        rows: A mapping from column to value for each row, ready for any data frame.
        units: The units of the columns that have one; `%` stands for a share. Text has the values in a
            prefixed unit, `rows` in this one.
    """

    columns: list[str]
    rows: list[dict[str, Any]] = field(default_factory=list)
    units: Mapping[str, str] = field(default_factory=dict)

    def column(self, name: str) -> list[Any]:
        """The values of one column.

        Args:
            name: The name of the column.

        Returns:
            A value for each row.

        Raises:
            UsageError: The column does not exist.
        """
        if nonblank("name", name, "the name of a column") not in self.columns:
            raise UsageError(f'"{name}" is not a column; {nearest(name, self.columns)}', argument="name")
        return [row[name] for row in self.rows]

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return iter(self.rows)

    def __str__(self) -> str:
        return grid(*self._text())

    __repr__ = __str__

    def to_markdown(self) -> str:
        """The table as Markdown.

        Returns:
            One line per row below the heading; numbers have four significant digits.
        """
        return markdown(*self._text())

    def to_latex(self) -> str:
        """The table as LaTeX.

        Returns:
            A `tabular` with the rules of the package booktabs; numbers have four significant digits.
        """
        return latex(*self._text())

    def _repr_html_(self) -> str:
        return html(*self._text())

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return arrow(self._by_column(), requested_schema)

    def __array__(self, dtype: object = None, copy: bool | None = None) -> npt.NDArray[Any]:
        return array(self._by_column())

    def to_pandas(self) -> Any:
        """The table as a data frame; needs pandas.

        Returns:
            A `pandas.DataFrame` with one row per row.

        Raises:
            LasthopError: pandas is not installed.
        """
        return pandas(self._by_column())

    def _text(self) -> tuple[list[str], list[list[str]]]:
        """Headings with units, and cells; columns of one unit have the same prefix."""
        scales = {unit: self._scale(unit) for unit in self.units.values()}
        of = {column: scales[unit] for column, unit in self.units.items()}
        head = [labelled(column, of[column][1]) if column in of else column for column in self.columns]
        return head, [
            [_cell(row[c], of[c][0] if c in of else 1.0) for c in self.columns] for row in self.rows
        ]

    def _scale(self, unit: str) -> tuple[float, str]:
        if unit == "%":
            return 0.01, unit
        cells = (row[column] for row in self.rows for column, own in self.units.items() if own == unit)
        sizes = [abs(value) for value in cells if isinstance(value, float) and math.isfinite(value)]
        return prefix(max(sizes, default=0.0), unit)

    def _by_column(self) -> dict[str, list[Any]]:
        return {name: [row[name] for row in self.rows] for name in self.columns}


@dataclass(frozen=True, slots=True)
class Sheet:
    """A table that is already text, with what it is about in one line.

    Attributes:
        about: The line above it.
        columns: Its headings.
        rows: The text of its cells.
        is_flush: Whether the columns after the first are flush right in plain text.

    >>> labels = [f"{kind}, {rate} Mbit/s, with a long name" for kind in ("none", "snoop") for rate in (1, 2)]
    >>> print(Sheet("goodput", ["loss", *labels], [["1 %", *"1234"]]).text())
    goodput
    loss                               1 %
    none, 1 Mbit/s, with a long name   1
    none, 2 Mbit/s, with a long name   2
    snoop, 1 Mbit/s, with a long name  3
    snoop, 2 Mbit/s, with a long name  4
    """

    about: str
    columns: list[str]
    rows: list[list[str]]
    is_flush: bool = False

    def text(self, form: str = "text") -> str:
        """The table in one of `FORMS`."""
        if form == "markdown":
            return f"{self.about}\n\n{markdown(self.columns, self.rows)}"
        if form == "latex":
            return latex(self.columns, self.rows, self.about)
        aligned = flushed if self.is_flush else grid
        text = aligned(self.columns, self.rows)
        if _width(text) > WIDE:
            # Many long headings fit better below each other.
            head, *body = map(list, zip(self.columns, *self.rows, strict=True))
            turned = aligned(head, body)
            text = turned if _width(turned) < _width(text) else text
        return f"{self.about}\n{text}"


FORMS = ("text", "markdown", "latex")
# A table of text that is wider is turned if that makes it narrower.
WIDE = 120


def _width(text: str) -> int:
    return max(map(len, text.split("\n")))


def html(columns: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """A table of HTML.

    >>> html(["x"], [["<1"]])
    '<table><thead><tr><th>x</th></tr></thead><tbody><tr><td>&lt;1</td></tr></tbody></table>'
    """
    from html import escape

    head = "".join(f"<th>{escape(text)}</th>" for text in columns)
    body = "".join(f"<tr>{''.join(f'<td>{escape(text)}</td>' for text in row)}</tr>" for row in rows)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def markdown(columns: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """A table of Markdown.

    >>> print(markdown(["x", "goodput"], [["1 %", "2.0 ± 0.1"]]))
    | x | goodput |
    | --- | --- |
    | 1 % | 2.0 ± 0.1 |
    """
    head = list(columns)
    lines = [head, ["---"] * len(head), *(list(row) for row in rows)]
    return "\n".join(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in line)} |" for line in lines)


_LATEX = {
    **{sign: f"\\{sign}" for sign in "&%$#_{}"},
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "±": r"$\pm$",
    "–": "--",
    "µ": r"\textmu{}",
    "≥": r"$\ge$",
    "≤": r"$\le$",
}


def latex(columns: Iterable[str], rows: Iterable[Iterable[str]], about: str = "") -> str:
    r"""A table of LaTeX that needs the package booktabs, with its caption as a comment.

    >>> print(latex(["x", "goodput"], [["1 %", "2.0 ± 0.1"]]))
    \begin{tabular}{lr}
    \toprule
    x & goodput \\
    \midrule
    1 \% & 2.0 $\pm$ 0.1 \\
    \bottomrule
    \end{tabular}
    """
    head = list(columns)

    def line(cells: Iterable[str]) -> str:
        return " & ".join("".join(_LATEX.get(sign, sign) for sign in cell) for cell in cells) + r" \\"

    return "\n".join(
        [
            *(f"% {text}" for text in about.split("\n") if text),
            rf"\begin{{tabular}}{{l{'r' * (len(head) - 1)}}}",
            r"\toprule",
            line(head),
            r"\midrule",
            *(line(row) for row in rows),
            r"\bottomrule",
            r"\end{tabular}",
        ]
    )


def _cell(value: object, factor: float = 1.0) -> str:
    if value is None or isinstance(value, float):
        return digits(None if value is None else value / factor)
    return str(value)


def grid(columns: list[str], rows: list[list[str]]) -> str:
    """Text in aligned columns, two spaces apart.

    >>> print(grid(["a", "b"], [["1", "long"], ["22", "x"]]))
    a   b
    1   long
    22  x
    """
    lines = [columns, *rows] if any(columns) else rows
    widths = [max(len(line[i]) for line in lines) for i in range(len(columns))] if lines else []
    return "\n".join(
        "  ".join(text.ljust(width) for text, width in zip(line, widths, strict=True)).rstrip()
        for line in lines
    )


def folded(
    head: list[str],
    rows: list[list[str]],
    most: list[int],
    width: int,
    paint: Callable[[str], str] = lambda text: text,
) -> str:
    """Text in aligned columns whose cells are wrapped, so that no line is longer than the width.

    Args:
        head: The names of the columns.
        rows: The cells.
        most: The greatest width of each column; 0 for the one that has what is left, at least twelve.
        width: The greatest width of a line.
        paint: Colours the first line of a cell.

    >>> print(folded(["a", "says"], [["1", "a long text"], ["two words", "x"]], [5, 0], 19))
    a      says
    1      a long text
    two    x
    words
    """
    lines = [head, *rows]
    natural = [max(len(line[i]) for line in lines) for i in range(len(head))]
    widths = [min(found, limit) if limit else 0 for found, limit in zip(natural, most, strict=True)]
    left = max(12, width - sum(widths) - 2 * (len(head) - 1))
    widths = [own or min(left, natural[i]) for i, own in enumerate(widths)]
    out = []
    for place, line in enumerate(lines):
        cells = [wrap(text, own) or [""] for text, own in zip(line, widths, strict=True)]
        for part in range(max(map(len, cells))):
            shown = [cell[part] if part < len(cell) else "" for cell in cells]
            padded = [
                (paint(text) if place and part == 0 and text else text) + " " * (own - len(text))
                for text, own in zip(shown, widths, strict=True)
            ]
            out.append("  ".join(padded).rstrip())
    return "\n".join(out)


def fitted(head: list[str], rows: list[list[str]], width: int) -> str:
    """Text in aligned columns that fits the width: the widest columns are wrapped, as little as it takes.

    Where a column has too little left, each row is a paragraph instead.

    >>> print(fitted(["a", "says"], [["1", "a text that is wrapped"]], 16))
    a  says
    1  a text that
       is wrapped
    """
    lines = [head, *rows]
    natural = [max(len(line[i]) for line in lines) for i in range(len(head))]
    room = width - 2 * (len(head) - 1)
    # Columns that need less than an equal part keep their width, the others share the rest.
    widths = list(natural)
    for left, place in enumerate(sorted(range(len(head)), key=natural.__getitem__)):
        widths[place] = min(natural[place], room // (len(head) - left))
        room -= widths[place]
    if all(own >= min(8, needs) for own, needs in zip(widths, natural, strict=True)):
        return folded(head, rows, widths, width)
    cells = [[f"{name}: {text}" for name, text in zip(head, row, strict=True) if text] for row in rows]
    return "\n\n".join("\n".join(fill(cell, width, subsequent_indent="  ") for cell in row) for row in cells)


def flushed(head: list[str], rows: list[list[str]]) -> str:
    """A grid whose columns after the first are flush right."""
    lines = [head, *rows]
    widths = [max(len(line[i]) for line in lines) for i in range(len(head))]
    flush = [[line[0], *(t.rjust(w) for t, w in zip(line[1:], widths[1:], strict=True))] for line in lines]
    return grid(flush[0], flush[1:])
