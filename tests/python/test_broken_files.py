"""One broken file among the shipped ones does not hide the others."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

import lasthop as lh

Cli = Callable[..., subprocess.CompletedProcess[str]]


@pytest.mark.parametrize(
    "text", [b"[", b"\xff", b"title = 7", b'[run]\nduration = "x"\n', b"a = " + b"[" * 9999]
)
def test_the_rest_is_listed_and_checked_and_the_error_said(
    make_library: Callable[..., Path], within: Cli, monkeypatch: pytest.MonkeyPatch, text: bytes
) -> None:
    top = make_library("")
    monkeypatch.chdir(top)
    (top / "scenarios" / "paper" / "aa.toml").write_bytes(text)
    (top / "papers" / "broken.claims.toml").write_bytes(text)
    for words in (("list", "scenarios"), ("list", "scenarios", "--json"), ("check",)):
        done = within(*words)
        assert done.returncode == 2
        assert done.stderr.startswith("error: ")
        assert "aa.toml" in done.stderr
        assert "fig1" in done.stdout
    assert json.loads(within("list", "scenarios", "--json").stdout)[0]["id"] == "paper/fig1"
    assert set(lh.scenarios()) == {"paper/aa", "paper/fig1"}
    done = within("list", "papers")
    assert done.returncode == 2
    assert "broken.claims.toml" in done.stderr
