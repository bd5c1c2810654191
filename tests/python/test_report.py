"""The page of `lasthop report`: its numbers, its size, and that it loads nothing and runs only its own."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from matplotlib.cbook import boxplot_stats

import lasthop as lh
from conftest import HOP, SMALL
from lasthop import _core
from lasthop.figures import airtime
from lasthop.figures.lines import Mark
from lasthop.figures.style import COLOURS, DARK
from lasthop.papers.paper import paper
from lasthop.report import ladder, page, points
from lasthop.report.charts import FORMS, box, chart
from lasthop.report.curves import thin
from lasthop.report.document import of_paper, of_study
from lasthop.report.headline import headline
from lasthop.report.numbers import embedded, thinned
from lasthop.report.sections import card
from lasthop.report.sheet import LIMIT, asset
from studies import METRIC, failing

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable

    Cli = Callable[..., subprocess.CompletedProcess[str]]
HOSTILE = "</script><script>hacked=1</script><img src=x onerror=hacked=1> & \\\"'"


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> lh.Study:
    folder = tmp_path_factory.mktemp("report")
    (folder / "small.toml").write_text(SMALL)
    return lh.load(folder / "small.toml").sweep(replications=5, out=folder / "s").run()


@pytest.fixture(scope="module")
def text(study: lh.Study) -> str:
    return page.html(of_study(study))


def data(text: str) -> dict[str, Any]:
    (found,) = re.findall(r'<script type="application/json" id="data">(.*?)</script>', text, re.DOTALL)
    parsed: dict[str, Any] = json.loads(found)
    return parsed


def test_the_means_of_a_page_are_those_of_the_tables(study: lh.Study, text: str) -> None:
    found = data(text)["studies"][0]["points"]
    assert [m["name"] for m in found["metrics"]] == study.metrics()
    for place, metric in enumerate(found["metrics"]):
        for point, row in zip(found["points"], study.table(metric["name"]).rows, strict=True):
            mean, low, high, n = point["means"][place]
            for shown, given in ((mean, row["mean"]), (low, row["ci_low"]), (high, row["ci_high"])):
                assert shown == (None if given is None else pytest.approx(given, rel=1e-6, abs=1e-12))
            assert n == row["n"]
            values = list(study.values(point["point"], metric["name"]).values())
            assert point["runs"][place] == [v if v is None else pytest.approx(v, rel=1e-5) for v in values]


def test_the_lines_of_a_figure_are_those_of_the_tables(study: lh.Study, text: str) -> None:
    (figure,) = data(text)["studies"][0]["charts"]
    rows = {(row["flows.main.tcp.variant"], row["links.path.loss.rate"]): row for row in study.table(METRIC)}
    assert figure["panels"][0]["label"] == "goodput (Mbit/s)"
    for line, variant in zip(figure["panels"][0]["series"], ("reno", "newreno"), strict=True):
        assert line["x"] == [0, 1, 3]
        for place, loss in enumerate(("0 %", "1 %", "3 %")):
            row = rows[variant, loss]
            assert line["y"][place] == pytest.approx(row["mean"] / 1e6, rel=1e-6)
            assert line["low"][place] == pytest.approx(row["ci_low"] / 1e6, rel=1e-6)
            assert line["n"][place] == row["n"] == 5


def test_the_headline_is_the_paired_contrast(study: lh.Study) -> None:
    found = headline(study)
    contrasts = study.contrast(METRIC, "flows.main.tcp.variant").rows
    mean = sum(row["relative"] for row in contrasts) / len(contrasts)
    assert found.gains[0].gain.mean == pytest.approx(mean)
    assert found.gains[0].gain.n == 5
    assert re.match(r"NewReno (carries|and Reno cannot)", found.text)
    assert found.text.endswith("n = 5")


def test_the_same_study_gives_the_same_page(study: lh.Study, text: str, tmp_path: Path) -> None:
    study.report(tmp_path / "a.html")
    assert (tmp_path / "a.html").read_text(encoding="utf-8") == text


def test_a_page_loads_nothing_and_names_the_one_script_that_may_run(text: str) -> None:
    frame = text.split("<script>", maxsplit=1)[0]
    assert re.findall(r"""(?:src|href|action|data|poster)\s*=\s*["']?(?!#|data:)[^"'\s>]""", frame) == []
    assert re.findall(r"@import|url\((?!data:)", text) == []
    (policy,) = re.findall(r'http-equiv="Content-Security-Policy" content="([^"]+)"', text)
    assert policy.startswith("default-src 'none'; ")
    (script,) = re.findall(r"<script>(.*?)</script>", text, re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert f"script-src 'sha256-{digest}';" in policy
    for name in ("fetch(", "XMLHttpRequest", "WebSocket", "import(", "eval(", "innerHTML"):
        assert name not in "".join(asset(n) for n in page.SCRIPTS if not n.startswith("uPlot"))


def crowded(folder: Path, lines: int) -> lh.Study:
    """A study with a figure of this many lines."""
    variants = ["reno", "newreno", "tahoe", "sack", "cubic", "bbr", "vegas"][:lines]
    (folder / "crowded.toml").write_text(SMALL.replace('["reno", "newreno"]', json.dumps(variants)))
    return lh.load(folder / "crowded.toml").sweep(replications=4, out=folder / "c").run()


def hostile(folder: Path) -> lh.Study:
    quoted = json.dumps(HOSTILE)
    source = SMALL.replace('"Two TCPs on a short lossy path"', quoted).replace(
        'id    = "goodput"',
        f'id    = "goodput"\ntitle = {quoted}\nx-label = {quoted}\nnames = {{ reno = {quoted} }}',
    )
    (folder / "hostile.toml").write_text(source)
    return lh.load(folder / "hostile.toml").sweep(replications=1, out=folder / "h").run()


def test_text_of_a_scenario_is_never_html(tmp_path: Path) -> None:
    text = page.html(of_study(hostile(tmp_path)))
    assert "hacked=1" in text
    assert "<script>hacked" not in text
    assert "<img" not in text
    assert text.count("</script>") == 2
    found = data(text)
    assert found["title"] == found["studies"][0]["charts"][0]["title"] == HOSTILE


def test_a_page_that_grows_too_large_leaves_out_what_tells_least_and_says_so(
    study: lh.Study, text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert len(text.encode()) < LIMIT == 2_000_000
    monkeypatch.setattr(page, "ladder", lambda *_: None)
    text = page.html(of_study(study))
    whole = data(text)["studies"][0]["points"]
    rest = len(text.encode()) - len(embedded(whole).encode())
    said = []
    for room in (10_000, 5_500, 1_200):
        # The page keeps a reserve of 2000 bytes.
        limit = rest + room + 2_000
        shorter = page.html(of_study(study), limit)
        assert len(shorter.encode()) <= limit
        said.append(data(shorter)["studies"][0]["points"]["omitted"])
    assert "12 of 44 metrics." in said[0]
    assert "the first 3 of 5 replications" in said[1]
    assert "means without the single runs" in said[2]
    assert all(one.endswith("Means and intervals are over all runs.") for one in said)


def test_of_very_many_points_only_some_are_kept(study: lh.Study) -> None:
    found = points.points(study, 900)
    assert 0 < len(found["points"]) < len(study.plan)
    assert f"of {len(study.plan)} points" in found["omitted"]


def test_the_command_on_a_page_repeats_the_run(study: lh.Study, text: str, tmp_path: Path) -> None:
    found = data(text)["studies"][0]
    (tmp_path / "scenario.toml").write_text(found["text"])
    name, *words = shlex.split(found["points"]["command"].replace("--point 0", "--point 4"))
    assert name == "lasthop"
    words[words.index("--replication") + 1] = "2"
    command = [*words[:1], str(tmp_path / words[1]), *words[2:]]
    sc = lh.load(command[1])
    again = sc.run(seed=int(words[words.index("--seed") + 1]), replication=2, point=4)
    assert again.metrics[METRIC] == study.values(4, METRIC)[2]
    assert found["command"] == "lasthop sweep scenario.toml --replications 5 --seed 1"


def test_a_shipped_scenario_is_called_by_its_id(tmp_path: Path) -> None:
    changed = lh.load("examples/udp-cross").set({"run.duration": "2 s", "run.warmup": "0 s"})
    made = changed.sweep(replications=1, out=tmp_path / "u", where=["flows.main.tcp.variant=sack"]).run()
    text = page.html(of_study(made))
    found = data(text)["studies"][0]
    assert found["text"] is None
    assert found["command"] == (
        "lasthop sweep examples/udp-cross -s 'run.duration=2 s' -s 'run.warmup=0 s' "
        "--where flows.main.tcp.variant=sack --replications 1 --seed 1"
    )
    assert str(tmp_path) not in text


def test_every_value_has_its_default_and_source(study: lh.Study, text: str) -> None:
    found = data(text)
    rows = {row[0]: row[1:] for row in (found["rows"][i] for i in found["studies"][0]["values"])}
    assert set(rows) == {key for i in range(6) for key in study.scenario.resolved(i)}
    assert rows["flows.main.tcp.min-rto"] == [
        "200 ms",
        "file",
        "",
        "200 ms (modern); 1 s (rfc); 1 s (ns2-2004)",
    ]
    assert rows["links.path.loss.rate"][:2] == ["0 % | 1 % | 3 %", "sweep"]


def test_a_run_that_does_not_count_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "small.toml").write_text(SMALL)
    made = lh.load(tmp_path / "small.toml").sweep(replications=2, out=tmp_path / "s")
    monkeypatch.setattr("lasthop.study.sweep.execute", failing)
    with pytest.warns(RuntimeWarning, match="1 of 12 runs failed"):
        made.run(jobs=1)
    text = page.html(of_study(made))
    assert "1 run failed and does not count." in text
    assert data(text)["studies"][0]["points"]["points"][1]["status"] == {
        "0": "failed: x: it failed; expected it to work"
    }


def test_a_study_without_runs_has_a_page(tmp_path: Path) -> None:
    (tmp_path / "small.toml").write_text(SMALL)
    text = page.html(of_study(lh.load(tmp_path / "small.toml").sweep(out=tmp_path / "s")))
    assert "No run of this study has finished." in text
    assert "18 of 18 runs are missing" in text


def test_every_kind_of_figure_has_a_form() -> None:
    kinds = {entry["name"] for entry in json.loads(_core.registry())["figures"]}
    assert kinds == set(FORMS)


def test_airtime_and_time_are_the_numbers_of_the_figures(tmp_path: Path) -> None:
    (tmp_path / "hop.toml").write_text(HOP.replace('"tahoe"', '"reno"'))
    made = lh.load(tmp_path / "hop.toml").sweep(out=tmp_path / "s").run()
    bars, lines = (chart(made, figure, [], 1000) for figure in made.scenario.figures())
    for bar in bars["bars"]:
        assert sum(share[0] for share in bar["shares"]) == pytest.approx(100.0)
        data_ = made.values(bar["point"], "links.wlan.airtime_data_payload_s")
        assert bar["shares"][0][0] == pytest.approx(100 * sum(data_.values()) / 2 / 2.5)  # type: ignore[arg-type]
    assert [panel["label"] for panel in lines["panels"]][-1].startswith("received")
    few = thin(lines, 20)
    assert max(len(s["x"]) for panel in few["panels"] for s in panel["series"]) <= 20
    assert "thinned to at most 20 values" in few["caption"]


def test_a_figure_that_cannot_be_drawn_says_why(study: lh.Study) -> None:
    figure = {**study.scenario.figures()[0], "x": "run.bin"}
    found = chart(study, figure, [], 1000)
    assert found["error"] == "figure goodput: run.bin is not swept in the study; expected it to vary"


def test_published_values_are_marks_with_what_is_accepted(study: lh.Study) -> None:
    mark = Mark(METRIC, "Reno", "1 %", 1.5e6, 0.12e6)
    found = chart(study, study.scenario.figures()[0], [mark], 1000)
    assert found["panels"][0]["series"][0]["marks"] == [[1, 1.5, 0.12]]
    assert "bars at published values: what is accepted" in found["caption"]


@pytest.mark.parametrize(("lines", "is_crowded"), [(5, False), (6, True)])
def test_a_chart_of_six_lines_is_crowded_and_has_the_width_of_the_page(
    tmp_path: Path, lines: int, is_crowded: bool
) -> None:
    made = crowded(tmp_path, lines)
    found = chart(made, made.scenario.figures()[0], [], 1000)
    assert found["crowded"] is is_crowded
    assert ("grey: the other lines" in found["caption"]) is is_crowded
    assert ('class="card wide"' in card(0, 0, found)) is is_crowded


@pytest.mark.parametrize(
    "values", [[1.0, 2.0, 3.0, 4.0, 10.0], [5.0, 5.0], [2.0], [3.0, 1.0, 2.0, 9.0, 8.0, 40.0]]
)
def test_a_box_is_the_one_of_matplotlib(values: list[float]) -> None:
    (stats,) = boxplot_stats(values)
    *ends, beyond = box(values)
    assert ends == pytest.approx([stats[name] for name in ("whislo", "q1", "med", "q3", "whishi")])
    assert beyond == list(stats["fliers"])


def test_a_thinned_line_keeps_its_extremes() -> None:
    values = [float((i * 7919) % 1000) for i in range(5000)]
    values[1234], values[4321] = -50.0, 5000.0
    kept = thinned(values, 100)
    assert {0, 1234, 4321, 4999} <= set(kept)
    assert len(kept) <= 100
    assert kept == sorted(kept)


def luminance(colour: str) -> float:
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    r, g, b = (v / 12.92 if v <= 0.03928 else ((v + 0.055) / 1.055) ** 2.4 for v in parts)
    return 0.2126 * r + 0.7152 * g + 0.0722 * b


def contrast(one: str, other: str) -> float:
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def surfaces(name: str) -> str:
    (found,) = re.findall(rf'{name}: {{ name: "{name}".*?surface: "(#\w+)"', asset("looks.js"))
    return str(found)


@pytest.mark.parametrize(("theme", "colours"), [("light", COLOURS), ("dark", DARK)])
def test_the_colours_of_lines_can_be_seen_on_both_backgrounds(theme: str, colours: tuple[str, ...]) -> None:
    assert {colour: contrast(colour, surfaces(theme)) >= 3.0 for colour in colours} == dict.fromkeys(
        colours, True
    )
    assert len(set(colours)) == len(COLOURS)
    assert airtime.COLOURS.keys() == airtime.DARK.keys()


def test_ladders_are_kept_while_there_is_room(study: lh.Study, monkeypatch: pytest.MonkeyPatch) -> None:
    drawn = ladder.ladder(study, 0, 0)
    assert drawn is not None
    assert drawn.startswith("<svg ")
    assert "viewBox" in drawn
    with monkeypatch.context() as patched:
        patched.setattr(ladder, "_MOST_EVENTS", 1_000)
        assert ladder.ladder(study, 0, 0) is None, "it would take too long"
    monkeypatch.setattr(page, "ladder", lambda study, point, replication: f"<svg>{point}{'.' * 1000}</svg>")
    found = data(page.html(of_study(study)))["studies"][0]["ladders"]
    assert sorted(found) == ["0", "1", "2", "3", "4", "5"]
    assert found["3"]["0"].startswith("<svg>3")
    some = data(page.html(of_study(study), len(page.html(of_study(study)).encode()) - 150_000))["studies"][0]
    assert len(some["ladders"]) < 6


CLAIMS = """\
title = "A paper <b>"
[studies.main]
scenario = "paper/fig1"
[studies.other]
scenario = "paper/fig1"
[[statement]]
id = "s"
where = "Fig. 1"
says = "Reno <i>gets</i> 1.9 Mbit/s."
[[claim]]
id = "level"
statement = "s"
text = "Reno without loss"
metric = "flows.main.goodput_bps"
at = { "flows.main.tcp.variant" = "reno", "links.path.loss.rate" = "0 %" }
value = 1.9
tolerance = "10 %"
unit = "Mbit/s"
"""


def test_the_report_of_a_paper_has_its_statements_and_the_studies_that_are_there(
    make_library: Callable[..., Path],
) -> None:
    folder = make_library(CLAIMS)
    made = lh.load(folder / "scenarios" / "paper" / "fig1.toml")
    (folder / "studies" / "reproduce" / "paper").mkdir(parents=True)
    made.sweep(replications=4, out=folder / "studies" / "reproduce" / "paper" / "main").run()
    document = of_paper(paper("paper"), Path("studies/reproduce"))
    text = page.html(document)
    assert "<em>0 of 1</em> statements agree" in text
    assert "1 statement: 1 cannot be told. " in text
    assert '<td class="published">1.9 Mbit/s</td>' in text
    assert "Reno &lt;i&gt;gets&lt;/i&gt; 1.9 Mbit/s." in text
    assert '<span class="badge verdict-cannot-tell">cannot tell</span>' in text
    assert "1 of its 2 studies is on this page" in text
    targets = re.findall(r'href="#(part-\w+)"', text)
    assert targets == ["part-main"]
    assert all(f'id="{target}"' in text for target in targets)
    (figure,) = data(text)["studies"][0]["charts"]
    assert figure["panels"][0]["series"][0]["marks"] == [[0, 1.9, 0.19]]
    assert "None of its 2 studies are on this page" in page.html(of_paper(paper("paper"), Path("nowhere")))


def test_the_command_writes_a_page_into_the_study(study: lh.Study, text: str, cli: Cli) -> None:
    done = cli("report", study.path)
    assert (done.returncode, done.stdout) == (0, "")
    assert done.stderr.splitlines()[-1] == str(study.path / "report.html")
    assert (study.path / "report.html").read_text(encoding="utf-8") == text
