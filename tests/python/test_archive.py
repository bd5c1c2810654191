"""A study as one file: it is the same each time, travels, and `verify` finds what was changed in it."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import sqlite3
import subprocess
import tracemalloc
import zipfile
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import lasthop as lh
from conftest import HOP, SMALL
from lasthop.study import archive
from lasthop.study.rows import packed, unpacked
from studies import resum

if TYPE_CHECKING:
    from collections.abc import Callable

    Cli = Callable[..., subprocess.CompletedProcess[str]]

FILE = "small.lasthop.zip"


@pytest.fixture
def archived(small: Path, cli: Cli, tmp_path: Path) -> Path:
    """The file of a study in `s`."""
    assert cli("sweep", small, "-o", "s").returncode == 0
    done = cli("archive", "s", "-o", FILE, "--licence", "CC-BY-4.0")
    assert (done.returncode, done.stderr) == (0, f"{FILE}\n")
    return tmp_path / FILE


def changed(file: Path, texts: dict[str, bytes], *, with_sum: bool, **more: object) -> Path:
    """The archive with other contents of its files, with their sums and more in its manifest if asked."""
    with zipfile.ZipFile(file) as old:
        contents = {entry: old.read(entry) for entry in old.namelist()}
    contents |= texts
    if with_sum:
        manifest = json.loads(contents["manifest.json"]) | more
        manifest["sha256"] |= {name: hashlib.sha256(text).hexdigest() for name, text in texts.items()}
        contents["manifest.json"] = json.dumps(manifest).encode()
    other = file.with_name("changed.zip")
    with zipfile.ZipFile(other, "w") as new:
        for entry, content in contents.items():
            new.writestr(entry, content)
    return other


def test_an_archive_has_all_of_a_study_and_is_verified_elsewhere(
    archived: Path, within: Cli, tmp_path: Path
) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    moved = archived.rename(elsewhere / FILE)
    for path in (tmp_path / "s").iterdir():
        path.unlink()
    with zipfile.ZipFile(moved) as file:
        assert file.namelist() == [
            *("manifest.json", "scenario.toml", "resolved.json", "study.sqlite", "runs.csv"),
            "figures/goodput.svg",
        ]
        manifest = json.loads(file.read("manifest.json"))
    assert (manifest["scenario"], manifest["licence"], manifest["runs"]) == ("small", "CC-BY-4.0", 18)
    assert manifest["command"] == "lasthop sweep scenario.toml --replications 3 --seed 1"
    assert manifest["model_version"] == lh.model_version
    done = within("verify", moved)
    assert (done.returncode, done.stderr) == (0, "")
    assert "5 files are as they were archived" in done.stdout
    assert "10 of 10 runs repeated agree bit for bit (18 in the file)" in done.stdout
    found = json.loads(within("verify", moved, "--all", "--json").stdout)
    assert (found["repeated"], found["agreeing"], found["differing"]) == (18, 18, [])


def test_the_same_study_gives_the_same_file(archived: Path, within: Cli) -> None:
    before = archived.read_bytes()
    assert within("archive", "s", "-o", FILE, "--licence", "CC-BY-4.0").returncode == 0
    assert archived.read_bytes() == before


def test_a_run_that_was_changed_with_its_sum_is_found_by_repeating_it(
    archived: Path, within: Cli, tmp_path: Path
) -> None:
    ledger = tmp_path / "study.sqlite"
    with zipfile.ZipFile(archived) as file:
        ledger.write_bytes(file.read("study.sqlite"))
    with sqlite3.connect(ledger) as db:
        names = json.loads(db.execute("select names from names").fetchone()[0])
        (blob,) = db.execute("select metrics from runs where point = 1 and replication = 1").fetchone()
        values = unpacked(blob, len(names))
        place = names.index("flows.main.goodput_bps")
        values[place] = (values[place] or 0.0) * (1 + 1e-15) + 1e-9
        (point,) = db.execute(
            "select p.point from plan p join points using (point_key) where id = 1"
        ).fetchone()
        db.execute("update runs set metrics = ? where point = 1 and replication = 1", (packed(values),))
        resum(db)
    db.close()
    for name in ("scenario.toml", "resolved.json"):
        (tmp_path / name).write_bytes(zipfile.ZipFile(archived).read(name))
    table = within("export", tmp_path).stdout.encode()
    other = changed(archived, {"study.sqlite": ledger.read_bytes(), "runs.csv": table}, with_sum=True)
    done = within("verify", other, "--all")
    assert done.returncode == 1
    assert "17 of 18 runs repeated agree" in done.stdout
    assert done.stderr.startswith(f"error: {other}: point {point}, replication 1: flows.main.goodput_bps: ")


def test_a_file_that_was_changed_damaged_or_is_none_is_refused(
    archived: Path, within: Cli, tmp_path: Path
) -> None:
    def said(file: Path) -> str:
        done = within("verify", file)
        assert done.returncode == 4
        assert "Traceback" not in done.stderr
        return done.stderr

    assert "runs.csv: changed since it was archived" in said(
        changed(archived, {"runs.csv": b"x"}, with_sum=False)
    )
    assert "more.txt: missing, or not in the manifest" in said(
        changed(archived, {"more.txt": b"x"}, with_sum=False)
    )
    manifest = json.loads(zipfile.ZipFile(archived).read("manifest.json"))
    for key, value, expected in (
        ("model_version", "1", f"results of model version 1 (lasthop {lh.__version__}); expected version"),
        ("format", 9, "archive format 9; expected format 1"),
        ("sha256", [], "no manifest.json of lasthop"),
    ):
        text = json.dumps({**manifest, key: value}).encode()
        assert expected in said(changed(archived, {"manifest.json": text}, with_sum=False))
    half = tmp_path / "half.zip"
    half.write_bytes(archived.read_bytes()[:-200])
    assert "expected a file of lasthop archive" in said(half)
    broken = bytearray(archived.read_bytes())
    broken[len(broken) // 2] ^= 0xFF
    half.write_bytes(broken)
    assert "half.zip: " in said(half)
    missing = within("verify", "nothing.zip")
    assert (missing.returncode, missing.stderr) == (
        2,
        "error: nothing.zip: no such file; expected a file of lasthop archive\n",
    )
    assert within("verify", archived, "--sample", "0").returncode == 2
    assert within("archive", "nothing").returncode == 4
    assert within("archive", "s", "-o", "no/such/x.zip").returncode == 2
    assert within("archive", "s", "-o", "s/study.sqlite").returncode == 2


@pytest.mark.parametrize(
    ("name", "old"), [("scenario.toml", b"1"), ("runs.csv", b"1"), ("resolved.json", b'"seed": 1')]
)
def test_what_people_read_must_be_what_the_ledger_contains(
    archived: Path, within: Cli, name: str, old: bytes
) -> None:
    with zipfile.ZipFile(archived) as file:
        text = file.read(name).replace(old, old.replace(b"1", b"2"), 1)
    done = within("verify", changed(archived, {name: text}, with_sum=True))
    expected = f"{name}: differs from study.sqlite; expected what the ledger contains"
    assert (done.returncode, expected in done.stderr) == (4, True), done.stderr


def test_the_number_of_runs_must_be_that_of_the_ledger(archived: Path, within: Cli) -> None:
    done = within("verify", changed(archived, {}, with_sum=True, runs=17))
    assert done.returncode == 4
    assert "manifest.json: runs 17; expected 18, those of study.sqlite" in done.stderr


def test_what_a_terminal_obeys_is_not_printed(archived: Path, within: Cli) -> None:
    done = within("verify", changed(archived, {}, with_sum=True, licence="\x1b[2Jfree\r\n"))
    assert "licence: \ufffd[2Jfree\ufffd\ufffd\n" in done.stdout


def test_files_that_the_scenario_names_travel_with_it(within: Cli, tmp_path: Path) -> None:
    (tmp_path / "up").write_text("1\n2\n")
    (tmp_path / "x").mkdir()
    (tmp_path / "x" / "down").write_text("2\n3\n")
    named = (
        '[run]\nduration = "1 s"\n[nodes]\na = {}\nb = {}\n[links.ab]\nkind = "trace"\nnodes = ["a", "b"]\n'
        'trace.file = "x/down"\nreverse.trace.file = "UP"\n[flows.f]\nfrom = "a"\nto = "b"\n'
    )
    (tmp_path / "named.toml").write_text(named.replace("UP", "up"))
    assert within("sweep", "named.toml", "-o", "n", "-r", "2").returncode == 0
    assert within("archive", "n", "--no-figures").returncode == 0
    for path in (tmp_path / "up", tmp_path / "x" / "down"):
        path.write_text("7\n")
    done = within("verify", "n.lasthop.zip")
    assert (done.returncode, done.stderr) == (0, "")
    assert "2 of 2 runs repeated agree" in done.stdout
    # A name that leads elsewhere is not followed.
    evil = changed(tmp_path / "n.lasthop.zip", {"../evil": b"1\n"}, with_sum=True)
    found = within("verify", evil)
    assert found.returncode == 4
    assert f"{evil}: '../evil': not a file that lasthop writes; expected no other" in found.stderr
    assert not (tmp_path.parent / "evil").exists()
    (tmp_path / "named.toml").write_text(named.replace("UP", str(tmp_path / "up")))
    assert within("sweep", "named.toml", "-o", "m", "-r", "1").returncode == 0
    refused = within("archive", "m", "--no-figures")
    assert refused.returncode == 2
    assert "expected a file below the folder of the scenario" in refused.stderr


def test_bins_and_runs_that_a_limit_stopped_are_verified_too(within: Cli, tmp_path: Path) -> None:
    (tmp_path / "hop.toml").write_text(HOP)
    within("sweep", "hop.toml", "-o", "h", "-r", "1", "--max-events", "2000")
    within("sweep", "hop.toml", "-o", "h", "-r", "2", "--where", "agents.snoop.kind=none")
    assert within("archive", "h", "--no-figures").returncode == 0
    done = within("verify", "h.lasthop.zip", "--all")
    assert (done.returncode, done.stderr) == (0, "")
    with zipfile.ZipFile(tmp_path / "h.lasthop.zip") as file:
        assert not [name for name in file.namelist() if name.startswith("figures")]


def test_an_archive_of_a_study_that_is_not_complete_says_so(small: Path, within: Cli) -> None:
    within("sweep", small, "--shard", "1/2", "-o", "s")
    done = within("archive", "s", "--no-figures")
    assert done.returncode == 0
    assert "9 of 18 runs are missing" in done.stderr
    assert Path(done.stderr.splitlines()[-1]).name == "s.lasthop.zip"
    verified = within("verify", "s.lasthop.zip")
    assert verified.returncode == 0
    assert "agree bit for bit (9 in the file, 18 planned)" in verified.stdout


def test_a_law_in_python_travels_and_is_executed_on_request_only(
    small: Path, cli: Cli, tmp_path: Path
) -> None:
    mine = tmp_path / "mine.py"
    mine.write_text(
        "from pathlib import Path\nfrom lasthop.laws import Reno\nPath('executed').touch()\n"
        "class Mine(Reno):\n    pass\n"
    )
    law = ("--law", "mine=mine.py:Mine")
    assert cli("sweep", small, *law, "-s", "flows.main.tcp.variant=mine", "-o", "s").returncode == 0
    assert cli("archive", "s", *law, "--no-figures", "-o", FILE).returncode == 0
    kept = mine.rename(tmp_path / "elsewhere.py")
    (tmp_path / "executed").unlink()
    done = cli("verify", FILE)
    assert done.returncode == 2
    assert 'use the law "mine", which is Python code in laws/mine.py; expected --run-laws' in done.stderr
    assert not (tmp_path / "executed").exists()
    done = cli("verify", FILE, "--run-laws")
    assert (done.returncode, done.stderr) == (0, "")
    assert "9 of 9 runs repeated agree bit for bit" in done.stdout
    assert cli("verify", FILE, "--law", f"mine={kept.name}:Mine").returncode == 0
    broken = changed(tmp_path / FILE, {}, with_sum=True, laws=[{"name": "mine", "file": "/tmp/mine.py"}])
    done = cli("verify", broken, "--run-laws")
    assert done.returncode == 4
    assert "manifest.json: laws: {'name': 'mine'" in done.stderr


# Archives made by hand, with right sums.


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An archive without figures."""
    folder = tmp_path_factory.mktemp("made")
    (folder / "small.toml").write_text(SMALL)
    archive.write(lh.load(folder / "small.toml").sweep(1, folder / "s").run(), folder / "s.zip", {})
    return folder / "s.zip"


