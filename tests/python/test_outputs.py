"""Whatever is written: a file whole or not at all, a link to its file, and into a device or a pipe."""

from __future__ import annotations

import errno
import os
import stat
import subprocess
import threading
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import lasthop as lh
from conftest import COMMAND, HOP, SMALL, environment
from lasthop.base import files
from lasthop.base.errors import LasthopError, StudyError
from lasthop.cli.main import invoke

if TYPE_CHECKING:
    from collections.abc import Callable

WRITERS = {
    "report": (("report", "s", "-o"), "x.html"),
    "export": (("export", "s", "-o"), "x.csv"),
    "summary": (("export", "s", "--summary", "--format", "json", "-o"), "x.json"),
    "parquet": (("export", "s", "--format", "parquet", "-o"), "x.parquet"),
    "archive": (("archive", "s", "--no-figures", "-o"), "x.zip"),
    "capture": (("run", "small.toml", "-q", "--pcap"), "x.pcap"),
    "text": (("ladder", "small.toml", "--between", "0..0.2", "-o"), "x.txt"),
    "ladder": (("ladder", "small.toml", "--between", "0..0.2", "-o"), "x.html"),
    "drawing": (("ladder", "small.toml", "--between", "0..0.2", "-o"), "x.svg"),
    "play": (("play", "small.toml", "--between", "0..0.2", "-o"), "x.html"),
}
# Where the name is not that of an option.
PLACED = {
    "plot": (("plot", "s"), "s/figures/goodput.svg"),
    "run": (("run", "small.toml", "-q", "-o", "r"), "r/run.json"),
    "trace": (("run", "small.toml", "-q", "-o", "r", "--trace", "cwnd"), "r/traces/cwnd.csv"),
    "sweep": (("sweep", "small.toml", "-q", "-r", "1", "-o", "s"), "s/scenario.toml"),
    "values": (("sweep", "small.toml", "-q", "-r", "1", "-o", "s"), "s/resolved.json"),
}
EVERY = {name: ((*words, path), path) for name, (words, path) in WRITERS.items()} | PLACED


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory with a scenario and a study `s` of it."""
    (tmp_path / "small.toml").write_text(SMALL)
    monkeypatch.chdir(tmp_path)
    lh.load("small.toml").sweep(1, "s").run()
    for folder in ("s/figures", "r/traces"):
        (tmp_path / folder).mkdir(parents=True)
    return tmp_path


@pytest.fixture(params=[True, False], ids=["nameless", "named"])
def any_draft(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Drafts without a name, and as where the system has none."""
    if not request.param:
        monkeypatch.setattr(os, "O_TMPFILE", 0, raising=False)


@pytest.mark.usefixtures("any_draft")
@pytest.mark.parametrize("name", EVERY)
def test_a_link_is_followed_to_its_file(here: Path, name: str) -> None:
    words, path = EVERY[name]
    elsewhere = here / "elsewhere"
    elsewhere.mkdir()
    link = here / path
    link.unlink(missing_ok=True)
    for before in (None, "before"):
        target = elsewhere / f"{before}.txt"
        if before:
            target.write_text(before)
        (elsewhere / "other").unlink(missing_ok=True)
        (elsewhere / "other").symlink_to(target.name)
        link.unlink(missing_ok=True)
        link.symlink_to(os.path.relpath(elsewhere / "other", link.parent))
        assert invoke(words) == 0
        assert link.is_symlink()
        assert target.stat().st_size > 10
        assert max(file.name for file in elsewhere.iterdir()) == "other"
        assert not [file for file in (*elsewhere.iterdir(), *link.parent.iterdir()) if "new" in file.name]


