"""Makes the private environment of a checkout: .venv, the pinned packages, the built simulator.

Called by `lasthop` when something of it is missing or older than its source; needs nothing but the
standard library. Every step can be repeated, is skipped when unchanged, and leaves its mark only when it is
done. A set-up that was killed is thus continued by the next call.

Exit status: 0 ready, 2 a step failed, 75 another process held the lock and has finished.
"""

import errno
import fcntl
import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

HERE = Path(__file__).resolve().parent.parent
VENV = HERE / ".venv"
PYTHON = VENV / "bin" / "python"
LOG = VENV / "build.log"
STAMP = VENV / "stamp"
INSTALLING = VENV / "installing"
"""Exists while pip changes the environment: found by a later call, it means half-written packages."""

SOMEBODY_ELSE_DID_IT = 75
TAIL = 25

# Starts a program without handing on the lock, and holds the lock as long as that program runs.
# Compilers leave servers behind (sccache) which would otherwise hold it for hours.
GUARD = "import subprocess, sys; sys.exit(subprocess.call(sys.argv[1:]))"


class StepError(Exception):
    """A step of the set-up went wrong; the text is the sentence for the user."""


def say(text: str) -> None:
    print(f"lasthop: {text}", file=sys.stderr, flush=True)


@contextmanager
def locked() -> Iterator[tuple[int, bool]]:
    """Holds the checkout's lock; gives its descriptor and whether there was somebody to wait for.

    The kernel frees the lock when the last process that holds it dies, so there is no stale lock. The
    programs started here inherit it, so one that outlives a killed set-up still keeps others out.
    """
    lock = os.open(HERE / ".venv.lock", os.O_RDWR | os.O_CREAT, 0o666)
    waited = False
    try:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say("waiting for the set-up that is running in this folder")
            fcntl.flock(lock, fcntl.LOCK_EX)
            waited = True
        except OSError as error:
            if error.errno not in {errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP}:
                raise
            say("this file system has no locks; do not start a second set-up in this folder")
        yield lock, waited
    finally:
        os.close(lock)


def environment() -> dict[str, str]:
    """The caller's environment without what would mix another Python environment into this one."""
    kept = {name: value for name, value in os.environ.items() if name != "CONDA_PREFIX"}
    ours = {"VIRTUAL_ENV": str(VENV), "PIP_USER": "0", "PIP_QUIET": "1", "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
    return kept | ours


def step(what: str, command: list[str | Path], lock: int) -> None:
    """Runs one step with its output in the log; on failure shows the end of it."""
    say(what)
    with LOG.open("a") as log:
        print(f"\n== {what}\n$ {' '.join(map(str, command))}", file=log, flush=True)
        nothing = subprocess.DEVNULL
        status = subprocess.call(
            command, cwd=HERE, env=environment(), stdin=nothing, stdout=log, stderr=log, pass_fds=(lock,)
        )
    if status:
        lines = LOG.read_text(errors="replace").splitlines()
        print(*lines[-TAIL:], sep="\n", file=sys.stderr)
        raise StepError(f"{what}: failed with status {status}; the whole log is {LOG}")


def prepare_environment(lock: int) -> None:
    """Keeps a whole environment made here; replaces a moved, broken or half-made one."""
    made_in = VENV / "made-in"
    here = made_in.is_file() and made_in.read_text() == f"{HERE}\n"
    if here and not INSTALLING.exists() and runs_pip():
        return
    if VENV.is_symlink() or VENV.is_file():
        VENV.unlink()
    elif VENV.exists():
        shutil.rmtree(VENV)
    VENV.mkdir()
    version = ".".join(map(str, sys.version_info[:3]))
    step(f"making .venv with Python {version}", [sys.executable, "-m", "venv", VENV], lock)
    made_in.write_text(f"{HERE}\n")


def runs_pip() -> bool:
    """False when the Python that .venv uses is gone or of another version."""
    try:
        command: list[str | Path] = [PYTHON, "-c", "import pip"]
        return subprocess.run(command, env=environment(), capture_output=True, check=False).returncode == 0
    except OSError:
        return False


def install(pins: Path, lock: int) -> None:
    """Installs the packages of `pins`, by their hashes, unless the same list was installed before."""
    installed = VENV / pins.name
    if installed.exists() and installed.read_bytes() == pins.read_bytes():
        return
    wanted = pins.read_bytes()
    count = sum(line[:1].isalnum() for line in wanted.splitlines())
    what = f"installing {count} packages of {pins.name}"
    INSTALLING.touch()
    try:
        step(what, [PYTHON, "-m", "pip", "install", "--require-hashes", "--requirement", pins], lock)
    except StepError:
        # pip undoes what it cannot finish; only a killed pip leaves the mark.
        INSTALLING.unlink()
        raise
    installed.write_bytes(wanted)
    INSTALLING.unlink()


def profile() -> Path:
    """Where the profile made with this compiler is: no other reads it, or has its names of functions."""
    about = subprocess.check_output(["rustc", "-vV"], cwd=HERE, text=True)
    digest = hashlib.sha256(about.encode()).hexdigest()[:8]
    return HERE / "crates" / "profiles" / f"rustc-{about.split()[1]}-{digest}.profdata"


def with_profile() -> list[str]:
    """The options with which maturin uses the profile; none if there is none of this compiler."""
    if not profile().is_file():
        return []
    # Functions that have changed since have no counts, which does not merit a warning each.
    flags = [f"-Cprofile-use={profile()}", "-Cllvm-args=-no-pgo-warn-mismatch"]
    return ["--config", f"build.rustflags={json.dumps(flags)}"]


def build(lock: int) -> None:
    """Compiles the extension, with a profile if there is one, and installs the checkout in place."""
    first = not list((HERE / "python" / "lasthop").glob("_core*.so"))
    options = with_profile()
    maturin: list[str | Path] = [VENV / "bin" / "maturin", "develop", "--release", "--locked", *options]
    what = "building the simulator" + (" with its profile" if options else "")
    step(
        f"{what} (one to three minutes)" if first else f"{what} again",
        [sys.executable, "-c", GUARD, *maturin],
        lock,
    )


def set_up(command: str, lock: int) -> None:
    """All steps in order. The stamp has the time before the build: a source saved meanwhile is newer."""
    STAMP.unlink(missing_ok=True)
    prepare_environment(lock)
    begun = VENV / "stamp.new"
    begun.write_text(f"{HERE}\n")
    install(HERE / "requirements.lock", lock)
    if command == "test":
        # The guide is built by a test.
        for pins in ("requirements-dev.lock", "requirements-docs.lock"):
            install(HERE / pins, lock)
    if command in ("test", "--dev"):
        # `lasthop test` builds what it tests, while it runs the lints, and `lasthop --dev` what it runs.
        (packages,) = (VENV / "lib").glob("python*/site-packages")
        (packages / "lasthop.pth").write_text(f"{HERE / 'python'}\n")
        return
    build(lock)
    begun.rename(STAMP)


def main(command: str) -> int:
    with locked() as (lock, waited):
        if waited:
            return SOMEBODY_ELSE_DID_IT
        try:
            set_up(command, lock)
        except (StepError, OSError) as error:
            say(str(error))
            return 2
    say("ready")
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main(*sys.argv[1:]))
    except KeyboardInterrupt:
        say("set-up interrupted; the same command takes it up again")
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGINT)