DEEP = "[" * 100_000
VALUES = [
    7,
    -1,
    1e9,
    True,
    None,
    "x",
    "\ud800",
    [],
    [7],
    [[]],
    {},
    {"x": 7},
    ["../x"],
    [{"name": "x"}],
    10**400,
]
FIELDS = [
    *("format", "scenario", "title", "lasthop", "model_version", "build", "licence", "command", "runs"),
    *("planned", "files", "laws", "exceptions", "sha256"),
]


@pytest.mark.parametrize("name", FIELDS)
def test_each_field_of_a_manifest_is_checked(made: Path, within: Cli, tmp_path: Path, name: str) -> None:
    file = Path(shutil.copy(made, tmp_path / "s.zip"))
    contents = json.loads(zipfile.ZipFile(made).read("manifest.json"))
    for value in VALUES:
        text = json.dumps({**contents, name: value}).encode()
        done = within(
            "verify", changed(file, {"manifest.json": text}, with_sum=False), "--json", "--sample", 1
        )
        assert done.returncode in {0, 2, 4}, (value, done.stderr)
        assert done.stderr.count("\n") == (1 if done.returncode else 0), done.stderr
        if done.returncode == 0:
            assert isinstance(value, type(contents[name])), value


@pytest.mark.parametrize(
    "text", [b"", b"7", b"[]", b"null", b"\xff", DEEP.encode(), b'{"sha256": ' + DEEP.encode(), b'{"a": NaN}']
)
@pytest.mark.parametrize(
    "name", ["manifest.json", "resolved.json", "scenario.toml", "runs.csv", "study.sqlite"]
)
def test_each_file_of_an_archive_is_checked(
    made: Path, within: Cli, tmp_path: Path, name: str, text: bytes
) -> None:
    file = Path(shutil.copy(made, tmp_path / "s.zip"))
    done = within("verify", changed(file, {name: text}, with_sum=name != "manifest.json"))
    assert done.returncode == 4
    assert done.stderr.startswith("error: ")
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize(
    "name",
    [
        *("../evil", "/abs", "x/../../evil", "more.txt", "laws/x.py", "laws/x.txt", "laws/x/y.py"),
        *(
            "figures/x.html",
            "figures/x/y.svg",
            "./scenario.toml",
            "scenario.files/../../evil",
            "C:\\evil",
            "x" * 300,
        ),
        *("study.sqlite-wal", "a\nb", "scenario.files", "scenario.files/study.sqlite"),
    ],
)
@pytest.mark.parametrize("is_named", [True, False])
def test_only_files_that_lasthop_writes_are_unpacked(
    made: Path, within: Cli, tmp_path: Path, name: str, is_named: bool
) -> None:
    inside = tmp_path / "a" / "b"
    inside.mkdir(parents=True)
    file = Path(shutil.copy(made, inside / "s.zip"))
    file = changed(file, {name: b"1"}, with_sum=True, files=[name] if is_named else [])
    done = within("verify", file, "--sample", 1)
    # A name that is too long for a file is an error of use.
    assert done.returncode in ({0, 2, 4} if is_named else {4}), done.stderr
    assert done.stderr.count("\n") == (1 if done.returncode else 0), done.stderr
    assert not list(tmp_path.rglob("evil"))
    assert not Path("/abs").exists()


