"""Laws in Python by the names that scenarios call them, in this process and in those that run its tasks."""

from __future__ import annotations

import importlib
import re
import sys
from pathlib import Path
from typing import NamedTuple

from lasthop import _core
from lasthop.base.arguments import nonblank
from lasthop.base.errors import LasthopError, UsageError, nearest, reason

ENTRY_POINTS = "lasthop.laws"
WITHOUT = "or a law of an installed package, of which there is none"
REQUIRED = ("on_ack", "on_loss", "on_timeout")


class LawUse(NamedTuple):
    """What a law in Python cost in a run.

    Attributes:
        acks: Acknowledgements that it received.
        calls: All its calls.
        spent_s: What they took, in seconds of wall-clock time: with several threads, waiting for
            Python's lock is included.
    """

    acks: int
    calls: int
    spent_s: float

    @property
    def us_per_ack(self) -> float:
        """The cost of the law.

        Returns:
            Microseconds of all its calls for each acknowledgement.
        """
        return self.spent_s / self.acks * 1e6 if self.acks else 0.0


class Registered(NamedTuple):
    """A law as another process finds it: by module and class, with a hash of its source."""

    name: str
    module: str
    qualname: str
    file: str | None
    recovery: str
    identity: str

    def __str__(self) -> str:
        """The option that registers it."""
        return f"--law {self.name}={self.file or self.module}:{self.qualname}"


_LAWS: dict[str, Registered] = {}


def law(name: str, kind: type, *, recovery: str = "sack") -> None:
    """Register a class as a congestion law that scenarios select as `tcp.variant` or `tcp.congestion`.

    Runs with it are slow: every acknowledgement calls Python. A registration replaces an earlier one of the
    name. The source of the module of the class is a part of the key of stored runs, so that a study does not
    reuse the runs of another version.

    Args:
        name: What scenarios call it: lower-case letters, digits and hyphens.
        kind: A class with the methods of `lasthop.laws.Law`; each connection makes an object of it.
        recovery: The loss recovery of `tcp.variant = NAME`, such as `newreno`; see `lasthop list recovery`.

    Raises:
        UsageError: The class has not these methods, or the recovery is unknown.
        ScenarioError: The name is not one, or a law of lasthop has it.
    """
    nonblank("name", name, "a name such as my-law")
    nonblank("recovery", recovery, "a recovery such as newreno")
    if not isinstance(kind, type):
        raise UsageError(f"{kind!r}; expected a class with {', '.join(REQUIRED)}", argument="kind")
    missing = [method for method in REQUIRED if not callable(getattr(kind, method, None))]
    if missing:
        raise UsageError(
            f"{kind.__name__} has no {', '.join(missing)}; expected a class with {', '.join(REQUIRED)}",
            argument="kind",
        )
    paces = getattr(kind, "paces", False)
    if not isinstance(paces, bool):
        raise UsageError(f"{kind.__name__}.paces: {paces!r}; expected True or False", argument="kind")
    identity = _identity(kind)
    try:
        _core.register_law(name, kind, recovery, identity)
    except ValueError as e:
        if isinstance(e, LasthopError):
            raise
        raise UsageError(str(e), argument="recovery") from None
    module = sys.modules.get(kind.__module__)
    file = getattr(module, "__file__", None)
    _LAWS[name] = Registered(name, kind.__module__, kind.__qualname__, file, recovery, identity)


def forget(name: str) -> None:
    """Forget a law; scenarios that name it cannot be read or run any more."""
    _core.forget_law(name)
    _LAWS.pop(name, None)


def known() -> list[str]:
    """The names of the laws in Python that are registered."""
    return list(_LAWS)


def _identity(kind: type) -> str:
    """A hash of the files of the modules of a class and its bases; in a notebook, of its source."""
    import hashlib
    import inspect

    digest = hashlib.sha256()
    for one in kind.__mro__[:-1]:
        file = getattr(sys.modules.get(one.__module__), "__file__", None)
        try:
            source = Path(file).read_bytes() if file else inspect.getsource(one).encode()
        except (OSError, TypeError):
            codes = (getattr(value, "__code__", None) for value in vars(one).values())
            source = repr([(code.co_code, code.co_consts, code.co_names) for code in codes if code]).encode()
        digest.update(one.__qualname__.encode() + b"\0" + source)
    return digest.hexdigest()[:32]


