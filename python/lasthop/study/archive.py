"""A study as one file: `write` makes it, and `verify` checks it on another machine by repeating runs.

The file is a zip of the files of the study, those that its scenario names, the modules of its laws in Python,
its runs as CSV, and its figures. `manifest.json` has versions, command, licence and a SHA-256 of each other
file. The same study gives the same bytes. Python from an archive is executed on request only.
"""

from __future__ import annotations

import hashlib
import json
import lzma
import sqlite3
import struct
import tempfile
import zipfile
import zlib
from collections.abc import Callable
from contextlib import closing, suppress
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

from lasthop import _core
from lasthop.base import paths
from lasthop.base.errors import LasthopError, StudyError, UsageError, reason
from lasthop.base.files import replacing
from lasthop.base.jsontext import clean, dumps, loads
from lasthop.base.paths import LEDGER, TEXT
from lasthop.laws import registered
from lasthop.laws.registered import Registered
from lasthop.scenario.budget import admit
from lasthop.study import export
from lasthop.study.directory import named_file, resolved
from lasthop.study.ledger import opened
from lasthop.study.repeat import command_of_study, portable
from lasthop.study.study import Study
from lasthop.study.work import Limits, Task, execute

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from lasthop.study.rows import Row
    from lasthop.study.study import Result

FORMAT = 1
MANIFEST = "manifest.json"
RESOLVED = "resolved.json"
RUNS = "runs.csv"
LAWS = "laws"
FIGURES = "figures"
EPOCH = (1980, 1, 1, 0, 0, 0)
"""The first time that a zip can hold, so that its bytes do not depend on when it was made."""
MOST_BYTES = 1 << 33
"""What the files of an archive may hold together: a small file can pretend to be a huge one."""
MOST_MANIFEST, MOST_FILES = 1 << 22, 10_000
SMALL, MOST_RATIO = 1 << 26, 200
"""What is larger than the first may unpack to so many times its packed size: results pack less well."""
PART = 1 << 20
NOT_STATED = "not stated"


@dataclass(frozen=True)
class Verdict:
    """What came of repeating runs of an archive.

    Attributes:
        repeated: The number of runs repeated.
        left_out: Runs of the sample that a limit of wall-clock time stopped: no machine can repeat them.
        total: The number of runs in the archive.
        differing: What differs, a line for each such run.
        manifest: The manifest of the archive.
    """

    repeated: int
    left_out: int
    total: int
    differing: list[str]
    manifest: dict[str, Any]


def write(study: Study, target: Path, figures: Mapping[str, bytes], licence: str = NOT_STATED) -> None:
    """Write a study with its figures into one file, which is complete or not there."""
    paths.expect_folder(target.parent)
    paths.protect(target)
    if study.damaged:
        raise StudyError(
            f"{study.path}: {len(study.damaged)} of its runs are damaged ({study.damaged[0]}); expected a "
            "complete ledger (the same sweep makes them again)"
        )
    named = _named(study)
    laws = {f"{LAWS}/{law.name}.py": law for law in _laws(study)}
    contents = {
        TEXT: study.scenario.text.encode(),
        RESOLVED: _resolved(study),
        LEDGER: _ledger(study.path / LEDGER),
        RUNS: _runs(study),
        **named,
        **{name: Path(law.file).read_bytes() for name, law in laws.items() if law.file},
        **{f"{FIGURES}/{name}": drawn for name, drawn in sorted(figures.items())},
    }
    manifest = {
        "format": FORMAT,
        "scenario": study.scenario.id,
        "title": study.scenario.title,
        "lasthop": _core.__version__,
        "model_version": _core.model_version,
        "build": study.build,
        "licence": licence,
        "licence_of_lasthop": "MIT OR Apache-2.0",
        "command": command_of_study(study, portable(study)),
        **_counts(study),
        "files": list(named),
        "laws": [{**law._asdict(), "file": name if law.file else None} for name, law in laws.items()],
        "exceptions": study.labels(),
        "sha256": {name: hashlib.sha256(text).hexdigest() for name, text in contents.items()},
    }
    with replacing(target) as draft, zipfile.ZipFile(draft, "w", zipfile.ZIP_DEFLATED) as file:
        for name, text in {MANIFEST: (dumps(manifest) + "\n").encode(), **contents}.items():
            entry = zipfile.ZipInfo(name, EPOCH)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = 0o644 << 16
            file.writestr(entry, text)


def _resolved(study: Study) -> bytes:
    """The values at all points, as the study has them or, if it has lost them, as they are."""
    try:
        return (study.path / RESOLVED).read_bytes()
    except OSError:
        return (json.dumps(resolved(study.scenario, study.plan, study.seed), indent=1) + "\n").encode()


