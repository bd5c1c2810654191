"""`lasthop studio`: the simulator in a page, in a headless Chromium, against the native one."""

from __future__ import annotations

import functools
import json
import random
import re
import subprocess
import threading
import tomllib
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import lasthop as lh
from browser import CONTRASTS, Page
from conftest import HOP, SMALL, SOAK
from lasthop import _core
from lasthop.base import paths
from lasthop.base.errors import UsageError
from lasthop.report import studio
from lasthop.report.studio import Studio
from studios import in_chromium, loaded, press, ran, written

if TYPE_CHECKING:
    from collections.abc import Callable

# The checked extension takes ten times as long.
MOST_EVENTS = 50_000 if _core.is_checked and not SOAK else 1_000_000


@pytest.mark.slow
@in_chromium
def test_each_shipped_scenario_has_the_same_metrics_in_the_page(page: Page) -> None:
    compared, listed = 0, {it["name"] for it in json.loads(Studio(None).listing())["scenarios"]}
    for name, file in paths.shipped().items():
        scenario = lh.load(file)
        native = scenario.run(max_events=MOST_EVENTS)
        call = {"do": "run", "point": 0, "max_events": MOST_EVENTS}
        text = json.dumps(file.read_text())
        about = f"{{ text: {text}, name: 'scenario.toml', key: {text} }}"
        found = page.do(f"pool.engines[0].about({about}, {json.dumps(call)})")
        if name not in listed:
            assert "QUIC in a build without its stack" in found["error"], name
            continue
        assert "error" not in found, f"{name}: {found}"
        assert found["events"] == native.events, name
        assert found["metrics"] == dict(native.metrics), name
        compared += 1
    assert compared > 100
    assert page.problems == []


@in_chromium
def test_each_of_200_random_edits_ends_in_a_result_or_an_error_with_a_line(page: Page) -> None:
    draws = random.Random(43)
    shipped = [file.read_text() for file in paths.shipped().values()]
    ends = {"result": 0, "error": 0}
    for _ in range(200):
        text = edited(draws, draws.choice(shipped))
        faults = written(page, text)
        if faults:
            assert all(isinstance(it["line"], int) or it["line"] is None for it in faults)
            assert any(it["line"] for it in faults), faults
            assert page.do("$('#state').textContent.startsWith('line ')")
            ends["error"] += 1
            continue
        # The worker that has checked it has it open.
        found = page.do('checker.ask({ call: { do: "run", point: 0, max_events: 2000 } })')
        assert found.get("events") or "memory" in found["error"], found
        ends["result"] += 1
    assert min(ends.values()) > 20
    assert written(page, SMALL) == []
    assert page.problems == []


def edited(draws: random.Random, text: str) -> str:
    """A text after one to three mistakes or changes of a writer."""
    for _ in range(draws.randint(1, 3)):
        lines = text.split("\n")
        at = draws.randrange(len(lines))
        match draws.randrange(6):
            case 0:
                place = draws.randrange(len(text))
                text = text[:place] + text[place + 1 :]
            case 1:
                lines.insert(at, draws.choice(lines))
                text = "\n".join(lines)
            case 2:
                del lines[at]
                text = "\n".join(lines)
            case 3:
                digits = [i for i, sign in enumerate(text) if sign.isdigit()]
                place = draws.choice(digits)
                text = text[:place] + str(draws.randrange(10)) + text[place + 1 :]
            case 4:
                lines[at] = draws.choice(
                    ["[links", 'kind = "wifi"', "x = ", "}", '"', "[flows.main]", "é", "\t"]
                )
                text = "\n".join(lines)
            case 5:
                place = draws.randrange(len(text))
                text = text[:place] + draws.choice("\"'[]{}=.,# \n0%") + text[place:]
    return text