@pytest.mark.parametrize("name", ["runs.csv", "manifest.json", "study.sqlite", "figures/x.svg"])
def test_a_bomb_is_refused_before_it_needs_memory(made: Path, within: Cli, tmp_path: Path, name: str) -> None:
    with zipfile.ZipFile(made) as old:
        contents = {entry: old.read(entry) for entry in old.namelist()}
    manifest = json.loads(contents["manifest.json"])
    total = hashlib.sha256()
    with zipfile.ZipFile(tmp_path / "bomb.zip", "w", zipfile.ZIP_DEFLATED) as new:
        for entry, text in contents.items():
            if entry not in {name, "manifest.json"}:
                new.writestr(entry, text)
        with new.open(name, "w") as bomb:
            for _ in range(100):
                bomb.write(bytes(1 << 20))
                total.update(bytes(1 << 20))
        manifest["sha256"][name] = total.hexdigest()
        if name != "manifest.json":
            new.writestr("manifest.json", json.dumps(manifest))
    tracemalloc.start()
    done = within("verify", tmp_path / "bomb.zip")
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert done.returncode == 4
    assert "more than 200 times what is packed" in done.stderr
    assert most < 20 << 20
    # One that lies about its size.
    lie = (tmp_path / "bomb.zip").read_bytes().replace((100 << 20).to_bytes(4, "little"), b"\0\4\0\0")
    (tmp_path / "bomb.zip").write_bytes(lie)
    done = within("verify", tmp_path / "bomb.zip")
    assert (done.returncode, done.stderr.count("\n")) == (4, 1), done.stderr


