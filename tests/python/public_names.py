"""What of the package is public, what its source says of it, and what its docstrings say."""

from __future__ import annotations

import ast
import builtins
import importlib
import inspect
import re
import textwrap
from dataclasses import dataclass
from functools import cache, cached_property
from types import FunctionType, ModuleType
from typing import TYPE_CHECKING, Any

import lasthop as lh

if TYPE_CHECKING:
    from collections.abc import Iterator

SECTION = re.compile(r"^(Args|Returns|Yields|Raises|Attributes):$", re.MULTILINE)
# What the binding raises, by the name that is called there.
OF_CORE: dict[str, set[type[BaseException]]] = {
    "from_file": {lh.ScenarioError},
    "from_text": {lh.ScenarioError},
    "with_overrides": {lh.ScenarioError},
    "run": {lh.RunError, lh.Interrupted},
    "register_law": {lh.ScenarioError},
    "register_pair": {lh.ScenarioError},
    "trace": {OSError},
}


@dataclass(frozen=True)
class Function:
    """A public function, method or property, and the class that is exported with it."""

    name: str
    code: FunctionType
    owner: type | None

    @property
    def sections(self) -> dict[str, dict[str, str]]:
        return sections(self.code.__doc__ or "")

    @property
    def parameters(self) -> list[str]:
        return [name for name in inspect.signature(self.code).parameters if name not in ("self", "cls")]

    @property
    def result(self) -> str:
        return str(self.code.__annotations__.get("return", ""))


def sections(doc: str) -> dict[str, dict[str, str]]:
    """The sections of a docstring in Google's style: of each its entries, or one entry without a name."""
    parts = SECTION.split(inspect.cleandoc(doc))
    found: dict[str, dict[str, str]] = {"": {"": parts[0].strip()}}
    for head, body in zip(parts[1::2], parts[2::2], strict=True):
        text = textwrap.dedent(body.strip("\n"))
        entries = re.split(r"^(\w+): ", text, flags=re.MULTILINE)
        named = dict(zip(entries[1::2], entries[2::2], strict=True))
        found[head] = named if head not in ("Returns", "Yields") and named else {"": text}
    return found


def classes() -> list[type]:
    """The public classes."""
    every = [getattr(lh, name) for name in lh.__all__]
    return [one for one in every if inspect.isclass(one) and one.__module__.split(".")[0] == "lasthop"]


def lineage(owner: type) -> list[type]:
    """A class and its bases, as far as they are of the package and in Python."""
    return [one for one in owner.__mro__ if one.__module__.startswith("lasthop.") and one in with_source()]


@cache
def with_source() -> set[type]:
    found = set()
    for name in list(lh.__all__):
        one = getattr(lh, name)
        for base in one.__mro__ if inspect.isclass(one) else ():
            if base.__module__.startswith("lasthop.") and not base.__module__.endswith("._core"):
                found.add(base)
    return found


def functions() -> list[Function]:
    """All public functions, and the methods and properties of public classes, each once."""
    found = []
    for name in lh.__all__:
        one = getattr(lh, name)
        if isinstance(one, FunctionType):
            found.append(Function(name, one, None))
    for owner in classes():
        seen: set[str] = set()
        for base in lineage(owner):
            for name, member in vars(base).items():
                code = unwrapped(member)
                if name.startswith("_") or name in seen or code is None:
                    continue
                seen.add(name)
                found.append(Function(f"{owner.__name__}.{name}", code, owner))
    return found


def unwrapped(member: object) -> FunctionType | None:
    """The function behind a method or property."""
    if isinstance(member, property):
        member = member.fget
    if isinstance(member, (classmethod, staticmethod)):
        member = member.__func__
    if isinstance(member, cached_property):
        member = member.func
    return member if isinstance(member, FunctionType) else None


@cache
def source(one: Any) -> ast.AST:
    return ast.parse(textwrap.dedent(inspect.getsource(one)))


