"""Draws figures/schemes.svg, the picture of the README: each of the four schemes with its rivals or controls.

    ./lasthop reproduce
    .venv/bin/python docs/make_headline.py [STUDIES]

STUDIES is where `reproduce` left its studies; default: studies/reproduce.
"""

import sys
import tempfile
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt

import lasthop as lh
from lasthop.figures.draw import draw, figure_named
from lasthop.figures.page import page
from lasthop.figures.style import save
from lasthop.study.study import Study

RIVALS = ["reno", "newreno", "westwood", "jtcp", "ejtcp"]
# Of each panel: the study, the figure of its scenario, and what is drawn otherwise.
PANELS: list[tuple[str, str, dict[str, Any]]] = [
    (
        "lle-tcp/sizes",
        "fig07-gain",
        {
            "title": "LLE-TCP over standard TCP",
            "y-label": "more throughput (%)",
            "names": {"paper": "as in the paper", "safe": "with TCP's guarantees"},
        },
    ),
    ("ejtcp/main", "fig10", {"title": "EJTCP and its rivals", "x-label": "loss (%)", "y-scale": "log"}),
    ("dynamic-arq/exponent", "exponent-gain", {"title": "Dynamic ARQ over three retransmissions"}),
    ("load-adaptive/controls", "controls-8", {"title": "Load-adaptive windows, and blind ones"}),
]


def rivals(folder: str) -> Study:
    """Five laws of Fig. 10: all ten would hide each other."""
    vary = {"flows.main.tcp.variant": RIVALS, "links.r2-d.loss.rate": "0 % .. 10 % step 1 %"}
    return lh.sweep(
        lh.load("ejtcp/fig10").set({"links.r1-r2.rate": "5 Mbit/s"}), vary=vary, out=f"{folder}/fig10"
    ).run()


def main(studies: str = "studies/reproduce") -> None:
    figure, axes = plt.subplots(2, 2, figsize=(10, 7.2), layout="constrained")
    with tempfile.TemporaryDirectory() as folder:
        for ax, (path, ident, changes) in zip(axes.flat, PANELS, strict=True):
            study = rivals(folder) if path == "ejtcp/main" else Study.open(Path(studies) / path)
            entry = {**figure_named(study.scenario, ident), **changes}
            draw(study, entry, page=page(caption=False, ax=ax))
    axes.flat[0].xaxis.set_major_formatter("{x:g}")
    save(figure, Path(__file__).parent / "figures" / "schemes.svg")


if __name__ == "__main__":
    main(*sys.argv[1:])
