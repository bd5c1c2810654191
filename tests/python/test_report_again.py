"""`report --live`: a report that runs its points again, in a headless Chromium, against native runs."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

import lasthop as lh
from browser import CONTRASTS, PROGRAM, Page
from conftest import SMALL
from lasthop.base import paths
from lasthop.papers.paper import paper
from lasthop.report.document import of_study
from lasthop.report.page import write
from lasthop.report.simulator import MODULE

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

pytestmark = pytest.mark.skipif(
    PROGRAM is None or not (paths.DATA / "web" / MODULE).is_file(), reason="chromium or the module is missing"
)

QUIC = SMALL[: SMALL.index("[sweep]")].replace(
    'tcp  = { profile = "ns2-2004", variant = "reno", min-rto = "200 ms" }', "quic = {}"
)


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> lh.Study:
    """A study under a setting, of a scenario with a link from a record."""
    folder = tmp_path_factory.mktemp("again")
    (folder / "record").write_text("\n".join(str(at) for at in range(4, 4000, 4)))
    text = SMALL.replace('kind  = "lossy"', 'kind  = "trace"\ntrace = { file = "record" }')
    text = text.replace('rate  = "2 Mbit/s"\n', "")
    (folder / "own.toml").write_text(text)
    scenario = lh.load(folder / "own.toml", [("run.duration", "2 s")])
    return scenario.sweep(replications=4, out=folder / "s").run()


@pytest.fixture(scope="module")
def page(tab: Page, study: lh.Study) -> Page:
    """The sheet of point 4 in the report of the study, on a phone in the dark."""
    file = study.path / "live.html"
    study.report(file, live=True)
    tab.size(390, mobile=True)
    tab.prefer("dark")
    tab.open(file)
    tab.do("openPoint(DATA.studies[0], 4)")
    return tab


def again(page: Page, changes: dict[str, str]) -> str:
    """Run the point with changed values by its form; what the page then shows."""
    page.do("$('.again').open = true")
    page.do(
        f"(() => {{ const [key, value] = $$('.again .setting input');"
        f"[key.value, value.value] = {json.dumps(next(iter(changes.items()), ('', '')))};"
        "$('.again form').requestSubmit(); })()"
    )
    page.until("!$('.again .main').disabled")
    return str(page.do("$('.again .later').innerText"))


def test_a_point_is_as_recorded_and_equals_the_native_run_to_the_bit(page: Page, study: lh.Study) -> None:
    values = 4 * len(study.metrics())
    assert f"All {values} values that this page has of these runs are as recorded." in again(page, {})
    for changes in ({}, {"links.path.delay": "25 ms"}, {"links.path.loss.rate": "2 %"}):
        pairs = json.dumps(list(changes.items()))
        script = f"rerun(DATA.studies[0], DATA.studies[0].points.points[4], {pairs}, 2, () => {{}})"
        runs = page.do(f"{script}.then((it) => Object.fromEntries(it.runs))")
        changed = study.scenario.set(changes)
        # A key that is given is not swept any more.
        point = 4 if "loss" not in str(changes) else 1
        for replication in range(2):
            native = changed.run(study.seed, replication, point)
            assert runs[str(replication)] == dict(native.metrics)


def test_other_values_are_compared_in_pairs_and_wrong_ones_are_explained(page: Page) -> None:
    shown = again(page, {"links.path.delay": "40 ms"})
    assert "Paired by their random numbers, n = 4" in shown
    assert "goodput of main" in shown
    assert "--point 4" in shown
    assert shown.rstrip().endswith("-s 'links.path.delay=40 ms'")
    assert page.do(CONTRASTS) == []
    assert page.do("document.scrollingElement.scrollWidth") == 390
    assert "40 has no unit; expected a time" in again(page, {"links.path.delay": "40"})
    assert page.problems == []
    assert [url for url in page.requests if not url.startswith(("file:", "blob:", "data:"))] == []


def test_studies_of_one_report_share_workers_where_their_files_are_the_same(
    tab: Page, study: lh.Study, tmp_path: Path
) -> None:
    """Two links from records of one name, a scenario without files, and one that the module cannot run."""
    (tmp_path / "record").write_text("\n".join(str(at) for at in range(8, 4000, 8)))
    texts = {
        "slower": study.scenario.text,
        "plain": SMALL,
        "other": SMALL.replace("10 ms", "11 ms"),
        "quic": QUIC,
    }
    document = of_study(study)
    document.paper = paper("i-tcp")
    for name, text in texts.items():
        (tmp_path / f"{name}.toml").write_text(text)
        scenario = lh.load(tmp_path / f"{name}.toml", [("run.duration", "1 s")])
        made = scenario.sweep(replications=1, out=tmp_path / name).run()
        document.parts += of_study(made).parts
    write(document, tmp_path / "live.html", live=True)
    tab.open(tmp_path / "live.html")
    found = tab.do(
        "(async () => { const found = []; for (const study of DATA.studies.slice(0, 4)) {"
        "const p = study.points.points[0], { runs } = await rerun(study, p, [], 1, () => {});"
        "found.push(recordedOf(study.points, p, runs)); } return found; })()"
    )
    assert all(it["same"] == it["known"] > 20 for it in found), found
    assert tab.do("POOLS.size") == 3
    tab.do("openPoint(DATA.studies[4], 0)")
    assert "Flows over QUIC run on the command line only" in tab.do("$('#runs').innerText")
    assert tab.problems == []


def test_only_a_live_report_has_the_simulator(
    study: lh.Study, within: Callable[..., object], tmp_path: Path
) -> None:
    study.report(tmp_path / "plain.html")
    within("report", str(study.path), "-o", "live.html", "--live")
    plain, live = ((tmp_path / name).read_text() for name in ("plain.html", "live.html"))
    assert 'id="module"' not in plain
    assert "wasm-unsafe-eval" not in plain
    assert 'id="module"' in live