def attributes(owner: type) -> dict[str, tuple[str, ast.expr | None]]:
    """The public attributes of a class: the module that says so, and the type if it is written down."""
    found: dict[str, tuple[str, ast.expr | None]] = {}
    for base in lineage(owner):
        for node in ast.walk(source(base)):
            match node:
                case ast.ClassDef(body=body):
                    for one in body:
                        match one:
                            case ast.AnnAssign(target=ast.Name(id=name), annotation=type_):
                                found.setdefault(name, (base.__module__, type_))
                            case ast.Assign(targets=[ast.Name(id=name)]):
                                found.setdefault(name, (base.__module__, None))
                case ast.Assign(targets=[ast.Attribute(value=ast.Name(id="self"), attr=name)]):
                    found.setdefault(name, (base.__module__, None))
                case ast.AnnAssign(
                    target=ast.Attribute(value=ast.Name(id="self"), attr=name), annotation=annotation
                ):
                    found.setdefault(name, (base.__module__, annotation))
    return {name: place for name, place in found.items() if not name.startswith("_")}


# The types that signatures name.


@cache
def names_of_module(module: str) -> dict[str, tuple[str, str] | ast.expr]:
    """The imports of a module, also those for types alone, and its plain assignments."""
    found: dict[str, tuple[str, str] | ast.expr] = {}
    file = importlib.import_module(module).__file__
    assert file is not None
    with open(file, encoding="utf-8") as text:  # noqa: PTH123
        tree = ast.parse(text.read())
    for node in ast.walk(tree):
        match node:
            case ast.ImportFrom(module=str(origin), names=names):
                found.update({one.asname or one.name: (origin, one.name) for one in names})
            case ast.Import(names=names):
                found.update({one.asname or one.name: (one.name, "") for one in names})
            case ast.ClassDef(name=name):
                found[name] = (module, name)
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                found.setdefault(name, value)
    return found


def types_named(annotation: ast.expr | str, module: str) -> Iterator[tuple[str, str]]:
    """The classes that an annotation names, as module and name, through the aliases of the package."""
    tree = ast.parse(annotation, mode="eval") if isinstance(annotation, str) else annotation
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield from types_named(node.value, module)
        if not isinstance(node, ast.Name) or hasattr(builtins, node.id):
            continue
        place, target = module, names_of_module(module)[node.id]
        while not isinstance(target, ast.expr) and target[0].startswith("lasthop") and target[1]:
            origin = importlib.import_module(target[0])
            if hasattr(origin, target[1]) and inspect.isclass(getattr(origin, target[1])):
                break
            place, target = target[0], names_of_module(target[0])[target[1]]
        if isinstance(target, ast.expr):
            yield from types_named(target, place)
        else:
            yield target


# What can be raised.


def raises(code: FunctionType, owner: type | None) -> set[type[BaseException]]:
    """What a function raises, and what the functions of the package raise that it calls."""
    return _Raised().of(code, owner)