def _named(study: Study) -> dict[str, bytes]:
    """The files that the scenario names, which others need in order to repeat its runs."""
    found = {}
    for name in sorted(study.scenario.files):
        path = PurePosixPath(name)
        if path.is_absolute() or ".." in path.parts:
            raise UsageError(
                f"{study.path}: its scenario names {name}; expected a file below the folder of the scenario, "
                "because others can verify only what the archive contains"
            )
        file = named_file(study.scenario, name)
        try:
            found[f"{paths.FILES}/{path.as_posix()}"] = file.read_bytes()
        except OSError as e:
            raise StudyError(f"{file}: {reason(e)}; expected the file of the scenario") from e
    return found


def _laws(study: Study) -> tuple[Registered, ...]:
    """The laws in Python that the study uses."""
    return registered.used(study.scenario.text, tuple(study.scenario.overrides))


def _is_inside(name: str) -> bool:
    """Whether a name is that of a file below a folder, and not that of a file that a study has itself."""
    path = PurePosixPath(name)
    is_own = path.as_posix() in (*paths.STUDY_FILES, MANIFEST, RUNS) or path.parts[0] in (FIGURES, LAWS)
    return not path.is_absolute() and ".." not in path.parts and not is_own


def _is_law(name: str) -> bool:
    path = PurePosixPath(name)
    return path.parts == (LAWS, path.name) and path.suffix == ".py"


def _runs(study: Study) -> bytes:
    return export.text(study, "csv", export.tidy(study)).encode()


def _counts(study: Study) -> dict[str, int]:
    return {"runs": sum(1 for _ in study.results()), "planned": study.size}


def _ledger(path: Path) -> bytes:
    """The ledger in one file, with what is still in its log and without room for more."""
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / LEDGER
        try:
            with closing(opened(path, write=False)) as db, closing(sqlite3.connect(copy)) as other:
                db.backup(other)
                other.execute("pragma journal_mode = delete")
                other.execute("vacuum")
        except sqlite3.Error as e:
            raise StudyError(f"{path}: {reason(e)}; expected a readable, complete ledger") from e
        return copy.read_bytes()


