"""A crate of a transport's own, which tests itself over the last hops, and these hops."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import lasthop as lh
from conftest import SOAK
from lasthop.base.paths import shipped

if TYPE_CHECKING:
    from collections.abc import Callable

    Cli = Callable[..., subprocess.CompletedProcess[str]]

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "test-your-transport.md").read_text()
OUTSIDE = ROOT / "crates" / "testing" / "tests" / "outside" / "wifi.rs"
HOPS = [name for name in shipped() if name.startswith("hops/")]


def block(language: str) -> str:
    return re.findall(rf"^```{language}\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)[0]


def test_each_last_hop_is_listed_with_its_numbers_and_says_what_is_published_and_what_is_chosen(
    within: Cli,
) -> None:
    assert len(HOPS) == 6
    listed = {entry["id"]: entry for entry in json.loads(within("list", "hops", "--json").stdout)}
    assert list(listed) == HOPS
    for name, entry in listed.items():
        head = shipped()[name].read_text().split("\n\n")[0]
        assert re.search(r"^# Published: .*\d{4}", head, re.MULTILINE | re.DOTALL), name
        assert "\n# Chosen: " in head, name
        assert re.search(r"\d+ Mbit/s down, \d+ up", entry["summary"]), name
        assert f"| `{name}` | {entry['summary']} |" in PAGE


@pytest.mark.parametrize("name", HOPS)
def test_each_last_hop_has_one_flow_from_the_server_to_the_client_that_works(name: str) -> None:
    goodput = lh.load(name, [("run.duration", "6 s")]).run().metrics["flows.main.goodput_bps"]
    assert goodput is not None
    assert goodput > 5e5


def test_the_page_shows_the_crate_that_the_tests_run() -> None:
    assert block("rust") == OUTSIDE.read_text()
    declared = (ROOT / "crates/peer/include/lasthop_peer.h").read_text()
    in_c = re.findall(r"^```c\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    assert in_c[0].strip() in declared
    assert in_c[1] == (ROOT / "crates/testing/tests/window.c").read_text()


def test_a_crate_outside_finds_a_planted_fault_and_passes_without_it(tmp_path: Path) -> None:
    if not SOAK or shutil.which("cargo") is None:
        pytest.skip("builds the simulator for a crate outside; runs with --soak")
    crates = f'"{ROOT / "crates" / "testing"}"'
    (tmp_path / "Cargo.toml").write_text(block("toml").replace('"../lasthop/crates/testing"', crates))
    # The versions of this checkout, which are on the machine.
    shutil.copy2(ROOT / "Cargo.lock", tmp_path)
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "lib.rs").touch()
    (tmp_path / "tests").mkdir()
    env = {**os.environ, "CARGO_TARGET_DIR": str(ROOT / "target" / "outside"), "CARGO_NET_OFFLINE": "true"}
    for halvings, status in ((1, 0), (2, 101)):
        text = block("rust").replace("HALVINGS: u32 = 1", f"HALVINGS: u32 = {halvings}")
        (tmp_path / "tests" / "wifi.rs").write_text(text)
        command = ["cargo", "test", "--offline"]
        began = time.monotonic()
        done = subprocess.run(command, cwd=tmp_path, env=env, capture_output=True, text=True, check=False)
        print(f"halved {halvings} times: {time.monotonic() - began:.1f} s")
        assert done.returncode == status, done.stdout + done.stderr
    assert "is above 11.000 s (error at most 5 %)" in done.stdout + done.stderr
    (captured,) = (tmp_path / "target" / "lasthop").glob("*/*/air.pcap")
    assert captured.stat().st_size > 1_000_000
