"""`lasthop.live`: programs and sockets of Python on the nodes of a scenario, in real time."""

from __future__ import annotations

import os
import pickle
import shutil
import subprocess
import sys
import threading
import time
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lasthop.base.arguments import MOST_SEED, nonblank, place, span, whole, words
from lasthop.base.errors import LasthopError, RunError, UnavailableError, UsageError, nearest
from lasthop.base.paths import for_children
from lasthop.realtime import system
from lasthop.realtime.programs import listens
from lasthop.realtime.session import LIMIT_S, Outcome
from lasthop.scenario.scenario import Scenario, capture_files, load

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from contextlib import AbstractContextManager
    from subprocess import CompletedProcess, Popen
    from types import TracebackType
    from typing import IO, Self

    from lasthop.realtime.programs import Node

    _Command = tuple[str, tuple[str, ...]]

_WORKER, _ENTER = (str(Path(__file__).with_name(name)) for name in ("worker.py", "enter.py"))
# A network that takes longer to end is killed.
_GRACE_S = 20.0
# What is needed to start a program on a node.
_TAKEN = {"shell", "executable", "preexec_fn"}
_MOST_PORT = 65535
# How long a program may take until it listens.
_PATIENCE_S, _TICK_S = 10.0, 0.01


def live(
    scenario: Scenario | str | Path,
    nodes: Sequence[str],
    *,
    internet: str | None = None,
    point: int = 0,
    seed: int | None = None,
    replication: int = 0,
    limit_s: float = LIMIT_S,
    trace: Sequence[str] = (),
    pcap: str | Path | Mapping[str, str | Path] | None = None,
    out: str | Path | None = None,
) -> Live:
    """Make the network of a scenario in real time, with some of its nodes for programs and sockets.

    `with lasthop.live(…) as net:` runs it as long as the block lasts. A process of its own holds the network;
    however this process ends, nothing is left of it.

    Args:
        scenario: A scenario, or what `load` takes.
        nodes: The names of the nodes.
        internet: The name of a node through which the programs reach the Internet.
        point: The number of the point.
        seed: Seed of all random streams; default: the scenario's seed.
        replication: The number of the run for this seed.
        limit_s: The time in seconds after which the network ends.
        trace: Channels to record, such as `events`; `out` receives them.
        pcap: A capture file for the first link, or one for each link in a mapping.
        out: A directory for the outcome and its traces, as `lasthop live -o` writes it.

    Returns:
        The network, which the `with` statement starts.

    Raises:
        UsageError: An argument is invalid for this scenario.
        ScenarioError: The scenario cannot be run.
        StudyError: The directory of a capture does not exist.
    """
    if not isinstance(scenario, (str, os.PathLike, Scenario)):
        raise UsageError(f"{scenario!r}; expected a Scenario, a path or an id", argument="scenario")
    chosen = scenario if isinstance(scenario, Scenario) else load(scenario)
    named = list(dict.fromkeys(words("nodes", nodes, "phone")))
    further = checked(chosen, named, "nodes", point, seed, replication, limit_s, trace, pcap, out)
    if internet is not None:
        _expect_node(internet, [node["name"] for node in chosen.network(point)["nodes"]], "internet")
    others = list(dict.fromkeys([*named, *([] if internet is None else [internet])]))
    return Live({**further, "others": others, "internet": internet})


def checked(
    scenario: Scenario,
    nodes: Sequence[str],
    argument: str,
    point: int,
    seed: int | None,
    replication: int,
    limit_s: float,
    trace: Sequence[str],
    pcap: str | Path | Mapping[str, str | Path] | None,
    out: str | Path | None,
) -> dict[str, Any]:
    """The arguments of a run of programs in Python, as `session.run` takes them.

    Raises:
        UsageError: An argument is invalid for this scenario.
    """
    known = [node["name"] for node in scenario.network(point)["nodes"]]
    for name in nodes:
        _expect_node(name, known, argument)
    if not nodes:
        raise UsageError(f"no node; {nearest('', known)}", argument=argument)
    channels = scenario.check_trace(trace, point)
    if channels and out is None:
        raise UsageError("nothing keeps the traces; expected a directory as out", argument="trace")
    return {
        "scenario": Scenario.from_text(scenario.text, scenario.name, scenario.overrides, ident=scenario.id),
        "point": point,
        "seed": seed if seed is None else whole("seed", seed, most=MOST_SEED),
        "replication": whole("replication", replication),
        "limit_s": span("limit_s", limit_s),
        "trace": channels,
        "pcap": {link: file.absolute() for link, file in capture_files(scenario, pcap, point).items()},
        "out": None if out is None else place("out", out, "a directory").absolute(),
    }


