"""The README, the guide and the papers show what can be typed: commands, scenarios, Python, and all keys."""

from __future__ import annotations

import json
import re
import runpy
import shlex
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import lasthop as lh
from lasthop import _core
from lasthop.base.paths import shipped
from lasthop.cli.author import LISTS
from lasthop.cli.main import COMMANDS, lasthop
from lasthop.papers.paper import known, paper
from lasthop.scenario.overrides import parse_set
from lasthop.tools.bench import cases

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    import click

ROOT = Path(__file__).resolve().parents[2]
PAGES = [
    ROOT / "README.md",
    ROOT / "python" / "README.md",
    ROOT / "ARCHITECTURE.md",
    ROOT / "CONTRIBUTING.md",
    *sorted((ROOT / "docs").glob("*.md")),
]
# The blocks of these build on each other: test_own_law.py and test_gym.py run them in order.
APART = {ROOT / "docs" / "own-law.md", ROOT / "docs" / "learning.md"}
ALONE = [page for page in PAGES if page not in APART]
# The Python of this page needs root: test_live_examples.py runs it.
AS_ROOT = {"python": ROOT / "docs" / "live.md"}
SHOWING = [*ALONE, *sorted((ROOT / "papers").glob("*.md")), *sorted((ROOT / "scenarios").rglob("*.toml"))]
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
STUDY = re.compile(r"studies/([a-z0-9-]+/[a-z0-9-]+)(\.shard-.*)?")


def blocks(language: str) -> list[pytest.ParameterSet]:
    found = []
    for page in (page for page in ALONE if page != AS_ROOT.get(language)):
        texts = re.findall(rf"^```{language}\n(.*?)^```$", page.read_text(), re.MULTILINE | re.DOTALL)
        found += [pytest.param(text, id=f"{page.stem}-{i}") for i, text in enumerate(texts)]
    assert found
    return found


def commands() -> Iterator[pytest.ParameterSet]:
    """The commands in blocks, in spans of code and in the comments of scenarios."""
    for page in SHOWING:
        text = page.read_text()
        if page.suffix == ".toml":
            text = re.sub(r"^# ?", "", text, flags=re.MULTILINE)
            lines = re.findall(r"^ {4}(lasthop .+)$", text, re.MULTILINE)
        else:
            shown = [body for language, body in FENCE.findall(text) if language == "sh"]
            lines = [line for body in shown for line in body.splitlines()]
            text = FENCE.sub("", text)
        lines += [re.sub(r"\s+", " ", span) for span in re.findall(r"`((?:\./)?lasthop\s[^`]+)`", text)]
        for line in lines:
            word, *rest = shlex.split(line, comments=True) or [""]
            rest = rest[rest[:1] == ["--dev"] :]
            if word.removeprefix("./") == "lasthop" and rest != ["--help"]:
                yield pytest.param(rest, id=f"{page.relative_to(ROOT)}: {shlex.join(rest)}")


def missing(name: str, context: click.Context) -> list[str]:
    """The names in a command that do not exist; words in capitals stand for a name of the reader's."""
    given = {key: value for key, value in context.params.items() if value}

    def words(*keys: str) -> list[str]:
        found: list[str] = []
        for key in keys:
            value = given.get(key, ())
            found += [str(value)] if isinstance(value, str | Path) else [str(item) for item in value]
        return [word for word in found if not word.isupper()]

    def outside(found: Iterable[str], names: Iterable[str]) -> list[str]:
        return [word for word in found if word not in set(names)]

    files = words("scenario", "scenarios", "study_or_scenario", "source")
    studies = words("study", "study_or_run", "parts", "study_or_scenario", "study_or_paper")
    ids = [word for word in files if not word.startswith("studies/") and not word.endswith(".toml")]
    ids += [found[1] for word in studies if (found := STUDY.fullmatch(word))]
    wrong = outside(ids, [*shipped(), *tutorial()])
    wrong += outside(words("ids") if name == "reproduce" else [], known())
    wrong += outside(words("what"), LISTS)
    wrong += outside(words("cases"), [case.name for case in cases()])
    about = words("study_or_paper")
    wrong += outside([word for word in about if not word.startswith("studies/")], known())
    for one in set(words("ids")) & set(known()) if name == "reproduce" else ():
        wrong += outside(words("names"), paper(one).head.get("readings", {}))
    return wrong


def tutorial() -> list[str]:
    """The scenarios that the patches of the page on a first scheme add."""
    patches = "".join(path.read_text() for path in (ROOT / "docs" / "first-scheme").glob("*.patch"))
    return re.findall(r"^\+\+\+ b/scenarios/(\S+)\.toml$", patches, re.MULTILINE)


def parsed(arguments: list[str]) -> tuple[str, click.Context]:
    name, *rest = arguments
    assert name in COMMANDS
    command = lasthop.get_command(lasthop.make_context("lasthop", [name]), name)
    assert command is not None
    # A span may name a command without its arguments.
    return name, command.make_context(name, rest, resilient_parsing=not rest)


@pytest.mark.parametrize("arguments", list(commands()))
def test_commands_shown_parse_and_name_what_exists(arguments: list[str]) -> None:
    name, context = parsed(arguments)
    assert missing(name, context) == []


@pytest.mark.parametrize("arguments", list(commands()))
def test_settings_shown_can_be_made(arguments: list[str]) -> None:
    _, context = parsed(arguments)
    settings = parse_set(context.params.get("settings") or ())
    scenario = str(context.params.get("scenario"))
    if settings and scenario in shipped():
        assert lh.load(scenario, settings).points()


