"""References for lasthop and the papers: as a line of text, and for BibTeX.

That of lasthop comes from `CITATION.cff`, with the version of the package or of a study. That of a paper
comes from the table `[cite]` of its claims file: `type`, `key`, `author` (a list), `title`, `in`, and further
BibTeX fields. `in` is the journal, proceedings or institution, or the note on an unpublished manuscript.
"""

from __future__ import annotations

import json
import re
import tomllib
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lasthop import _core
from lasthop.base import paths
from lasthop.base.errors import LasthopError, StudyError, UsageError, nearest, reason
from lasthop.papers.claims import read
from lasthop.papers.paper import known
from lasthop.study.directory import overrides_of
from lasthop.study.ledger import Ledger

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

SOFTWARE = "lasthop"
_FILE = "CITATION.cff"
_PLACES = {
    "article": "journal",
    "inproceedings": "booktitle",
    "techreport": "institution",
    "unpublished": "note",
}
"""The types of entries, each with the field for the place of publication."""
_FIELDS = ("volume", "number", "pages", "month", "year", "doi", "url")


@dataclass(frozen=True, slots=True)
class Work:
    """A reference; `fields` are those of BibTeX, in order."""

    id: str
    type: str
    key: str
    author: tuple[str, ...]
    title: str
    fields: Mapping[str, str] = field(default_factory=dict)

    def text(self) -> str:
        """One line for a list of references.

        >>> fields = {"journal": "Networks", "volume": "23", "number": "6", "pages": "1--9", "year": "2007"}
        >>> Work("x", "article", "x", ("Ann Li", "Bo Wu", "Cy Ott"), "On TCP", fields).text()
        'Ann Li, Bo Wu and Cy Ott: "On TCP". Networks, vol. 23, no. 6, pp. 1–9, 2007.'
        """
        *first, last = self.author
        authors = f"{', '.join(first)} and {last}" if first else last
        words = {
            "volume": "vol. {}",
            "number": "no. {}",
            "pages": "pp. {}",
            "doi": "doi:{}",
            "version": "Version {}",
        }
        if self.type == "techreport":
            words["number"] = "{}"
        dated = dict(self.fields)
        if self.type == "unpublished":
            # Its note has the date.
            dated.pop("year", None)
        if "month" in dated and "year" in dated:
            dated["year"] = f"{dated.pop('month')} {dated['year']}"
        parts = [words.get(name, "{}").format(value) for name, value in dated.items()]
        return f'{authors}: "{self.title}". {", ".join(parts)}.'.replace("--", "–")

    def bibtex(self) -> str:
        r"""An entry for BibTeX.

        >>> work = Work("x", "misc", "li07", ("Ann Li", "Bo & Co authors"), "On {TCP}", {"year": "2007"})
        >>> print(work.bibtex())
        @misc{li07,
          author = {Ann Li and Bo \& Co authors},
          title = {{On {TCP}}},
          year = {2007},
        }
        """
        # Braces preserve the capitals of a title, and keep the name of an organisation in one piece.
        authors = " and ".join(f"{{{name}}}" if self.type == "software" else name for name in self.author)
        fields = {"author": authors, "title": f"{{{self.title}}}", **self.fields}
        lines = [f"  {name} = {{{_escaped(name, value)}}}," for name, value in fields.items()]
        return "\n".join([f"@{self.type}{{{self.key},", *lines, "}"])

    def as_dict(self) -> dict[str, str]:
        """The reference for `--json`."""
        return {"id": self.id, "text": self.text(), "bibtex": self.bibtex()}


def _escaped(name: str, value: str) -> str:
    return value if name in {"doi", "url"} else re.sub(r"(?<!\\)([&%#_$])", r"\\\1", value)


def works() -> list[str]:
    """The ids that can be cited: lasthop, and the papers."""
    return [SOFTWARE, *(ident for ident, path in known().items() if _can_be_cited(path))]


def _can_be_cited(path: Path) -> bool:
    try:
        return "cite" in read(path)[0]
    except LasthopError:
        # A broken file must not hide the others.
        return False


def named(ident: str) -> list[Work]:
    """The references for an id, or for the study in a directory."""
    if ident in (SOFTWARE, *known()):
        return [work(ident)]
    if paths.is_study(ident):
        return of_study(Path(ident))
    if Path(ident).exists():
        ids = ", ".join(works())
        raise UsageError(f"cite: {ident}: is not a study; expected the directory of a study, or one of {ids}")
    return [work(ident)]