@in_chromium
def test_an_error_is_underlined_where_it_is_and_has_the_words_of_the_command_line(page: Page) -> None:
    text = SMALL.replace('"10 ms"', '"10"')
    (fault,) = written(page, text)
    with pytest.raises(lh.ScenarioError) as raised:
        lh.Scenario.from_text(text, "scenario.toml")
    assert fault["text"] in str(raised.value)
    assert f":{fault['line']}: {fault['key']}: " in str(raised.value)
    page.until("!!$('.cm-lintRange-error')")
    assert page.do("$('.cm-lintRange-error').textContent") == '"10"'


@in_chromium
def test_an_unknown_key_is_underlined_itself(page: Page) -> None:
    written(page, SMALL.replace("delay", "dellay"))
    page.until("!!$('.cm-lintRange-error')")
    assert page.do("$('.cm-lintRange-error').textContent") == "dellay"


@in_chromium
def test_after_a_panic_in_the_simulator_the_page_lives_on_with_a_fresh_worker(page: Page) -> None:
    written(page, SMALL)
    page.do("$('#replications').value = 1, null")
    # A worker that says of a call for point 3 that it is as long as half of the memory: the module panics.
    wrong = (
        "const encode = UTF8.encode.bind(UTF8);"
        'UTF8.encode = (text) => (/"point":3/.test(text) ? { length: 2 ** 31 } : encode(text));'
    )
    page.do(f"for (const it of pool.engines) {{ it.end(''); it.source += {json.dumps(wrong)}; }}")
    # One worker, and a count of those that are started.
    page.do(
        "(pool.engines[0].end(''), pool.engines.length = 1, window.started = 0,"
        "window.Worker = class extends Worker { constructor(url) { super(url); started++; } }, null)"
    )
    page.do("run()")
    said = page.do("$('#state').textContent")
    assert re.fullmatch(r"the simulator failed: panicked at \S+: capacity overflow", said), said
    assert page.do("panels.results.rows.map((it) => it.size)") == [1, 1, 1, 0, 1, 1]
    assert page.do("started") == 2
    page.do("for (const it of pool.engines) { it.end(''); it.source = $('#worker').textContent; }")
    ran(page)
    assert page.do("panels.results.rows.map((it) => it.size)") == [1] * 6
    assert page.problems == []
    # It has one worker only.
    page.go("about:blank")


@in_chromium
def test_many_runs_take_no_more_memory_than_two(page: Page) -> None:
    written(page, HOP)
    # In the page itself, where its memory can be seen.
    before, after = page.do(
        "(async () => {"
        "const { instance: { exports: it } } = await WebAssembly.instantiateStreaming("
        "fetch('lasthop.wasm'), { page: { reached() {} } });"
        "const lent = (value) => { const bytes = new TextEncoder().encode(JSON.stringify(value));"
        "const at = it.reserve(bytes.length) >>> 0;"
        "new Uint8Array(it.memory.buffer, at, bytes.length).set(bytes); return [at, bytes.length]; };"
        "const call = (value) => { const packed = BigInt.asUintN(64, it.call(...lent(value)));"
        "it.release(Number(packed >> 32n), Number(packed & 0xffffffffn)); };"
        "call({ do: 'open', text: editor.text });"
        "const run = () => call({ do: 'run', point: 1, trace: ['events'] });"
        "run(); run(); const before = it.memory.buffer.byteLength;"
        "for (let i = 0; i < 30; i++) run();"
        "return [before, it.memory.buffer.byteLength]; })()"
    )
    assert after == before


@in_chromium
def test_what_is_written_for_another_host_is_the_same_page(
    tab: Page, tmp_path: Path, within: Callable[..., subprocess.CompletedProcess[str]]
) -> None:
    done = within("studio", "-o", "site")
    assert done.stderr.endswith("site/index.html\n"), done.stderr
    handler = functools.partial(Quiet, directory=str(tmp_path / "site"))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        runs = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
        runs.start()
        loaded(tab, f"http://127.0.0.1:{server.server_port}/")
        ran(tab)
        assert tab.problems == []
        tab.go("about:blank")
        server.shutdown()
        runs.join()


