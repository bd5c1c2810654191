"""A drawing as plain shapes in points, from which SVG and matplotlib figures are made."""

from __future__ import annotations

from dataclasses import dataclass, field
from html import escape
from typing import TYPE_CHECKING, Any

from lasthop.figures.style import STYLE

if TYPE_CHECKING:
    from collections.abc import Iterator

    from matplotlib.figure import Figure

Point = tuple[float, float]

# Pixels per point on a screen.
_PIXELS = 4.0 / 3.0
_FONT = "DejaVu Sans, Verdana, sans-serif"
# The mean width of a letter of the font, and the line height, in units of the font size.
_LETTER, _LINE = 0.6, 1.15
# Points between a text and the side of its plate.
_ASIDE = 1.5


@dataclass(frozen=True, slots=True)
class Line:
    """A line through points."""

    points: tuple[Point, ...]
    colour: str
    width: float = 1.0
    dashes: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True)
class Area:
    """A filled polygon."""

    points: tuple[Point, ...]
    colour: str
    edge: str = "none"


@dataclass(frozen=True, slots=True)
class Text:
    """A line of text; its position is the middle of its height. A plate hides what is drawn behind it."""

    x: float
    y: float
    text: str
    size: float
    colour: str = "#000000"
    anchor: str = "middle"
    bold: bool = False
    plate: bool = False

    @property
    def width(self) -> float:
        """Its approximate width."""
        return len(self.text) * self.size * (_LETTER + 0.06 * self.bold)

    @property
    def box(self) -> tuple[float, float, float, float]:
        """Left, top, right, bottom."""
        left = self.x - {"start": 0.0, "middle": 0.5, "end": 1.0}[self.anchor] * self.width
        half = 0.5 * _LINE * self.size
        return left, self.y - half, left + self.width, self.y + half


Shape = Line | Area | Text


@dataclass(slots=True)
class Group:
    """Shapes that belong together.

    Attributes:
        kind: The kind, which is the class of the group in SVG.
        text: The text shown when pointing at them.
        shapes: The shapes, drawn in order.
    """

    kind: str
    text: str = ""
    shapes: list[Shape] = field(default_factory=list)


@dataclass(slots=True)
class Scene:
    """A drawing with a width and a height in points, y downwards."""

    width: float
    height: float
    title: str
    groups: list[Group] = field(default_factory=list)

    def shapes(self) -> Iterator[Shape]:
        """All shapes, in drawing order."""
        for group in self.groups:
            yield from group.shapes


def overlap(one: tuple[float, ...], other: tuple[float, ...]) -> bool:
    """Whether two boxes overlap.

    >>> overlap((0, 0, 2, 2), (1, 1, 3, 3)), overlap((0, 0, 1, 1), (1, 0, 2, 1))
    (True, False)
    """
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]


def svg(scene: Scene, *, background: bool = True) -> str:
    """A drawing as SVG; groups have their text as title and label."""
    size = f'width="{_number(scene.width * _PIXELS)}" height="{_number(scene.height * _PIXELS)}"'
    view = f'viewBox="0 0 {_number(scene.width)} {_number(scene.height)}"'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" {size} {view} role="img" class="ladder"'
    parts = [f'{head} font-family="{_FONT}" aria-label="{escape(scene.title)}">']
    if background:
        parts.append('<rect class="paper" width="100%" height="100%" fill="#ffffff"/>')
    for group in scene.groups:
        label = f' role="img" aria-label="{escape(group.text)}"' if group.text else ""
        parts.append(f'<g class="{group.kind}"{label}>')
        if group.text:
            parts.append(f"<title>{escape(group.text)}</title>")
        parts += [_element(shape) for shape in group.shapes]
        parts.append("</g>")
    return "\n".join([*parts, "</svg>"]) + "\n"


def _element(shape: Shape) -> str:
    if isinstance(shape, Line):
        points = " ".join(f"{_number(x)},{_number(y)}" for x, y in shape.points)
        dashes = f' stroke-dasharray="{" ".join(map(_number, shape.dashes))}"' if shape.dashes else ""
        style = f'fill="none" stroke="{shape.colour}" stroke-width="{_number(shape.width)}"{dashes}'
        return f'<polyline points="{points}" {style}/>'
    if isinstance(shape, Area):
        points = " ".join(f"{_number(x)},{_number(y)}" for x, y in shape.points)
        return f'<polygon points="{points}" fill="{shape.colour}" stroke="{shape.edge}"/>'
    place = (
        f'x="{_number(shape.x)}" y="{_number(shape.y + 0.35 * shape.size)}" font-size="{_number(shape.size)}"'
    )
    weight = ' font-weight="bold"' if shape.bold else ""
    halo = 'stroke="#ffffff" stroke-width="2" stroke-linejoin="round" paint-order="stroke"'
    style = f'fill="{shape.colour}" text-anchor="{shape.anchor}"{weight} {halo}'
    plate = ""
    if shape.plate:
        left, top, right, bottom = shape.box
        size = f'width="{_number(right - left + 2 * _ASIDE)}" height="{_number(bottom - top)}"'
        plate = f'<rect class="plate" x="{_number(left - _ASIDE)}" y="{_number(top)}" {size} fill="#ffffff"/>'
    return f"{plate}<text {place} {style}>{escape(shape.text)}</text>"


def _number(value: float) -> str:
    """A number with at most two decimals.

    >>> _number(2.0), _number(1.005), _number(-0.001)
    ('2', '1', '0')
    """
    text = f"{value:.2f}".rstrip("0").rstrip(".")
    return "0" if text == "-0" else text


def figure(scene: Scene) -> Figure:
    """A drawing as a matplotlib figure, for png and pdf."""
    import matplotlib as mpl
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.lines import Line2D
    from matplotlib.patches import Polygon
    from matplotlib.patheffects import withStroke

    from lasthop.figures.shown import ShownFigure

    with mpl.rc_context(STYLE):
        drawn = ShownFigure(figsize=(scene.width / 72.0, scene.height / 72.0), facecolor="white")
        FigureCanvasAgg(drawn)
        axes = drawn.add_axes((0.0, 0.0, 1.0, 1.0))
        axes.set_xlim(0.0, scene.width)
        axes.set_ylim(scene.height, 0.0)
        axes.set_axis_off()
        for order, shape in enumerate(scene.shapes()):
            style: dict[str, Any] = {"zorder": order}
            if isinstance(shape, Line):
                xs, ys = zip(*shape.points, strict=True)
                dashes: Any = (0.0, tuple(d / shape.width for d in shape.dashes)) if shape.dashes else "-"
                style |= {"color": shape.colour, "linewidth": shape.width, "linestyle": dashes}
                axes.add_line(Line2D(xs, ys, dash_capstyle="butt", **style))
            elif isinstance(shape, Area):
                style |= {"facecolor": shape.colour, "edgecolor": shape.edge}
                axes.add_patch(Polygon(shape.points, closed=True, linewidth=1.0, **style))
            else:
                anchor = {"start": "left", "middle": "center", "end": "right"}[shape.anchor]
                style |= {
                    "fontsize": shape.size,
                    "color": shape.colour,
                    "ha": anchor,
                    "va": "center_baseline",
                }
                style |= {"weight": "bold" if shape.bold else "normal"}
                halo = [withStroke(linewidth=2.0, foreground="white")]
                if shape.plate:
                    style["bbox"] = {"facecolor": "white", "edgecolor": "none", "pad": 0.0}
                axes.text(shape.x, shape.y, shape.text, path_effects=halo, **style)
    return drawn