def used(text: str, overrides: tuple[tuple[str, str], ...]) -> tuple[Registered, ...]:
    """The registered laws that a scenario may name."""
    texts = (text, *(value for _, value in overrides))
    words = {law.name: re.compile(rf"(?<![\w-]){law.name}(?![\w-])") for law in _LAWS.values()}
    return tuple(law for law in _LAWS.values() if any(words[law.name].search(one) for one in texts))


def take_over(laws: tuple[Registered, ...]) -> None:
    """Register the laws of a task in the process that carries it out, from the same sources."""
    for one in laws:
        known = _LAWS.get(one.name)
        if known is None or known.identity != one.identity:
            law(one.name, _class(one.module, one.qualname, one.file), recovery=one.recovery)
        found = _LAWS[one.name].identity
        if found != one.identity:
            raise LasthopError(
                f'law "{one.name}": {one.module}:{one.qualname} has another source in the process of this '
                "run; expected the same on all machines"
            )


def installed() -> dict[str, str]:
    """The laws of installed packages: name to `MODULE:CLASS`."""
    from importlib.metadata import entry_points

    return {point.name: point.value for point in entry_points(group=ENTRY_POINTS)}


def named(text: str) -> str:
    """Register the law of an option, `NAME=MODULE:CLASS` with a module or a file; returns its name.

    A name alone is an entry point of an installed package.
    """
    if not set(text) & set("=:/."):
        found = installed()
        if text not in found:
            none = f"expected [NAME=]MODULE:CLASS such as mine=laws.py:Mine, {WITHOUT}"
            raise UsageError(f'"{text}"; {nearest(text, found, none=none)}', argument="law")
        text = f"{text}={found[text]}"
    name, sign, place = text.partition("=")
    if not sign:
        place, name = name, ""
    module, colon, qualname = place.rpartition(":")
    if not colon or not module or not qualname:
        raise UsageError(f'"{text}"; expected [NAME=]MODULE:CLASS such as mine=laws.py:Mine', argument="law")
    is_file = module.endswith(".py")
    if is_file and not Path(module).is_file():
        raise UsageError(f"{module}: no such file; expected a file with the class {qualname}", argument="law")
    # A module of the current directory is found, as by `python -m`.
    if "" not in sys.path:
        sys.path.insert(0, "")
    file = str(Path(module).resolve()) if is_file else None
    kind = _class(Path(module).stem if is_file else module, qualname, file)
    name = name or qualname.rpartition(".")[2].lower()
    try:
        law(name, kind)
    except LasthopError as e:
        # The option has not the arguments `name` and `kind` of `law`.
        raise UsageError(e.text.removeprefix("name: "), argument="law") from e
    return name


def _class(module: str, qualname: str, file: str | None) -> type:
    try:
        found: object = _module(module, file)
        for part in qualname.split("."):
            found = getattr(found, part)
    except (Exception, SystemExit) as e:
        raise UsageError(
            f"{module}:{qualname}: {type(e).__name__}: {reason(e)}; expected a class that can be imported",
            argument="law",
        ) from e
    if not isinstance(found, type):
        raise UsageError(f"{module}:{qualname} is not a class; expected one", argument="law")
    return found


def _module(name: str, file: str | None) -> object:
    """A module by its name; from its file where the name means another one."""
    if file is None:
        return importlib.import_module(name)
    if name == "__main__" and not _is_from(sys.modules[name], file):
        name = Path(file).stem
    if name in sys.modules:
        if _is_from(sys.modules[name], file):
            return sys.modules[name]
        name = f"{name}_of_law"
    from importlib import util

    spec = util.spec_from_file_location(name, file)
    if spec is None or spec.loader is None:
        raise ImportError(f"{file} is not a module")
    module = util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module


def _is_from(module: object, file: str) -> bool:
    found = getattr(module, "__file__", None)
    return found is not None and Path(found).resolve() == Path(file).resolve()