@pytest.mark.parametrize("name", EVERY)
def test_what_is_not_a_file_receives_the_contents_and_stays(here: Path, name: str) -> None:
    words, path = EVERY[name]
    (here / path).unlink(missing_ok=True)
    os.mkfifo(here / path)
    found: list[bytes] = []
    reader = threading.Thread(target=lambda: found.append((here / path).read_bytes()), daemon=True)
    reader.start()
    assert invoke(words) == 0
    reader.join(10)
    assert len(found[0]) > 10
    assert stat.S_ISFIFO((here / path).stat().st_mode)


@pytest.mark.parametrize("name", EVERY)
def test_a_device_stays_a_device(here: Path, name: str) -> None:
    words, path = EVERY[name]
    (here / path).unlink(missing_ok=True)
    try:
        os.mknod(here / path, 0o666 | stat.S_IFCHR, Path(os.devnull).stat().st_rdev)
        (here / path).write_bytes(b"x")
    except OSError:
        # Only root makes devices, and not everywhere.
        (here / path).unlink(missing_ok=True)
        (here / path).symlink_to(os.devnull)
    assert invoke(words) == 0
    assert stat.S_ISCHR((here / path).stat().st_mode)


@pytest.mark.usefixtures("any_draft")
@pytest.mark.parametrize("name", EVERY)
def test_a_file_with_the_name_of_an_old_draft_stays_as_it_is(here: Path, name: str) -> None:
    words, path = EVERY[name]
    (here / "mine").write_text("mine")
    draft = here / f"{path}.new"
    draft.symlink_to(here / "mine")
    assert invoke(words) == 0
    assert draft.is_symlink()
    assert (here / "mine").read_text() == "mine"
    assert (here / path).stat().st_size > 10


@pytest.mark.usefixtures("any_draft")
@pytest.mark.parametrize("name", WRITERS)
def test_a_full_device_leaves_one_sentence(here: Path, name: str, capsys: pytest.CaptureFixture[str]) -> None:
    words, _ = WRITERS[name]
    (here / "full").symlink_to("/dev/full")
    if name in {"ladder", "drawing"}:
        (here / "full").rename(here / f"full{WRITERS[name][1][1:]}")
    target = next(file.name for file in here.iterdir() if file.name.startswith("full"))
    assert invoke([*words, target]) == 4
    assert capsys.readouterr().err.splitlines()[-1] == (
        f"error: {target}: {os.strerror(errno.ENOSPC)}; expected a writable file"
    )


@pytest.mark.parametrize("target", ["-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"])
@pytest.mark.parametrize("name", ["report", "export", "summary", "text", "play", "archive", "capture"])
def test_stdout_is_written_by_all_its_names(here: Path, name: str, target: str) -> None:
    words, path = WRITERS[name]
    assert invoke([*words, path]) == 0
    shell = f'echo first; {" ".join(COMMAND)} "$@" && echo last'
    with (here / "out").open("wb") as out:
        done = subprocess.run(
            ["sh", "-c", shell, "sh", *words, target],
            env=environment(),
            stdout=out,
            stderr=subprocess.PIPE,
            check=False,
        )
    assert (done.returncode, b"Traceback" in done.stderr) == (0, False)
    assert (here / "out").read_bytes() == b"first\n" + (here / path).read_bytes() + b"last\n"


def test_a_reader_that_goes_away_is_not_an_error(here: Path) -> None:
    shell = f"{{ {' '.join(COMMAND)} export s -o -; echo $? >code; }} | head -c 1"
    done = subprocess.run(
        ["bash", "-c", shell], cwd=here, env=environment(), capture_output=True, check=False
    )
    assert (done.stdout, done.stderr, (here / "code").read_text()) == (b"p", b"", "0\n")