def _expect_node(name: str, known: Sequence[str], argument: str) -> None:
    if nonblank(argument, name, "the name of a node") not in known:
        raise UsageError(f"{name}: no such node; {nearest(name, known)}", argument=argument)


class Live:
    """The network of a scenario in real time, while the block of its `with` statement runs.

    Entering the block raises `UnavailableError` where the system does not allow it, and `ScenarioError` where
    the scenario cannot run in real time. An exception in the block ends the network and passes on.
    """

    def __init__(self, asked: dict[str, Any]) -> None:
        self._asked = asked
        self._process: Popen[bytes] | None = None
        self._nodes: dict[str, LiveNode] = {}
        self._commands: list[_Command] = []
        self._programs: list[Popen[Any]] = []
        self._outcome: Outcome | None = None

    def __enter__(self) -> Self:
        if self._process is not None:
            raise UsageError("the network runs already; expected one block at a time")
        self._commands, self._programs, self._outcome = [], [], None
        self._process = subprocess.Popen(
            [sys.executable, "-P", _WORKER],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": for_children(), "OPENBLAS_NUM_THREADS": "1"},
            # Ctrl-C is for this process, which then ends the network.
            start_new_session=True,
        )
        try:
            with suppress(BrokenPipeError):
                self._pipes()[0].write(pickle.dumps(self._asked))
                self._pipes()[0].flush()
            nodes: list[Node] = self._answer(self._process)
        except BaseException:
            self._close(self._process)
            raise
        shared = (self._process.pid, self._commands, self._programs)
        self._nodes = {node.name: LiveNode(node, *shared) for node in nodes}
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._process is not None
        # The end of its input ends the network.
        self._pipes()[0].close()
        late = threading.Timer(_GRACE_S, self._process.kill)
        late.start()
        try:
            outcome: Outcome = self._answer(self._process)
            self._outcome = replace(outcome, status=None, commands=self._commands)
        except LasthopError:
            if error is None:
                raise
        finally:
            late.cancel()
            late.join()
            self._close(self._process)

    def _pipes(self) -> tuple[IO[bytes], IO[bytes]]:
        """The input and the output of the process that holds the network."""
        assert self._process is not None
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        return self._process.stdin, self._process.stdout

    def _answer(self, process: Popen[bytes]) -> Any:
        try:
            found = pickle.load(self._pipes()[1])  # noqa: S301
        except EOFError:
            text = f"live: the network ended with exit code {process.wait()}; expected an outcome"
            raise RunError(text) from None
        if isinstance(found, LasthopError):
            raise found
        return found

    def _close(self, process: Popen[bytes]) -> None:
        """End the network, and await all that this process has started in it."""
        process.kill()
        for pipe in self._pipes():
            with suppress(BrokenPipeError):
                pipe.close()
        for one in (process, *self._programs):
            one.wait()
        self._process = None

    def node(self, name: str) -> LiveNode:
        """A node of the network, while it runs.

        Args:
            name: Its name.

        Returns:
            The node.

        Raises:
            UsageError: The network does not run, or has no such node.
        """
        _expect_node(name, self._asked["others"], "name")
        if self._process is None:
            raise UsageError("the network does not run; expected to be in its block")
        return self._nodes[name]

    @property
    def outcome(self) -> Outcome:
        """What the network did, once its block has ended.

        Returns:
            The metrics, how late packets were, and what each node sent.

        Raises:
            UsageError: The block has not ended, or ended in a failure of the network.
        """
        if self._outcome is None:
            raise UsageError("there is no outcome yet; expected the block to have ended")
        return self._outcome


