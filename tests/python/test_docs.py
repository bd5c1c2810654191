"""What the README and the guide show can be typed: commands, scenarios, Python, and the list of keys."""

from __future__ import annotations

import json
import re
import runpy
import shlex
from pathlib import Path

import pytest

import lasthop as lh
from lasthop import _core
from lasthop.base.paths import shipped
from lasthop.cli.main import COMMANDS, lasthop

ROOT = Path(__file__).resolve().parents[2]
PAGES = [
    ROOT / "README.md",
    ROOT / "ARCHITECTURE.md",
    ROOT / "CONTRIBUTING.md",
    *sorted((ROOT / "docs").glob("*.md")),
]
IDS = re.compile(r"^(ejtcp|examples|validation)/[a-z0-9-]+$")


def blocks(language: str) -> list[pytest.ParameterSet]:
    found = []
    for page in PAGES:
        texts = re.findall(rf"^```{language}\n(.*?)^```$", page.read_text(), re.MULTILINE | re.DOTALL)
        found += [pytest.param(text, id=f"{page.stem}-{i}") for i, text in enumerate(texts)]
    assert found
    return found


@pytest.mark.parametrize("text", blocks("sh"))
def test_commands_shown_exist_with_their_options(text: str) -> None:
    for line in text.splitlines():
        word, *arguments = shlex.split(line, comments=True) or [""]
        if word != "./lasthop" or arguments == ["--help"]:
            continue
        name, *rest = arguments
        assert name in COMMANDS
        command = lasthop.get_command(lasthop.make_context("lasthop", [name]), name)
        assert command is not None
        command.make_context(name, rest)
        assert {argument for argument in rest if IDS.match(argument)} <= set(shipped())


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


def test_the_list_of_keys_is_the_readers() -> None:
    make_keys = runpy.run_path(str(ROOT / "docs" / "make_keys.py"))
    assert (ROOT / "docs" / "keys.md").read_text() == make_keys["page"](), "run docs/make_keys.py"


def test_timeouts_are_said_to_be_those_of_data() -> None:
    metrics = json.loads(_core.registry())["metrics"]
    meanings = [m["meaning"] for m in metrics if (m["of"], m["name"]) == ("tcp flow", "flows.<f>.timeouts")]
    assert ["not for a SYN" in meaning for meaning in meanings] == [True]
