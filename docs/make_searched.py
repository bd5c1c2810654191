"""Searches for the constants of four schemes, and writes the tables of papers/searched.md:

    .venv/bin/python docs/make_searched.py

All runs go to studies/searched, from which an interrupted command continues. About ten minutes of two cores.
"""

import re
from dataclasses import dataclass, field
from pathlib import Path

import lasthop as lh
from lasthop.base.table import markdown
from lasthop.stats.intervals import interval

PAGE = Path(__file__).parents[1] / "papers" / "searched.md"
STUDIES = Path("studies") / "searched"
TRIALS, REPLICATIONS, CONFIRM = 80, 5, 20
OTHER_SEEDS = (2, 3)
SEED = 4
Settings = dict[str, str]
LOSS, PATH = "links.r2-d.loss", "links.r1-r2"
CELL, FRN = "links.cell.arq", "links.frn.frn"


@dataclass
class Search:
    """One search.

    Attributes:
        name: What is searched.
        scenario: The scenario.
        metric: The metric to make as large as possible.
        scale: By how much it is multiplied on the page.
        over: Ranges by key.
        places: Other places by their names on the page.
        controls: Settings by key of controls by their names; `None` is one that an earlier search has found.
    """

    name: str
    scenario: lh.Scenario
    metric: str
    scale: float
    over: Settings
    places: dict[str, Settings | lh.Scenario] = field(default_factory=dict)
    controls: dict[str, Settings] = field(default_factory=dict)

    def run(self, seed: int = 1) -> lh.Optimum:
        """Run it; with another seed than the first at the place of the choice alone."""
        is_first = seed == 1
        return self.scenario.search(
            self.metric,
            self.over,
            trials=TRIALS,
            replications=REPLICATIONS,
            confirm=CONFIRM,
            seed=seed,
            elsewhere=list(self.places.values()) if is_first else (),
            against=list(self.controls.values()) if is_first else (),
            out=STUDIES / f"{re.sub(r'[^a-z0-9]+', '-', self.name.lower())}-{seed}",
        )

    def text(self, found: lh.Optimum) -> str:
        """What was found."""
        known = self.scenario.resolved(0)
        chosen = [
            [f"`{key}`", f"`{self.over[key]}`", str(known[key]["value"]), value]
            for key, value in found.best.items()
        ]
        gain = 100 * (found.chosen / (found.default or 1) - 1)
        rows = []
        for name, one in zip(["where it was chosen", *self.places], found.confirmed, strict=True):
            shown = [one.default, one.best, *one.controls.values()]
            mean, half = change(one)
            cells = [f"{self.scale * (it.mean or 0):.4g}" for it in shown]
            rows.append([name, *cells[:2], f"{mean:+.1f} ± {half:.1f} %", *cells[2:]])
        head = ["where", "default", "chosen", "change", *self.controls]
        other = "".join(f"Seed {seed}: {self.line(self.run(seed))}.\n" for seed in OTHER_SEEDS)
        return (
            f"**{self.name}**, best of {TRIALS} trials; {gain:+.1f} % in the runs of the choice.\n\n"
            f"{markdown(['key', 'range', 'default', 'chosen'], chosen)}\n\n"
            f"{markdown(head, rows)}\n\n{other}\n"
        )

    def line(self, found: lh.Optimum) -> str:
        """The best values, and what they gain where they were chosen."""
        here = found.confirmed[0]
        mean, half = change(here)
        values = ", ".join(f"`{key.rpartition('.')[2]}` {value}" for key, value in found.best.items())
        return f"{values} ({mean:+.1f} ± {half:.1f} %)"


def change(one: lh.Confirmed) -> tuple[float, float]:
    """The difference to the default and the half-width of its interval, in per cent of the default."""
    base = one.default.mean or 1
    return 100 * (one.difference.mean or 0) / base, 100 * (one.difference.half or 0) / base