class Quiet(SimpleHTTPRequestHandler):
    """A host of files that lists no requests."""

    def log_message(self, *_: Any, **__: Any) -> None:
        """List nothing."""


@pytest.mark.parametrize(
    "change",
    [
        ("title = ", "title = 2026-01-01 #"),
        ("title = ", "title = nan #"),
        ('["a", "b"]', "5"),
        ("title", "[" * 5000),
    ],
)
def test_a_scenario_with_wrong_values_is_opened(tmp_path: Path, change: tuple[str, str]) -> None:
    assert change[0] in SMALL
    file = tmp_path / "mine.toml"
    file.write_text(SMALL.replace(*change))
    opened = Studio(str(file)).scenarios[0]
    assert opened["title"] in ("mine.toml", tomllib.loads(SMALL)["title"])
    assert opened["text"] == file.read_text()


def test_files_beside_a_scenario_that_are_not_text_are_left_out(tmp_path: Path) -> None:
    (tmp_path / "traces").mkdir()
    (tmp_path / "traces" / "phone.jpg").write_bytes(b"\xff\xd8")
    (tmp_path / "traces" / "cell.up").write_text("1")
    (tmp_path / "mine.toml").write_text(SMALL)
    files = json.loads(Studio(str(tmp_path / "mine.toml")).listing())["files"]
    assert "traces/cell.up" in files
    assert "traces/phone.jpg" not in files


@in_chromium
def test_completion_offers_keys_values_and_names(page: Page) -> None:
    def offered(before: str) -> list[str]:
        page.do(f"(editor.text = {json.dumps(before)}, null)")
        script = (
            "editor.complete({ pos: editor.text.length, explicit: true, matchBefore: (it) => { const found ="
            "it.exec(editor.text); return { from: found.index, to: editor.text.length, text: found[0] }; } })"
        )
        return list(page.do(f"({script}?.options ?? []).map((it) => it.label)"))

    assert {"duration", "seed"} <= set(offered("[run]\ndu"))
    assert "nodes" in offered("[links.a]\n")
    assert "rate" in offered("[links.a]\nloss = { r")
    assert "cubic" in offered('[flows.f]\ntcp.variant = "c')
    assert "alice" in offered('[nodes]\nalice = {}\n[flows.f]\nfrom = "')


@in_chromium
def test_a_pointer_over_a_key_shows_what_explain_says(page: Page) -> None:
    at = SMALL.index("delay") + 1
    said = page.do(f"editor.hover({at}).create().dom.textContent")
    about = json.loads(_core.explain("links.path.delay"))
    assert about["meaning"] in said


@in_chromium
def test_stop_ends_the_runs_and_the_page_lives_on(page: Page) -> None:
    written(page, SMALL.replace('"3 s"', '"3000 s"'))
    page.do("void run()")
    # While no run is done, the page shows how far they are.
    page.until("$('#progress').value > 0 && $('#done').textContent.endsWith('% simulated')")
    assert page.do("$('#done').textContent").startswith("0 of ")
    press(page, "#stop")
    page.until("!state.running")
    assert page.do("$('#state').textContent").startswith("Stopped after ")
    written(page, SMALL)
    ran(page)
    assert page.problems == []


@in_chromium
def test_a_slider_writes_its_number_into_the_scenario(page: Page) -> None:
    written(page, SMALL)
    page.do(f"editor.view.dispatch({{ selection: {{ anchor: {SMALL.index('10 ms')} }} }})")
    press(page, "#add-knob")
    page.until("!!$('.knob input')")
    page.do("(() => { const it = $('.knob input'); it.value = 14; it.dispatchEvent(new Event('input')); })()")
    assert 'delay = "14 ms"' in page.do("editor.text")
    assert page.do("$('.knob output').textContent") == "14 ms"