def of_study(folder: Path) -> list[Work]:
    """The version that a study was run with, the paper of its scenario, and those of its schemes."""
    with closing(Ledger(folder, write=False, of_any_model=True)) as ledger:
        meta = {name: ledger.meta(name) for name in ("version", "model_version", "text")}
        given = overrides_of(ledger)
    try:
        scenario = tomllib.loads(meta["text"])
    except (ValueError, RecursionError) as e:
        raise StudyError(f"{folder}: damaged (its scenario: {reason(e)}); expected TOML") from e
    sweep = scenario.pop("sweep", {})
    overrides = [_override(key, text) for key, text in given]
    settings: dict[str, list[str]] = {}
    for table in (scenario, {"sweep": sweep}, *overrides):
        settings |= _texts(table)
    papers = [str(scenario.get("paper", "")).partition("/")[0], *_schemes(settings)]
    made = {"version": meta["version"], "note": f"model {meta['model_version']}"}
    version = software()
    version = replace(version, fields={**version.fields, **made})
    return [version, *(work(ident) for ident in dict.fromkeys(papers) if ident in works())]


def _override(key: str, text: str) -> dict[str, Any]:
    """An override as a file would have it; text that is not TOML stays text."""
    try:
        return tomllib.loads(f"{key} = {text}")
    except (ValueError, RecursionError):
        return {key: text}


def _texts(table: Mapping[str, Any]) -> dict[str, list[str]]:
    """The texts that a table gives each key, at whatever points.

    >>> _texts({"a": {"b": "x"}, "sweep": {"c.d": ["y", "z"], "zip": {"e": ["v"]}}})
    {'a.b': ['x'], 'c.d': ['y', 'z'], 'e': ['v']}
    """
    found: dict[str, list[str]] = {}

    def add(key: str, value: object) -> None:
        if isinstance(value, dict):
            for name, inner in value.items():
                add(f"{key}.{name}" if key else name, inner)
        elif isinstance(value, list):
            for inner in value:
                add(key, inner)
        elif isinstance(value, str):
            found.setdefault(re.sub(r"^sweep\.((zip|list)\.)?", "", key), []).append(value)

    add("", table)
    return found


def _schemes(settings: Mapping[str, list[str]]) -> Iterator[str]:
    """The schemes that a scenario selects, at any point: their names are those of their papers."""
    for scheme in json.loads(_core.registry())["schemes"]:
        pattern, value = scheme["set"].split(" = ")
        key = re.compile(re.escape(pattern).replace("NAME", "[^.]+"))
        # A list of an override needs no quotes, and is text here.
        word = re.compile(rf"(?<![\w-]){re.escape(value.strip(chr(34)))}(?![\w-])")
        if any(key.fullmatch(name) and any(map(word.search, texts)) for name, texts in settings.items()):
            yield scheme["name"]


def work(ident: str) -> Work:
    """The reference of `lasthop` or of a paper, by id."""
    if ident == SOFTWARE:
        return software()
    files = known()
    if ident not in files:
        expected = nearest(ident, [SOFTWARE, *files])
        raise UsageError(f"cite: {ident}: is not an id, nor the directory of a study; {expected}")
    head, _ = read(files[ident])
    if "cite" not in head:
        raise UsageError(f"cite: {ident}: is not a paper; expected one of {', '.join(works())}")
    return _paper(ident, files[ident], head["cite"])


def software() -> Work:
    """This version of lasthop."""
    path = paths.data(_FILE)
    try:
        values, authors = _cff(path.read_text(encoding="utf-8"))
        fields = {
            "version": _core.__version__,
            "note": f"model {_core.model_version}",
            "url": values["repository-code"],
        }
        return Work(SOFTWARE, "software", SOFTWARE, authors, values["title"], fields)
    except (OSError, KeyError) as e:
        raise UsageError(f"{path}: {reason(e)}; expected title, authors and repository-code") from e


def _cff(text: str) -> tuple[dict[str, str], tuple[str, ...]]:
    r"""The values and the authors of `CITATION.cff`, for the subset of YAML that it uses.

    >>> _cff('title: "A: b"\nauthors:\n  - name: Ann\n  - name: "Bo"\n')
    ({'title': 'A: b'}, ('Ann', 'Bo'))
    """
    values = {name: value.strip('"') for name, value in re.findall(r"^([\w-]+): (.+)$", text, re.MULTILINE)}
    authors = re.findall(r"^ +- name: (.+)$", text, re.MULTILINE)
    if not authors:
        raise KeyError("no authors")
    return values, tuple(name.strip('"') for name in authors)


def _paper(ident: str, path: Path, given: Mapping[str, Any]) -> Work:
    where = f"{path}: cite"
    for name in ("type", "key", "author", "title", "in"):
        if name not in given:
            raise UsageError(f"{where}: no {name}; expected one")
    if given["type"] not in _PLACES:
        raise UsageError(f"{where}: type: {given['type']}; {nearest(given['type'], _PLACES)}")
    for name in given:
        if name not in {"type", "key", "author", "title", "in", *_FIELDS}:
            raise UsageError(f"{where}: {name}: unknown key; {nearest(name, _FIELDS)}")
    fields = {
        _PLACES[given["type"]]: given["in"],
        **{name: str(given[name]) for name in _FIELDS if name in given},
    }
    return Work(ident, given["type"], given["key"], tuple(given["author"]), given["title"], fields)