class _Visits(threading.local):
    """The visits of a thread to a node, of which the last ends first."""

    def __init__(self) -> None:
        self.open: list[AbstractContextManager[None]] = []


class LiveNode:
    """A node of a network that runs in real time.

    `with node:` moves the calling thread to the node: its sockets are on the node, and the other nodes are
    known by name. So are those of the threads that it starts there. It needs root; `run` and `start` do not.

    Attributes:
        name: Its name.
        address: Its address.
    """

    def __init__(
        self, node: Node, holder: int, commands: list[tuple[str, tuple[str, ...]]], programs: list[Popen[Any]]
    ) -> None:
        self.name = node.name
        self.address = node.address
        self._holder = Path(f"/proc/{holder}")
        self._network = self._holder / f"fd/{node.namespace}"
        self._words = (sys.executable, "-I", "-S", _ENTER, str(holder), str(node.namespace))
        self._commands, self._programs = commands, programs
        self._visits = _Visits()

    def __enter__(self) -> Self:
        visit = system.visited(str(self._holder / "ns/mnt"), str(self._network))
        try:
            visit.__enter__()
        except FileNotFoundError:
            raise RunError(f"live: {self.name}: the network has ended; expected it to run") from None
        except OSError as error:
            text = f"live: {self.name}: {error.strerror}; expected root; start() and run() do without"
            raise UnavailableError(text) from error
        self._visits.open.append(visit)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._visits.open.pop().__exit__(None, None, None)

    def start(self, command: Sequence[str], *, port: int | None = None, **options: Any) -> Popen[Any]:
        """Start a program on the node; it ends with the network.

        Args:
            command: The program and its arguments.
            port: Wait until a program on the node listens on this port of TCP or UDP.
            options: What `subprocess.Popen` takes, except `shell`, `executable` and `preexec_fn`.

        Returns:
            The program, as `subprocess.Popen` gives it.

        Raises:
            UsageError: There is no such program.
            RunError: No program listens on the port after 10 s, or this one has ended.
        """
        given = self._checked(command, options)
        if port is not None:
            whole("port", port, 1, _MOST_PORT)
        started: Popen[Any] = subprocess.Popen([*self._words, *given], **options)
        started.args = given
        self._programs.append(started)
        if port is not None and not self._awaited(started, port):
            raise RunError(f"live: {given[0]}: expected a program that listens on port {port} of {self.name}")
        return started

    def run(self, command: Sequence[str], **options: Any) -> CompletedProcess[Any]:
        """Run a program on the node until it ends.

        Args:
            command: The program and its arguments.
            options: What `subprocess.run` takes, such as `capture_output`, `text`, `timeout` and `check`,
                except `shell`, `executable` and `preexec_fn`.

        Returns:
            The program, as `subprocess.run` gives it.

        Raises:
            UsageError: There is no such program.
        """
        given = self._checked(command, options)
        try:
            done = subprocess.run([*self._words, *given], check=options.pop("check", False), **options)
        except (subprocess.CalledProcessError, subprocess.TimeoutExpired) as error:
            error.cmd = given
            raise
        done.args = given
        return done

    def _checked(self, command: Sequence[str], options: Mapping[str, Any]) -> list[str]:
        given = words("command", command, "curl")
        if not given:
            raise UsageError("no program; expected one", argument="command")
        for name in _TAKEN & options.keys():
            raise UsageError(
                "cannot be given; expected a program and its arguments as they are", argument=name
            )
        folders = (options.get("env") or os.environ).get("PATH")
        if "cwd" not in options and shutil.which(given[0], path=folders) is None:
            raise UsageError(f"{given[0]}: no such program; expected one on the path", argument="command")
        self._commands.append((self.name, tuple(given)))
        return given

    def _awaited(self, program: Popen[Any], port: int) -> bool:
        """Whether a program listens on a port of the node before this one ends, after a time at most."""
        until = time.monotonic() + _PATIENCE_S
        while program.poll() is None and time.monotonic() < until:
            with suppress(FileNotFoundError):
                is_there = Path(f"/proc/{program.pid}/ns/net").samefile(self._network)
                if is_there and listens(program.pid, port):
                    return True
            time.sleep(_TICK_S)
        return False