class _Raised:
    """A walk over the source; it skips what it cannot resolve."""

    def __init__(self) -> None:
        self.seen: set[tuple[object, type | None]] = set()

    def of(self, code: object, owner: type | None) -> set[type[BaseException]]:
        if not isinstance(code, FunctionType) or not code.__module__.startswith("lasthop."):
            return set()
        if (code, owner) in self.seen:
            return set()
        self.seen.add((code, owner))
        try:
            tree = source(code)
        except OSError:
            # Methods that a dataclass makes have no source.
            return set()
        scope = {**code.__globals__}
        for node in ast.walk(tree):
            match node:
                case ast.ImportFrom(module=str(origin), names=names):
                    known = importlib.import_module(origin)
                    scope.update({one.asname or one.name: getattr(known, one.name, None) for one in names})
                case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call(func=ast.Name(id=kind))):
                    if inspect.isclass(scope.get(kind)):
                        scope[name] = _Instance(scope[kind])
                case ast.arg(arg=name, annotation=ast.Name(id=kind)) if kind in CLASSES:
                    scope[name] = _Instance(CLASSES[kind])
        if owner is not None:
            scope["self"] = _Instance(owner)
            scope["cls"] = owner
        return self.block(tree, scope)

    def block(self, node: ast.AST, scope: dict[str, Any]) -> set[type[BaseException]]:
        found: set[type[BaseException]] = set()
        if isinstance(node, ast.Try):
            for inner in node.body:
                found |= self.block(inner, scope)
            for handler in node.handlers:
                caught = self.caught(handler, scope)
                found = {one for one in found if not issubclass(one, caught)}
                found |= self.block(handler, scope)
            for inner in (*node.orelse, *node.finalbody):
                found |= self.block(inner, scope)
            return found
        if isinstance(node, ast.Raise) and node.exc is not None:
            kind = self.value(node.exc.func if isinstance(node.exc, ast.Call) else node.exc, scope)
            if inspect.isclass(kind) and issubclass(kind, BaseException):
                found.add(kind)
        if isinstance(node, ast.Call):
            found |= self.call(node, scope)
        if isinstance(node, ast.Attribute):
            base = self.value(node.value, scope)
            if isinstance(base, _Instance):
                member = inspect.getattr_static(base.kind, node.attr, None)
                if isinstance(member, (property, cached_property)):
                    found |= self.of(unwrapped(member), base.kind)
        for child in ast.iter_child_nodes(node):
            found |= self.block(child, scope)
        return found

    def caught(self, handler: ast.ExceptHandler, scope: dict[str, Any]) -> tuple[type[BaseException], ...]:
        if any(isinstance(node, ast.Raise) and node.exc is None for node in ast.walk(handler)):
            return ()
        types = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
        found = [self.value(one, scope) for one in types if one is not None]
        return tuple(one for one in found if inspect.isclass(one))

    def call(self, node: ast.Call, scope: dict[str, Any]) -> set[type[BaseException]]:
        if isinstance(node.func, ast.Attribute):
            text = ast.unparse(node.func.value)
            if text.endswith("_core") or text == "_core.Scenario":
                return OF_CORE.get(node.func.attr, set())
            base = self.value(node.func.value, scope)
            if isinstance(base, _Instance) or inspect.isclass(base):
                kind = base.kind if isinstance(base, _Instance) else base
                return self.of(unwrapped(inspect.getattr_static(kind, node.func.attr, None)), kind)
        target = self.value(node.func, scope)
        if inspect.isclass(target) and target.__module__.startswith("lasthop.") and target not in ERRORS:
            return self.of(vars(target).get("__init__"), target) | self.of(
                vars(target).get("__post_init__"), target
            )
        return self.of(inspect.unwrap(target) if isinstance(target, FunctionType) else None, None)

    def value(self, node: ast.expr, scope: dict[str, Any]) -> Any:
        """What an expression refers to: a function, class or module, or an instance of a known class."""
        match node:
            case ast.Name(id=name):
                return scope.get(name)
            case ast.Call(func=ast.Name(id="super")):
                owner = scope.get("cls")
                return _Instance(owner.__mro__[1]) if inspect.isclass(owner) else None
            case ast.Call(func=func):
                made = self.value(func, scope)
                return _Instance(made) if inspect.isclass(made) else None
            case ast.Attribute(value=base, attr=name):
                of = self.value(base, scope)
                if isinstance(of, (ModuleType, type)):
                    return getattr(of, name, None)
                if isinstance(of, _Instance) and name in FIELDS:
                    return _Instance(FIELDS[name])
        return None


@dataclass(frozen=True)
class _Instance:
    kind: type


CLASSES: dict[str, type] = {one.__name__: one for one in classes()}
FIELDS: dict[str, type] = {"scenario": lh.Scenario, "study": lh.Study}
ERRORS = {one for one in CLASSES.values() if issubclass(one, BaseException)}