def test_a_lack_of_memory_is_not_a_run_that_differs(
    made: Path, within: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    def lack(*_: object, **__: object) -> None:
        raise MemoryError

    monkeypatch.setattr(archive, "_expect_same", lack)
    done = within("verify", made)
    assert (done.returncode, done.stderr) == (5, "error: out of memory; expected more of it, or less to do\n")


def test_a_study_that_cannot_be_written_is_archived(made: Path, within: Cli, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(made.parent / "s", tmp_path / "s"))
    with closing(sqlite3.connect(folder / "study.sqlite")) as db:
        db.execute("pragma journal_mode = wal")
    # Permissions do not stop root.
    bound = ["mount", "--bind", str(folder), str(folder)]
    is_mounted = os.geteuid() == 0 and subprocess.run(bound, capture_output=True, check=False).returncode == 0
    if is_mounted:
        subprocess.run(["mount", "-o", "remount,bind,ro", str(folder)], check=True)
    else:
        folder.chmod(0o500)
    try:
        assert within("show", "s").returncode == 0
        done = within("archive", "s", "--no-figures", "-o", "x.zip")
        assert (done.returncode, done.stderr) == (0, "x.zip\n")
        assert within("verify", "x.zip").returncode == 0
    finally:
        if is_mounted:
            subprocess.run(["umount", str(folder)], check=True)
        folder.chmod(0o700)