@in_chromium
def test_a_link_holds_the_scenario(page: Page, served: Any) -> None:
    text = SMALL.replace("10 ms", "17 ms")
    written(page, text)
    fragment = page.do("packed({ name: 'other.toml', text: editor.text })")
    loaded(page, f"{served[0].address}#s={fragment}")
    assert page.do("editor.text") == text
    assert page.do("state.faults.length") == 0
    loaded(page, served[0].address + studio.fragment("other.toml", text))
    assert page.do("editor.text") == text
    loaded(page, f"{served[0].address}#s=nothing")
    assert page.do("editor.text") == served[1].read_text()


@in_chromium
def test_a_link_with_knobs_runs_and_runs_again_when_they_are_turned(page: Page, served: Any) -> None:
    knobs = {"run.duration": 2.0, "links.path.delay": None}
    page.size(390, mobile=True)
    loaded(page, served[0].address + studio.fragment("other.toml", SMALL, knobs))
    page.until("!state.running && panels.results?.rows.every((it) => it.size === 1)")
    assert page.do("$$('.knob output').map((it) => it.textContent)") == ["2 s", "10 ms"]
    assert page.do("$('#editor').checkVisibility()") is False
    # However long the first runs took on a machine with other work.
    page.do("state.lasted = 0")
    page.do(
        "(() => { const it = $$('.knob input')[1]; it.value = 18; it.dispatchEvent(new Event('input')); })()"
    )
    page.until("!state.running && panels.results.scenario.text.includes('18 ms')")
    assert page.do("document.scrollingElement.scrollWidth") == 390
    assert page.do(CONTRASTS) == []
    press(page, "#whole")
    assert page.do("$('#editor').checkVisibility()") is True
    assert page.problems == []


@in_chromium
def test_save_writes_the_file_of_the_user_and_no_other(page: Page, served: Any) -> None:
    server, file = served
    before = file.read_text()
    text = SMALL.replace("10 ms", "12 ms")
    written(page, text)
    press(page, "#keep")
    page.until("$('#keep').textContent === 'Saved'")
    assert file.read_text() == text
    file.write_text(before)
    with pytest.raises(UsageError, match="not a scenario that this page was started for"):
        server.studio.keep("../mine.toml", "")
    assert [it.name for it in file.parent.iterdir()] == ["mine.toml"]


@in_chromium
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1280])
def test_everything_fits_and_can_be_read(page: Page, width: int, scheme: str, served: Any) -> None:
    page.size(width, mobile=width < 600)
    page.prefer(scheme)
    loaded(page, served[0].address)
    ran(page)
    # A film is a page with tests of its own.
    film = ("film",) if (width, scheme) == (390, "dark") else ()
    for panel in ("figures", "time", "numbers", "compare", "ladder", "files", *film):
        page.do(f"panels.open('{panel}')")
        page.until("!$('.later .about')?.textContent.includes('Running')")
        assert page.do("document.scrollingElement.scrollWidth") == width, panel
        assert page.do("$$('.found').every((it) => it.offsetWidth <= it.parentElement.clientWidth)"), panel
        assert page.do(f"$('#tab-{panel}').getBoundingClientRect().right") <= width, panel
        assert page.do(CONTRASTS) == [], panel
    assert page.problems == []
    assert [url for url in page.requests if not url.startswith((served[0].address, "blob:", "data:"))] == []


@in_chromium
def test_by_keyboard_alone_a_scenario_is_run_and_its_panels_are_read(page: Page) -> None:
    page.do("$('#run').focus()")
    page.key("Enter")
    page.until("!state.running && panels.results?.rows.every((it) => it.size)")
    page.do("$('#tab-figures').focus()")
    page.key("ArrowRight")
    assert page.do("document.activeElement.id") == "tab-time"
    assert page.do("panels.name") == "time"
    reached = page.do(
        "$$('button, input, select, [tabindex=\"0\"]').filter((it) => it.tabIndex < 0).map((it) => it.id)"
    )
    assert set(reached) <= {
        f"tab-{name}" for name in ("figures", "numbers", "compare", "ladder", "film", "files")
    }
