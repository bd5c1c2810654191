"""What is published: the wheel and the sdist, and an installed lasthop outside of any checkout."""

from __future__ import annotations

import json
import os
import re
import runpy
import shutil
import subprocess
import sys
import tarfile
import tomllib
import venv
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from lasthop import _core
from lasthop.tools import extension
from test_interrupted import SCRIPT, interrupt

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "python" / "lasthop" / "data"
DATA = {
    *(
        path.relative_to(ROOT).as_posix()
        for path in [
            ROOT / "CITATION.cff",
            *ROOT.glob("papers/*"),
            *ROOT.glob("suites/*"),
            *ROOT.glob("scenarios/**/*.toml"),
            *ROOT.glob("scenarios/**/traces/*"),
        ]
    ),
    *(
        path.relative_to(FOLDER).as_posix()
        for path in [FOLDER / "fingerprints.csv", *(FOLDER / "web").iterdir()]
    ),
}


def maturin(*arguments: str, out: Path) -> Path:
    """What maturin writes, with the flags of ./lasthop, so that nothing is compiled again."""
    command = [sys.executable, "-m", "maturin", *arguments, "--out", str(out)]
    done = subprocess.run(
        command, cwd=ROOT, env=extension.environment(), capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    (written,) = out.iterdir()
    return written


def with_profile(top: Path = ROOT) -> list[str]:
    """The options with which the set-up of a checkout, which is not part of the package, uses the profile."""
    options: list[str] = runpy.run_path(str(top / "scripts" / "bootstrap.py"))["with_profile"]()
    return options


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A wheel around the extension under test."""
    if _core.is_checked:
        return extension.wheel(ROOT, "checked")
    flags = ("--release", "--locked", "--interpreter", sys.executable, "--compatibility", "linux")
    return maturin("build", *flags, *with_profile(), out=tmp_path_factory.mktemp("wheel"))


def settings() -> dict[str, Any]:
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def test_the_wheel_carries_scenarios_and_papers_as_files(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
        assert {f"lasthop/data/{name}" for name in DATA} == {
            n for n in names if n.startswith("lasthop/data/")
        }
        for name in DATA:
            assert archive.read(f"lasthop/data/{name}") == (FOLDER / name).read_bytes()
        (about,) = (archive.read(name).decode() for name in names if name.endswith("/METADATA"))
    assert re.search(r"-cp311-abi3-", wheel.name)
    assert "Project-URL: Repository, https://" in about


def test_the_sdist_carries_what_a_wheel_is_made_of(tmp_path: Path) -> None:
    with tarfile.open(maturin("sdist", out=tmp_path / "sdist")) as archive:
        members = {member.name.partition("/")[2]: member for member in archive}
    for name in DATA:
        assert members[f"python/lasthop/data/{name}"].isfile()
    assert {"Cargo.lock", "pyproject.toml", "crates/py/src/lib.rs", "LICENSE-MIT"} <= members.keys()


def test_a_wheel_is_stripped_and_the_build_of_a_checkout_is_not() -> None:
    profiles = tomllib.loads((ROOT / "Cargo.toml").read_text(encoding="utf-8"))["profile"]
    maturins = settings()["tool"]["maturin"]
    assert profiles[maturins["profile"]]["strip"] == "symbols"
    editable = profiles[maturins["editable-profile"]]
    assert (editable["debug"], "strip" in editable) == ("line-tables-only", False)


def test_the_profile_counts_functions_that_there_are() -> None:
    # bench/pgo.py makes another when too few of them are left.
    options = with_profile()
    if not options:
        pytest.skip("crates/profiles has none of this compiler")
    assert options[0] == "--config"
    flag, _ = tomllib.loads(options[1])["build"]["rustflags"]
    counted = Path(flag.removeprefix("-Cprofile-use=")).read_bytes()
    names = set(re.findall(rb"_ZN[\w$.]*lasthop[\w$.]*?17h[0-9a-f]{16}E", counted))
    if _core.is_checked:
        # Its functions have other hashes.
        names = {name[: name.rindex(b"17h")] for name in names}
    module = Path(_core.__file__).read_bytes()
    assert len(names) > 100
    assert sum(name in module for name in names) > len(names) / 2


def test_without_a_profile_of_the_compiler_the_build_is_plain(tmp_path: Path) -> None:
    (tmp_path / "scripts").mkdir()
    shutil.copy(ROOT / "scripts" / "bootstrap.py", tmp_path / "scripts")
    assert with_profile(tmp_path) == []


@pytest.mark.parametrize("lock", sorted(ROOT.glob("requirements*.lock")), ids=lambda path: path.stem)
def test_every_pin_has_hashes_and_no_lock_names_a_registry(lock: Path) -> None:
    text = lock.read_text(encoding="utf-8")
    pins = re.findall(r"^[\w.-]+==\S+.*\\\n(?: +--hash=sha256:[0-9a-f]{64}(?: \\)?\n)+", text, re.MULTILINE)
    rest = [line for line in text.splitlines() if not line.startswith((" ", "#", "-r "))]
    assert len(pins) == len(rest) > 0
    assert "://" not in text


def test_the_addresses_agree() -> None:
    cargo = tomllib.loads((ROOT / "Cargo.toml").read_text(encoding="utf-8"))
    address = cargo["workspace"]["package"]["repository"]
    assert all(url.startswith(address) for url in settings()["project"]["urls"].values())
    assert f'repository-code: "{address}"' in (ROOT / "CITATION.cff").read_text(encoding="utf-8")


class Installed(NamedTuple):
    """An environment with the wheel and what it needs, and a folder outside the checkout."""

    folder: Path
    place: Path

    def env(self) -> dict[str, str]:
        """An environment in which neither the checkout nor its checked extension is found."""
        env = {k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "LASTHOP", "VIRTUAL_ENV"))}
        return {**env, "NO_COLOR": "1", "COLUMNS": "100"}

    def run(self, *command: object, program: str = "lasthop") -> subprocess.CompletedProcess[str]:
        """Run a program of the environment in that folder."""
        done = subprocess.run(
            [self.folder / "bin" / program, *map(str, command)],
            cwd=self.place,
            env=self.env(),
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
        assert "Traceback" not in done.stderr, done.stderr
        return done

    def data(self) -> Path:
        """The data of the package."""
        (found,) = self.folder.glob("lib/python*/site-packages/lasthop/data")
        return found


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Installed:
    """The wheel in a fresh environment, called from a folder with unrelated scenarios and papers."""
    if not os.environ.get("CI"):
        pytest.skip("installs the wheel and what it needs into an environment; runs with CI=true")
    there = Installed(tmp_path_factory.mktemp("environment"), tmp_path_factory.mktemp("place"))
    venv.create(there.folder, with_pip=True)
    quiet = ("install", "--quiet", "--disable-pip-version-check")
    if there.run(*quiet, "--dry-run", "click", program="pip").returncode:
        pytest.skip("no package registry can be reached; the wheel needs numpy, matplotlib, click and rich")
    done = there.run(*quiet, wheel, program="pip")
    assert done.returncode == 0, done.stderr
    for name in ("scenarios/foreign.toml", "papers/foreign.claims.toml", "lle-tcp/fig08/scenario.toml"):
        (there.place / name).parent.mkdir(parents=True, exist_ok=True)
        (there.place / name).write_text('title = "of something else"\n')
    return there


def test_an_installed_lasthop_runs_a_shipped_scenario(installed: Installed) -> None:
    done = installed.run("run", "ejtcp/fig10-baselines", "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["metrics"]["flows.main.goodput_bps"] > 1e6


def test_ctrl_c_ends_a_run_of_an_installed_lasthop(installed: Installed) -> None:
    scenario = 'scenario = lh.load("examples/access-point").set({"run.duration": "1000000 s"})'
    command = [installed.folder / "bin" / "python", "-c", SCRIPT.format(scenario=scenario)]
    interrupt(command, 1, cwd=installed.place, env=installed.env())


def test_an_installed_lasthop_adopts_no_foreign_folder(installed: Installed) -> None:
    scenarios = json.loads(installed.run("list", "scenarios", "--json").stdout)
    assert {f"scenarios/{one['id']}.toml" for one in scenarios} == {
        n for n in DATA if n.startswith("scen") and n.endswith(".toml")
    }
    papers = json.loads(installed.run("list", "papers", "--json").stdout)
    assert {f"papers/{one['id']}.claims.toml" for one in papers} == {
        n for n in DATA if n.endswith(".claims.toml")
    }
    assert installed.run("check", "-q").returncode == 0
    assert installed.run("run", "foreign").returncode == 2
    # A user's own files are given by their path.
    given = installed.run("check", "scenarios/foreign.toml")
    assert (given.returncode, given.stderr.startswith("error: scenarios/foreign.toml:")) == (2, True)


def test_an_installed_lasthop_sweeps_into_the_current_directory(installed: Installed) -> None:
    done = installed.run("sweep", "examples/udp-cross", "-r", "1", "-s", "run.duration=20 s", "-q")
    assert done.returncode == 0, done.stderr
    assert done.stderr == "studies/examples/udp-cross\n"
    assert installed.run("export", "studies/examples/udp-cross", "-o", "runs.csv", "-q").returncode == 0
    assert (installed.place / "runs.csv").stat().st_size > 100


def test_an_installed_lasthop_reproduces_a_paper(installed: Installed) -> None:
    done = installed.run("reproduce", "lle-tcp", "--quick", "--no-progress", "--json")
    assert done.returncode == 0, done.stderr
    verdicts = [row["verdict"] for row in json.loads(done.stdout)["statements"]]
    assert len(verdicts) >= 20
    assert verdicts.count("agrees") > 10
    pages = installed.place / "studies" / "reproduce"
    assert done.stderr.endswith("studies/reproduce/index.html\n")
    assert 'href="lle-tcp.html"' in (pages / "index.html").read_text(encoding="utf-8")
    assert "data:image/svg+xml" in (pages / "lle-tcp.html").read_text(encoding="utf-8")


def test_an_installed_lasthop_says_how_to_cite_it_and_the_papers(installed: Installed) -> None:
    done = installed.run("cite", "lasthop", "lle-tcp")
    assert done.returncode == 0, done.stderr
    assert re.findall(r"^@(\w+)\{", done.stdout, re.MULTILINE) == ["software", "techreport"]


def test_the_first_example_runs_where_lasthop_is_installed(installed: Installed) -> None:
    lines = "import doctest, lasthop; print(*doctest.testmod(lasthop)); print(lasthop.__file__)"
    done = installed.run("-P", "-c", lines, program="python")
    (failed, attempted), file = done.stdout.splitlines()[-2].split(), done.stdout.splitlines()[-1]
    assert (failed, int(attempted) >= 4) == ("0", True), done.stdout
    assert Path(file).is_relative_to(installed.folder)


@pytest.mark.parametrize("command", ["reproduce lle-tcp --record", "bench", "test"])
def test_what_needs_a_checkout_says_so(installed: Installed, command: str) -> None:
    done = installed.run(*command.split())
    assert done.returncode == 2
    assert "does not run from a checkout" in done.stderr
    assert "expected ./lasthop" in done.stderr


@pytest.fixture
def emptied(installed: Installed) -> Iterator[Installed]:
    """The same without the files that the package brings."""
    aside = installed.data().with_name("aside")
    installed.data().rename(aside)
    try:
        yield installed
    finally:
        shutil.move(aside, aside.with_name("data"))


@pytest.mark.parametrize(
    "command",
    [
        "list scenarios",
        "list papers",
        "check",
        "reproduce",
        "reproduce --list",
        "reproduce lle-tcp --quick",
        "run ejtcp/fig10-baselines",
        "cite",
    ],
)
def test_where_nothing_is_found_that_is_an_error(emptied: Installed, command: str) -> None:
    done = emptied.run(*command.split())
    assert (done.returncode, done.stdout) == (2, "")
    assert "expected a complete installation of lasthop" in done.stderr