def wired(variant: str, over: Settings) -> Search:
    """The constants of a law on the path of EJTCP's Fig. 9, at 0, 1, 2 and 5 % loss."""
    own = {"flows.main.tcp.variant": variant, "run.duration": "100 s"}
    scenario = lh.load("ejtcp/fig10-baselines").set(own | {f"{PATH}.rate": "5 Mbit/s"})
    rivals = {"flows.rival.tcp.variant": "newreno", "flows.main.count": "1", "flows.rival.count": "1"}
    beside = lh.load("ejtcp/friendliness").set(own | rivals)
    return Search(
        variant.upper(),
        scenario.vary({f"{LOSS}.rate": ["0 %", "1 %", "2 %", "5 %"]}),
        "flows.main.goodput_bps",
        1e-6,
        {f"flows.main.tcp.{variant}.{key}": values for key, values in over.items()},
        {
            "bottleneck of 2 Mbit/s": {f"{PATH}.rate": "2 Mbit/s"},
            "round trip of 20 ms": {f"{PATH}.delay": "5 ms"},
            "round trip of 310 ms": {f"{PATH}.delay": "150 ms"},
            "queue of 10 packets": {f"{PATH}.queue": "10 packets"},
            "queue of 400 packets": {f"{PATH}.queue": "400 packets"},
            "beside a NewReno flow": beside,
        },
        {name: {"flows.main.tcp.variant": name.lower()} for name in ("NewReno", "CUBIC", "BBR")},
    )


def rival(search: Search, found: lh.Optimum) -> str:
    """What is left for the NewReno flow beside which the law runs."""
    place = search.places["beside a NewReno flow"]
    assert isinstance(place, lh.Scenario)
    goodputs = []
    for name, values in {"default": {}, "chosen": found.best}.items():
        study = (place.set(values) if values else place).sweep(
            CONFIRM, STUDIES / f"rival-{search.name.lower()}-{name}", seed=SEED
        )
        study.run()
        rows = [row for point in range(len(study.points())) for row in study.rows(point)]
        goodputs.append(
            interval([row.metrics["flows.rival.goodput_bps"] / 1e6 for row in rows if row.metrics])
        )
    default, chosen = goodputs
    shown = [f"{it.mean:.2f} ± {it.half:.2f}" for it in (default, chosen)]
    return f"The NewReno flow beside it carries {shown[0]} Mbit/s, and {shown[1]} with what was chosen.\n\n"


def cell(name: str, fixed: Settings, over: Settings, controls: dict[str, Settings]) -> Search:
    """The constants of an ARQ, as far as an access point can follow the timers: 15 clients at 55 m."""
    both = {"nodes.client.count": "15", "nodes.server.count": "15", "run.duration": "100 s"}
    few = {"nodes.client.count": "5", "nodes.server.count": "5"}
    far = {"links.path.rtt.uniform.min": "100 ms", "links.path.rtt.uniform.max": "300 ms"}
    noisy = {"links.cell.loss.bit.ber": "3e-4", "run.duration": "100 s"}
    # Swept, so that a control may leave them without a meaning.
    own = {key: [value] for key, value in ({f"{CELL}.kind": "dynamic"} | fixed).items()}
    places: dict[str, Settings | lh.Scenario] = {
        f"{metres} m": {"nodes.client.place.circle.radius": f"{metres} m"} for metres in (25, 40, 70)
    }
    places |= {
        "5 clients": few,
        "paths of 100 to 300 ms": far,
        "fading at 0.1 m/s": {"links.cell.propagation.fading.speed": "0.1 m/s"},
        "independent bit errors, 3e-4": lh.load("dynamic-arq/ber").set(noisy).vary(own),
    }
    return Search(
        name,
        lh.load("dynamic-arq/clients").set(both).vary(own),
        "flows.down.goodput_bps",
        1e-3,
        {f"{CELL}.{key}": values for key, values in over.items()},
        places,
        controls,
    )


