"""A figure that a notebook displays; imported only when something is drawn."""

from __future__ import annotations

from io import BytesIO
from typing import Any

import matplotlib as mpl
from matplotlib.figure import Figure

from lasthop.figures.style import STYLE

# Dots per inch of the picture in a notebook, and its dots per dot of the page.
_DPI, _PER_DOT = 200.0, 2


class ShownFigure(Figure):
    """A matplotlib figure with a picture for notebooks; it saves fonts as journals accept them."""

    def savefig(self, fname: Any, **kwargs: Any) -> None:
        """Save the figure as matplotlib does, in the common style."""
        with mpl.rc_context(STYLE):
            super().savefig(fname, **kwargs)

    def _repr_png_(self) -> tuple[bytes, dict[str, Any]]:
        picture = BytesIO()
        self.savefig(picture, format="png", dpi=_DPI)
        width, height = (round(side * _DPI / _PER_DOT) for side in self.get_size_inches())
        return picture.getvalue(), {"width": width, "height": height}