def verify(file: Path, sample: int | None = 10, *, run_laws: bool = False) -> Verdict:
    """Check an archive, and repeat a sample of its runs, or all, bit for bit.

    Every file is checked by its SHA-256; the scenario, the resolved values and the table of runs by what the
    ledger contains, too. The sample is spread evenly over the points and replications. With `run_laws` the
    laws in Python that the archive has are executed; without, one that is not registered is an error.
    """
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        manifest = _unpack(file, folder)
        found, wanted = str(manifest.get("model_version")), _core.model_version
        if found != wanted:
            raise StudyError(
                f"{file}: results of model version {found} (lasthop {manifest.get('lasthop')}); expected "
                f"version {wanted}, that of this lasthop {_core.__version__}"
            )
        _take_over(file, folder, manifest["laws"], run_laws=run_laws)
        try:
            study = Study.open(folder)
            # A scenario from elsewhere may want more than this machine has.
            admit(study.scenario, [planned.point for planned in study.plan])
        except LasthopError as e:
            what = str(e).replace(f"{folder}/", "").removeprefix(f"{folder}: ")
            raise StudyError(f"{file}: {what}") from e
        if study.damaged:
            raise StudyError(f"{file}: {LEDGER}: {study.damaged[0]}; expected complete runs")
        _expect_same(file, study, manifest)
        results = [result for result in study.results() if result.row.error is None]
        count = len(results) if sample is None else min(sample, len(results))
        chosen = [results[k * len(results) // count] for k in range(count)]
        kept = [one for one in chosen if one.row.stopped != "max-wall"]
        differing: list[str] = []
        for result in kept:
            differing += _differences(study, result)
    return Verdict(len(kept), len(chosen) - len(kept), len(results), differing, manifest)


def _take_over(file: Path, folder: Path, laws: Sequence[Any], *, run_laws: bool) -> None:
    """Register the laws of an archive that this process lacks, if their code may run."""
    for law in laws:
        try:
            kept = Registered(**law)
            is_whole = kept.file is None or (_is_law(kept.file) and (folder / kept.file).is_file())
        except TypeError:
            is_whole = False
        if not is_whole:
            raise StudyError(f"{file}: {MANIFEST}: laws: {law}; expected a law and its file")
        if kept.name in registered.known():
            continue
        if kept.file is None:
            raise UsageError(
                f'{file}: its runs use the law "{kept.name}", whose file it lacks; expected --law '
                f"{kept.name}=MODULE:CLASS"
            )
        if not run_laws:
            raise UsageError(
                f'{file}: its files are as they were archived, but its runs use the law "{kept.name}", '
                f"which is Python code in {kept.file}; expected --run-laws, which executes it, or --law "
                f"{kept.name}=MODULE:CLASS"
            )
        registered.take_over((kept._replace(file=str(folder / kept.file)),))


def _unpack(file: Path, folder: Path) -> dict[str, Any]:
    """Check the files of an archive, a part at a time, and write them to a folder; the manifest."""
    try:
        with zipfile.ZipFile(file) as packed:
            entries = {entry.filename: entry for entry in packed.infolist()}
            _expect_sizes(file, packed.infolist())
            if MANIFEST not in entries:
                raise StudyError(f"{file}: no {MANIFEST} of lasthop; expected a file of lasthop archive")
            whole = b"".join(_parts(packed, entries[MANIFEST], file, MOST_MANIFEST))
            manifest = manifest_of(file, whole)
            sums: dict[str, str] = manifest["sha256"]
            odd = sorted(entries.keys() ^ {MANIFEST, *sums})
            if odd or len(entries) < len(packed.infolist()):
                raise StudyError(
                    f"{file}: {odd[0] if odd else MANIFEST}: missing, or not in the manifest; expected both"
                )
            for name in (TEXT, RESOLVED, LEDGER, RUNS):
                if name not in sums:
                    raise StudyError(f"{file}: no {name}; expected a file of lasthop archive")
            laws = [law.get("file") for law in manifest["laws"]]
            spare = sum(map(_is_law, sums)) > len(laws)
            for name in sums:
                if not _is_written(name, manifest["files"]) or (spare and _is_law(name) and name not in laws):
                    raise StudyError(f"{file}: {name!r}: not a file that lasthop writes; expected no other")
            for name, expected in sums.items():
                found = hashlib.sha256()
                target = folder / name
                target.parent.mkdir(parents=True, exist_ok=True)
                with target.open("xb") as copy:
                    for part in _parts(packed, entries[name], file, MOST_BYTES):
                        found.update(part)
                        copy.write(part)
                if found.hexdigest() != expected:
                    raise StudyError(
                        f"{file}: {name}: changed since it was archived; expected SHA-256 {expected}"
                    )
    except FileNotFoundError as e:
        raise UsageError(f"{file}: no such file; expected a file of lasthop archive") from e
    except (OSError, ValueError, EOFError, zipfile.BadZipFile, zlib.error, lzma.LZMAError) as e:
        raise StudyError(f"{file}: {reason(e)}; expected a file of lasthop archive") from e
    except (NotImplementedError, RuntimeError, MemoryError, struct.error) as e:
        # Encrypted, or packed by another way than ours.
        raise StudyError(f"{file}: {reason(e) or 'out of memory'}; expected a file of lasthop archive") from e
    return manifest


def _expect_sizes(file: Path, entries: Sequence[zipfile.ZipInfo]) -> None:
    """Raise if an archive says of itself that it is too large, or packed too well to be one."""
    total, packed = sum(e.file_size for e in entries), sum(e.compress_size for e in entries)
    if len(entries) > MOST_FILES:
        raise StudyError(f"{file}: {len(entries)} files; expected at most {MOST_FILES}")
    if total > MOST_BYTES:
        raise StudyError(
            f"{file}: larger than {MOST_BYTES >> 30} GiB unpacked; expected an archive of a study"
        )
    if total > SMALL and total > MOST_RATIO * max(packed, 1):
        raise StudyError(
            f"{file}: unpacks to {total >> 20} MiB, more than {MOST_RATIO} times what is packed; expected an "
            "archive of a study"
        )


def _parts(packed: zipfile.ZipFile, entry: zipfile.ZipInfo, file: Path, most: int) -> Iterator[bytes]:
    """The contents of an entry, a part at a time and never more than a limit, whatever it says of itself."""
    read = 0
    with packed.open(entry) as opened:
        while part := opened.read(PART):
            read += len(part)
            if read > most or (read > SMALL and read > MOST_RATIO * max(entry.compress_size, 1)):
                raise StudyError(
                    f"{file}: {entry.filename!r}: larger than it may be; expected an archive of a study"
                )
            yield part


def manifest_of(file: Path, text: bytes) -> dict[str, Any]:
    """The manifest of an archive, each of its fields checked."""
    try:
        found = loads(text)
    except ValueError as e:
        raise StudyError(f"{file}: {MANIFEST}: {reason(e)}; expected JSON") from e
    if not isinstance(found, dict) or not isinstance(found.get("sha256"), dict):
        raise StudyError(f"{file}: no {MANIFEST} of lasthop; expected a file of lasthop archive")
    if found.get("format") != FORMAT or isinstance(found.get("format"), bool):
        shown = found.get("format") if _is_number(found.get("format")) else "unknown"
        raise StudyError(f"{file}: archive format {shown}; expected format {FORMAT}")
    found.setdefault("files", [])
    found.setdefault("laws", [])
    for name, (is_right, expected) in _FIELDS.items():
        if not is_right(found.get(name)):
            raise StudyError(f"{file}: {MANIFEST}: {name}: expected {expected}")
    return found


def _is_text(value: object) -> bool:
    if not isinstance(value, str):
        return False
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True


def _is_texts(value: object) -> bool:
    return isinstance(value, list) and all(map(_is_text, value))


def _is_number(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _is_sums(value: object) -> bool:
    return isinstance(value, dict) and all(map(_is_text, (*value, *value.values())))


def _is_laws(value: object) -> bool:
    def is_law(law: object) -> bool:
        return isinstance(law, dict) and all(_is_text(v) or v is None for v in (*law, *law.values()))

    return isinstance(value, list) and all(map(is_law, value))


_FIELDS: dict[str, tuple[Callable[[object], bool], str]] = {
    **dict.fromkeys(
        ("scenario", "title", "lasthop", "model_version", "build", "licence", "command"), (_is_text, "a text")
    ),
    **dict.fromkeys(("files", "exceptions"), (_is_texts, "a list of texts")),
    **dict.fromkeys(("runs", "planned"), (_is_number, "a number")),
    "laws": (_is_laws, "a list of laws"),
    "sha256": (_is_sums, "a sum for each file"),
}


def _is_written(name: str, named: Sequence[str]) -> bool:
    """Whether a name is that of a file that `write` writes; `named` are those that the scenario names."""
    path = PurePosixPath(name)
    if path.as_posix() != name or path.is_absolute() or ".." in path.parts or "\0" in name or "\\" in name:
        return False
    is_drawn = path.parts == (FIGURES, path.name) and path.suffix == ".svg"
    is_named = name in named and (path.parts[0] == paths.FILES or _is_inside(name))
    return name in {TEXT, RESOLVED, LEDGER, RUNS} or _is_law(name) or is_drawn or is_named


def _expect_same(file: Path, study: Study, manifest: dict[str, Any]) -> None:
    """Raise unless what people read in an archive is what its ledger contains."""
    again = json.loads(json.dumps(resolved(study.scenario, study.plan, study.seed)))
    kept: Any = None
    # What is much longer is not that, and need not be in memory.
    if (study.path / RESOLVED).stat().st_size < 2 * len(json.dumps(again, indent=1)) + 10_000:
        with suppress(ValueError):
            kept = loads((study.path / RESOLVED).read_bytes())
    # Two versions of lasthop may have the same model.
    again |= {"version": kept.get("version") if isinstance(kept, dict) else None}
    texts = ((TEXT, study.scenario.text.encode()), (RUNS, _runs(study)))
    odd = [name for name, text in texts if hashlib.sha256(text).hexdigest() != manifest["sha256"].get(name)]
    odd += [RESOLVED] if kept != again else []
    if odd:
        raise StudyError(f"{file}: {odd[0]}: differs from {LEDGER}; expected what the ledger contains")
    for name, count in _counts(study).items():
        if manifest.get(name) != count:
            raise StudyError(
                f"{file}: {MANIFEST}: {name} {manifest.get(name)}; expected {count}, those of {LEDGER}"
            )


def _differences(study: Study, result: Result) -> list[str]:
    """What differs between a run of the archive and the same run made here, as a line or none."""
    row = result.row
    limits = Limits(max_events=row.events) if row.stopped else Limits()
    scenario = study.scenario
    task = Task(
        scenario.text,
        scenario.name,
        tuple(scenario.overrides),
        result.point,
        row.point_key,
        study.seed,
        row.replication,
        limits,
    )
    here = execute(task)
    there, again = _comparable(row), _comparable(here)
    odd = [name for name in there if again.get(name) != there[name]] + [n for n in again if n not in there]
    if not odd:
        return []
    place = f"point {result.point}, replication {row.replication}"
    if here.error:
        return [f"{place}: {here.error}"]
    return [
        f"{place}: {odd[0]}: {again.get(odd[0])} here, {there.get(odd[0])} in the archive; expected the same"
    ]


def _comparable(row: Row) -> dict[str, Any]:
    """All of a run that does not depend on the machine."""
    plain = replace(row, metrics=clean(row.metrics))
    return {
        "events": row.events,
        "simulated_s": row.simulated_s,
        "series": row.series,
        "transfers": row.transfers,
    } | (plain.metrics or {})