def test_a_capture_does_not_mix_with_the_metrics_nor_with_another(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert invoke(["run", "small.toml", "--pcap", "-"]) == 2
    assert "the metrics go there; expected a file, or -q without --json" in capsys.readouterr().err
    (here / "hop.toml").write_text(HOP.replace("[flows.main]", WIRE))
    assert invoke(["run", "hop.toml", "--pcap", "wlan=x", "--pcap", "wire=./x"]) == 2
    assert "x: the file of two captures; expected one for each" in capsys.readouterr().err


WIRE = """[links.wire]
kind = "wired"
nodes = ["left", "beyond"]
rate = "1 Mbit/s"

[nodes.beyond]

[flows.main]"""


@pytest.mark.parametrize("words", [("run", "small.toml"), ("sweep", "small.toml"), ("plot", "s")])
def test_a_directory_is_not_stdout(
    here: Path, words: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    assert invoke([*words, "-o", "-"]) == 2
    assert '"-" is the standard output; expected a directory' in capsys.readouterr().err
    assert not (here / "-").exists()


@pytest.mark.usefixtures("any_draft")
def test_a_failure_keeps_the_file_and_leaves_no_draft(tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.write_text("before")

    def fail() -> None:
        with files.replacing(path) as draft:
            draft.write_text("half")
            raise KeyError

    with pytest.raises(KeyError):
        fail()
    assert [file.name for file in tmp_path.iterdir()] == ["x"]
    assert path.read_text() == "before"


@pytest.mark.usefixtures("any_draft")
def test_a_draft_has_no_name_that_could_be_known(tmp_path: Path) -> None:
    with files.replacing(tmp_path / "x") as draft:
        draft.write_text("whole")
        names = [file.name for file in tmp_path.iterdir()]
        assert all(files.is_draft(name) and len(name) > 20 for name in names)
    assert [file.name for file in tmp_path.iterdir()] == ["x"]


@pytest.mark.usefixtures("any_draft")
def test_a_file_keeps_its_permissions_and_a_new_one_has_the_usual_ones(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        files.put(tmp_path / "new", "text")
        (tmp_path / "old").write_text("before")
        (tmp_path / "old").chmod(0o604)
        files.put(tmp_path / "old", "text")
    finally:
        os.umask(before)
    assert [stat.S_IMODE((tmp_path / name).stat().st_mode) for name in ("new", "old")] == [0o640, 0o604]


def test_a_file_that_may_not_be_written_is_not_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "x").write_text("before")
    monkeypatch.setattr(os, "access", lambda *_: False)
    with pytest.raises(StudyError, match="x: Permission denied; expected a writable file"):
        files.put(tmp_path / "x", "text")


@pytest.mark.parametrize("make", ["circle", "directory", "long", "below a file", "nowhere"])
def test_what_cannot_be_written_is_said_in_one_sentence(tmp_path: Path, make: str) -> None:
    (tmp_path / "circle").symlink_to("circle")
    (tmp_path / "directory").mkdir()
    (tmp_path / "file").touch()
    names = {"long": "x" * 300, "below a file": "file/x", "nowhere": "no/x"}
    with pytest.raises(LasthopError, match="; expected ") as caught:
        files.put(tmp_path / names.get(make, make), "text")
    assert caught.value.exit_code == (2 if make in {"long", "nowhere"} else 4)


@pytest.mark.parametrize("name", ["study.sqlite", "scenario.toml", "resolved.json"])
def test_nothing_writes_over_a_study_not_even_by_a_link(here: Path, name: str) -> None:
    before = (here / "s" / name).read_bytes()
    (here / "link").symlink_to(f"s/{name}")
    study, run = lh.Study.open("s"), lh.load("small.toml").run(trace=["cwnd"])
    writes: list[Callable[[Path], object]] = [
        *(study.to_csv, study.to_json, study.to_parquet, study.report),
        *(run.trace("cwnd").to_csv, run.trace("cwnd").to_parquet),
        lambda path: lh.load("small.toml").run(pcap=path),
    ]
    for path in (here / "s" / name, here / "link"):
        for write in writes:
            with pytest.raises(lh.UsageError, match="a file of a study; expected another file to write"):
                write(path)
    assert (here / "s" / name).read_bytes() == before
