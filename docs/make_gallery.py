"""Writes gallery.md, a page with every kind of figure, and its pictures.

    .venv/bin/python docs/make_gallery.py

`tests/python/test_docs.py` fails while a kind is missing.
"""

from pathlib import Path
from tempfile import TemporaryDirectory

import lasthop as lh
from lasthop.figures.draw import draw
from lasthop.figures.style import save

PAGE = Path(__file__).with_name("gallery.md")
HEAD = """# Gallery

<!-- Written by make_gallery.py; not edited by hand. -->

Every kind of figure, from short runs of shipped scenarios; [](figures.md) describes them. `.venv/bin/python
docs/make_gallery.py` draws them again.
"""
RATE, VARIANT = "links.r2-d.loss.rate", "flows.main.tcp.variant"
GOODPUT = "flows.main.goodput_bps"
TCPS = {"where": {"links.r1-r2.rate": "5 Mbit/s"}}
SERIES = {**TCPS, "x": RATE, "x-label": "loss on the last hop (%)", "lines": VARIANT, "y": GOODPUT}
FIVE = (
    "ejtcp/fig10-baselines",
    {"run.duration": "60 s", "links.r1-r2.rate": "5 Mbit/s"},
    {RATE: ["1 %", "2 %", "4 %", "8 %"], VARIANT: ["reno", "newreno", "sack", "cubic", "ejtcp"]},
)
HOP = ("lle-tcp/airtime", {"run.duration": "20 s"}, None)
FILE = ("lle-tcp/fig08", {}, None)
SHARE = ("ejtcp/friendliness", {"run.duration": "60 s", "run.warmup": "5 s"}, None)
USERS = ("dynamic-arq/classes", {"run.duration": "60 s", "run.warmup": "5 s"}, None)
# Heading, scenario with settings and sweep, and the figure; without it the scenario's own of that kind.
FIGURES = {
    "lines": (
        "Lines: a metric against a swept key",
        FIVE,
        {**SERIES, "title": "Five TCPs, 5 Mbit/s", "y-scale": "log"},
    ),
    "lines-words": (
        "Lines over words: dots side by side",
        FIVE,
        {**SERIES, "x": VARIANT, "x-label": "TCP", "lines": RATE, "title": "Goodput of five TCPs by loss"},
    ),
    "bar": ("Bars", FIVE, {**SERIES, "title": "Five TCPs as bars"}),
    "box": ("Boxes: how runs differ", FIVE, {**SERIES, "title": "Five TCPs as boxes"}),
    "lines-metrics": (
        "Several metrics",
        FIVE,
        {
            **SERIES,
            "y": [GOODPUT, "flows.main.rtt_mean_s", "flows.main.timeouts"],
            "title": "Goodput, round trip, timeouts",
        },
    ),
    "scatter": (
        "Scatter: a metric against another",
        FIVE,
        {
            "lines": VARIANT,
            "against": "flows.main.timeouts",
            "y": GOODPUT,
            "title": "Goodput against timeouts",
        },
    ),
    "matrix": ("Matrix", SHARE, None),
    "airtime": ("Airtime", HOP, None),
    "time": ("Over time", FILE, None),
    "cdf": (
        "Response times",
        USERS,
        {
            "class": "web",
            "flow": "down",
            "lines": "links.cell.arq.kind",
            "where": {"flows.down.app.mix.by": "client"},
            "title": "Web pages through four kinds of ARQ",
            "names": {
                "fixed, left, three": "three retransmissions",
                "dynamic, left, three": "dynamic ARQ, oracle",
                "dynamic, none, three": "order of arrival",
                "dynamic, left, one": "one queue",
            },
        },
    ),
}


def main() -> None:
    """Run the scenarios, draw the figures and write the page."""
    parts = [HEAD]
    studies: dict[str, lh.Study] = {}
    with TemporaryDirectory() as folder:
        for name, (heading, (ident, settings, vary), given) in FIGURES.items():
            if ident not in studies:
                out = Path(folder) / ident.replace("/", "-")
                made = lh.load(ident).set(settings).sweep(out=out, vary=vary, replications=5)
                studies[ident] = made.run()
            study, kind = studies[ident], name.partition("-")[0]
            own = next((f for f in study.scenario.figures() if f["kind"] == kind), {})
            save(
                draw(study, {**(given or own), "id": name, "kind": kind}),
                PAGE.parent / "figures" / f"gallery-{name}.svg",
            )
            about = f'`kind = "{kind}"`, from `{ident}`:'
            parts.append(f"## {heading}\n\n{about}\n\n![{heading}](figures/gallery-{name}.svg)\n")
    PAGE.write_text("\n".join(parts), encoding="utf-8")


if __name__ == "__main__":
    main()