def mesh(name: str, fixed: Settings, over: Settings, controls: dict[str, Settings]) -> Search:
    """The windows of the FRN over chains of 4 and 8 hops."""
    own = {f"{FRN}.{key}": value for key, value in ({"window": "5", "max-window": "17"} | fixed).items()}
    return Search(
        name,
        lh.load("load-adaptive/controls").set(own),
        "links.frn.segments_per_slot",
        1.0,
        {f"{FRN}.{key}": values for key, values in over.items()},
        {
            "5 % errors": {f"{FRN}.error-rate": "5 %"},
            "carrier sensed at 550 m": {f"{FRN}.carrier-sense-range": "550 m"},
            "the mesh of 19 nodes": lh.load("load-adaptive/fig11").set(own | {f"{FRN}.error-rate": "0 %"}),
        },
        controls,
    )


def chosen(search: Search, fixed: Settings) -> tuple[str, Settings]:
    """What a search of a control has found, and its best values with what makes it a control."""
    search.places = {}
    found = search.run()
    return f"{search.name}, chosen: {search.line(found)}.\n\n", fixed | found.best


def main() -> None:
    law = {"k": "log:0.02..100", "jitter-window": "round|cwnd"}
    laws = [
        wired(
            "ejtcp",
            law
            | {
                "alpha": "0.3..1.0",
                "double-retransmission": "0.1 %..20 %",
                "smooth": "1..20 segments",
                "after-random-timeout": "keep|slow-start|half|reno",
            },
        ),
        wired("jtcp", law | {"timeout-rule": "reno|half"}),
    ]
    text = ""
    for search in laws:
        found = search.run()
        text += search.text(found) + rival(search, found)

    order = {"order": "together|new-first|retransmissions-first", "priority": "strict|pass"}
    limits = {"limit": "count|none", "reorder-timeout": "none|20 ms|100 ms|500 ms"}
    blind, one = {f"{CELL}.queues": "three", f"{CELL}.time": "none"}, {f"{CELL}.queues": "one"}
    arrival, in_arrival = chosen(cell("Order of arrival", blind, order | limits, {}), blind)
    single, in_one = chosen(cell("One queue", one, limits, {}), one)
    timers = {"urgent": "heads|all", "hopeless": "send|demote|drop", "restart": "true|false"}
    timers |= {"assumed-min-rto": "log:10 ms..1000 ms"}
    controls = {"order of arrival, chosen": in_arrival, "one queue, chosen": in_one}
    controls |= {"three in a row": {f"{CELL}.kind": "fixed"}}
    timed = {f"{CELL}.queues": "three", f"{CELL}.time": "left", f"{CELL}.timing": "estimate"}
    aware = cell("Dynamic ARQ, timers estimated", timed, order | limits | timers, controls)
    text += aware.text(aware.run()) + arrival + single

    windows = {"window": "3..25", "max-window": "3..41"}
    turns, in_turn = chosen(
        mesh("Windows in turn", {"interval": "blind"}, windows, {}), {f"{FRN}.interval": "blind"}
    )
    still, fixed = chosen(
        mesh("Fixed windows", {"interval": "blind", "max-window": "3"}, {"window": "3..25"}, {}),
        {f"{FRN}.interval": "blind", f"{FRN}.max-window": "3"},
    )
    load = {"history": "log:1..100", "saturation": "10 %..100 %"}
    adaptive = mesh(
        "Load-adaptive windows",
        {"interval": "load-adaptive"},
        windows | load,
        {"in turn, chosen": in_turn, "fixed, chosen": fixed},
    )
    text += adaptive.text(adaptive.run()) + turns + still
    page = PAGE.read_text(encoding="utf-8")
    place = re.compile(r"(<!-- tables -->\n).*?(<!-- end of tables -->\n)", re.DOTALL)
    assert place.search(page), f"{PAGE} has no place for the tables"
    PAGE.write_text(place.sub(lambda match: match[1] + text + match[2], page), encoding="utf-8")


if __name__ == "__main__":
    main()