def test_keys_explained_exist() -> None:
    keys = [rest[1] for rest in (list(p.values[0]) for p in commands()) if rest[0] == "explain" and rest[1:]]  # type: ignore[call-overload]
    assert len(keys) > 3
    # The page on a first scheme explains a key of the law that it adds.
    assert all(json.loads(_core.explain(key)) for key in keys if ".aimd." not in key and not key.isupper())


@pytest.mark.parametrize("name", ["baselines", "dynamic-arq", "ejtcp", "lle-tcp", "load-adaptive"])
def test_each_paper_shows_its_command(name: str) -> None:
    shown = [list(p.values[0]) for p in commands()]  # type: ignore[call-overload]
    assert ["reproduce", name] in shown
    assert name in known()


@pytest.mark.parametrize("line", ["run ejtcp/fig99", "plot studies/lle-tcp/fig99", "reproduce lle-tpc"])
def test_a_name_that_does_not_exist_is_found(line: str) -> None:
    assert missing(*parsed(line.split()))


@pytest.mark.parametrize("text", [block for block in blocks("toml") if "[run]" in str(block.values[0])])
def test_scenarios_shown_are_valid(text: str, tmp_path: Path) -> None:
    path = tmp_path / "shown.toml"
    path.write_text(text)
    assert lh.load(path).points()


@pytest.mark.parametrize("text", blocks("python"))
def test_python_shown_runs(text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    shorter = text.replace('"run.duration": "50 s"', '"run.duration": "5 s"')
    Path("shown.py").write_text(shorter)
    runpy.run_path("shown.py")


def test_links_between_pages_lead_somewhere() -> None:
    for page in PAGES:
        for target in re.findall(r"\]\((?!https?:)([^)#]+)\)", page.read_text()):
            assert (page.parent / target).exists(), f"{page.name}: {target}"


def test_addresses_of_files_in_the_repository_lead_to_files() -> None:
    address = re.compile(r"https://github.com/lasthop/lasthop/blob/main/([^)\s\"#]+)")
    found = 0
    for page in (*PAGES, ROOT / "pyproject.toml", ROOT / "python" / "lasthop" / "cli" / "main.py"):
        for target in address.findall(page.read_text()):
            assert (ROOT / target).is_file(), f"{page.name}: {target}"
            found += 1
    assert found > 5


def test_the_readme_says_what_is_on_record() -> None:
    make_readme = runpy.run_path(str(ROOT / "docs" / "make_readme.py"))
    text = (ROOT / "README.md").read_text()
    assert text == make_readme["page"](text), "run docs/make_readme.py"
    times = (ROOT / "docs" / "validation.md").read_text()
    assert times == make_readme["page"](times, make_readme["times"]()), "run docs/make_readme.py"


def test_the_pages_say_of_quic_what_is_on_record() -> None:
    make_quic = runpy.run_path(str(ROOT / "docs" / "make_quic.py"))
    for name in ("today", "table1"):
        text = (ROOT / "papers" / f"{name}.md").read_text()
        assert text == make_quic[name](text), "run docs/make_quic.py"


def test_the_page_says_of_uplink_ofdma_what_is_on_record() -> None:
    written = runpy.run_path(str(ROOT / "docs" / "make_uplink.py"))["written"]
    text = (ROOT / "papers" / "today.md").read_text()
    assert text == written(text), "run docs/make_uplink.py"


def test_the_pages_of_the_suites_show_their_published_results() -> None:
    make_suite = runpy.run_path(str(ROOT / "docs" / "make_suite.py"))
    for file, name in make_suite["PAGES"].items():
        text = (ROOT / "docs" / file).read_text()
        assert text == make_suite["text"](text, name), "run docs/make_suite.py"


def test_the_records_of_bad_wifi_are_what_their_script_writes() -> None:
    make = runpy.run_path(str(ROOT / "docs" / "make_bad_wifi.py"))
    for seed, way in enumerate(("down", "up")):
        assert (make["FOLDER"] / f"bad-wifi-{way}").read_text() == make["record"](seed)


def test_the_readmes_speeds_are_those_of_the_page_on_speed() -> None:
    def rows(name: str, form: str) -> list[tuple[str, ...]]:
        text = (ROOT / name).read_text()
        return [
            tuple(re.sub(r"\s", "", cell) for cell in row) for row in re.findall(form, text, re.MULTILINE)
        ]

    measured = rows("docs/speed.md", r"^\|[^|]+\|[^|]+\| ([\d\s]+) \| ([\d\s]+) \|[^|]+\| ([\d.]+) \|")
    shown = rows("README.md", r"^\|[^|]+\| ([\d\s]+) ns \| ([\d\s]+) ns \| ([\d.]+) \|$")
    assert len(shown) == 4
    assert set(shown) <= set(measured)


def test_the_list_of_keys_is_the_readers() -> None:
    make_keys = runpy.run_path(str(ROOT / "docs" / "make_keys.py"))
    assert (ROOT / "docs" / "keys.md").read_text() == make_keys["page"](), "run docs/make_keys.py"


def test_the_gallery_has_every_kind_of_figure() -> None:
    page = (ROOT / "docs" / "gallery.md").read_text()
    kinds = [entry["name"] for entry in json.loads(_core.registry())["figures"]]
    assert [kind for kind in kinds if f'`kind = "{kind}"`' not in page] == [], "run docs/make_gallery.py"


def test_timeouts_are_said_to_be_those_of_data() -> None:
    metrics = json.loads(_core.registry())["metrics"]
    meanings = [m["meaning"] for m in metrics if (m["of"], m["name"]) == ("tcp flow", "flows.<f>.timeouts")]
    assert ["not for a SYN" in meaning for meaning in meanings] == [True]
