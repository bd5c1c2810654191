"""Completion in real shells and by itself: scenarios, keys and values, metrics, channels."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

import lasthop as lh
from conftest import SMALL

if TYPE_CHECKING:
    from pathlib import Path

PROGRAM = f'#!/bin/sh\nexec "{sys.executable}" -P -m lasthop "$@"\n'


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a study and an executable, of which no other folder knows."""
    (tmp_path / "small.toml").write_text(SMALL)
    lh.load(tmp_path / "small.toml").sweep(out=tmp_path / "mine", replications=1).run()
    (tmp_path / "lasthop").write_text(PROGRAM)
    (tmp_path / "lasthop").chmod(0o755)
    return tmp_path


def completed(folder: Path, line: str) -> list[str]:
    """What bash would offer at the end of a line, as click finds it."""
    typed = line.split(" ")
    environment = {
        **os.environ,
        "_LASTHOP_COMPLETE": "bash_complete",
        "COMP_WORDS": line,
        "COMP_CWORD": str(len(typed) - 1),
    }
    command = [str(folder / "lasthop")]
    done = subprocess.run(command, env=environment, cwd=folder, capture_output=True, text=True, check=True)
    return [entry.partition(",")[2] for entry in done.stdout.splitlines()]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("lasthop run lle-tcp/fig06", [f"lle-tcp/fig06{of}" for of in ("-capped", "-single", "")]),
        ("lasthop run sm", ["small.toml"]),
        ("lasthop run small.toml -s links.path.loss.r", ["links.path.loss.rate="]),
        ("lasthop run small.toml -s flows.main.tcp.variant=ne", ["flows.main.tcp.variant=newreno"]),
        ("lasthop run small.toml -s flows.main.tcp.variant=[re", ["flows.main.tcp.variant=[reno"]),
        (
            "lasthop run small.toml -s flows.main.tcp.variant=[reno,bbr",
            ["flows.main.tcp.variant=[reno,bbr", "flows.main.tcp.variant=[reno,bbr3"],
        ),
        ("lasthop run small.toml --trace cwnd,rt", ["cwnd,rtt"]),
        ("lasthop show mine --metric flows.main.timeouts_", ["flows.main.timeouts_spurious"]),
        ("lasthop contrast mine flows.main.goodput_bps links", ["links.path.loss.rate"]),
        ("lasthop plot mine goo", ["goodput"]),
        ("lasthop list sche", ["schemes"]),
        ("lasthop explain run.max-w", ["run.max-wall"]),
        ("lasthop reproduce load", ["load-adaptive"]),
        ("lasthop report load", ["load-adaptive"]),
        ("lasthop report m", ["mine/"]),
        ("lasthop run nowhere.toml -s links.NAME.dela", ["links.NAME.delay="]),
    ],
)
def test_words_are_completed(folder: Path, line: str, expected: list[str]) -> None:
    assert completed(folder, line) == expected


BASH = """
cd "$1" && source <(./lasthop completion bash)
COMP_LINE="$2" COMP_POINT=${#2}
read -r -a COMP_WORDS <<< "${2//=/ = }"
COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
compopt() { :; }
_lasthop_completion ./lasthop
printf '%s\\n' "${COMPREPLY[@]}"
"""


@pytest.mark.skipif(shutil.which("bash") is None, reason="bash is not installed")
def test_bash_completes_what_follows_an_equals_sign_for_the_command_in_this_folder(folder: Path) -> None:
    def offered(line: str) -> list[str]:
        command = ["bash", "-c", BASH, "bash", str(folder), line]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        return done.stdout.split()

    assert offered("./lasthop run small.toml -s flows.main.tcp.variant=ne") == ["newreno"]
    assert offered("./lasthop run lle-tcp/fig08 -s agents.snoop.kind=l") == ["lle-tcp"]
    assert offered("./lasthop reproduce load") == ["load-adaptive"]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_scripts_are_valid(folder: Path, shell: str) -> None:
    program = shutil.which(shell)
    if program is None:
        pytest.skip(f"{shell} is not installed")
    script = subprocess.run(
        [str(folder / "lasthop"), "completion", shell], capture_output=True, text=True, check=True
    ).stdout
    option = "--no-execute" if shell == "fish" else "-n"
    subprocess.run([program, option], input=script, text=True, check=True)


ZSH = """
cd "$1"; autoload -Uz compinit; compinit -u -d "$1/.zcompdump"
compadd() { print -r -- "${@[-1]}"; }
_describe() { print -l -r -- "${described[@]%%:*}"; }
source <(./lasthop completion zsh)
words=(${(s: :)2}) CURRENT=${#words}
_lasthop_completion
"""
FISH = """
cd $argv[1]; ./lasthop completion fish | source
complete -C $argv[2]
"""


@pytest.mark.parametrize(("shell", "script"), [("zsh", ZSH), ("fish", FISH)])
def test_zsh_and_fish_complete_for_the_command_in_this_folder(folder: Path, shell: str, script: str) -> None:
    program = shutil.which(shell)
    if program is None:
        pytest.skip(f"{shell} is not installed")

    def offered(line: str) -> list[str]:
        extra = ["zsh"] if shell == "zsh" else []
        command = [program, "-c", script, *extra, str(folder), line]
        environment = {**os.environ, "HOME": str(folder)}
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
        return [entry.split("\t")[0] for entry in done.stdout.splitlines()]

    assert offered("./lasthop run small.toml -s flows.main.tcp.variant=ne") == [
        "flows.main.tcp.variant=newreno"
    ]
    assert offered("./lasthop reproduce load") == ["load-adaptive"]
