"""A study as one file: `write` makes it, and `verify` checks it on another machine by repeating runs.

The file is a zip: the files of the study, those that its scenario names, the modules of its laws in Python,
its runs as CSV, its figures, and `manifest.json` with versions, command, licence and a SHA-256 of each other
file. The same study gives the same bytes. Python from an archive is executed on request only.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
import tempfile
import zipfile
import zlib
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

from lasthop import _core
from lasthop.base import paths
from lasthop.base.errors import LasthopError, StudyError, UsageError, reason
from lasthop.base.files import replacing
from lasthop.base.jsontext import clean, dumps
from lasthop.laws import registered
from lasthop.laws.registered import Registered
from lasthop.study import export
from lasthop.study.directory import named_file, resolved
from lasthop.study.repeat import command_of_study, portable
from lasthop.study.study import Study
from lasthop.study.work import Limits, Task, execute

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

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
        paths.TEXT: study.scenario.text.encode(),
        RESOLVED: (study.path / RESOLVED).read_bytes(),
        paths.LEDGER: _ledger(study.path / paths.LEDGER),
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
        copy = Path(folder) / paths.LEDGER
        try:
            uri = f"{path.resolve().as_uri()}?mode=ro"
            with closing(sqlite3.connect(uri, uri=True)) as db, closing(sqlite3.connect(copy)) as other:
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
        _take_over(file, folder, manifest.get("laws", ()), run_laws=run_laws)
        try:
            study = Study.open(folder)
        except LasthopError as e:
            what = str(e).replace(f"{folder}/", "").removeprefix(f"{folder}: ")
            raise StudyError(f"{file}: {what}") from e
        if study.damaged:
            raise StudyError(f"{file}: {paths.LEDGER}: {study.damaged[0]}; expected complete runs")
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
            is_whole = kept.file is None or _is_law(kept.file)
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
    """Check the files of an archive and write them to a folder; the manifest."""
    try:
        with zipfile.ZipFile(file) as packed:
            names = packed.namelist()
            if sum(entry.file_size for entry in packed.infolist()) > MOST_BYTES:
                raise StudyError(
                    f"{file}: larger than {MOST_BYTES >> 30} GiB unpacked; expected an archive of a study"
                )
            manifest = json.loads(packed.read(MANIFEST)) if MANIFEST in names else None
            if not isinstance(manifest, dict) or not isinstance(manifest.get("sha256"), dict):
                raise StudyError(f"{file}: no {MANIFEST} of lasthop; expected a file of lasthop archive")
            if manifest.get("format") != FORMAT:
                raise StudyError(f"{file}: archive format {manifest.get('format')}; expected format {FORMAT}")
            sums: dict[str, str] = manifest["sha256"]
            if sorted(names) != sorted([MANIFEST, *sums]):
                odd = sorted(set(names) ^ {MANIFEST, *sums})
                raise StudyError(
                    f"{file}: {odd[0] if odd else MANIFEST}: missing, or not in the manifest; expected both"
                )
            for name, expected in sums.items():
                text = packed.read(name)
                if hashlib.sha256(text).hexdigest() != expected:
                    raise StudyError(
                        f"{file}: {name}: changed since it was archived; expected SHA-256 {expected}"
                    )
                is_named = name in manifest.get("files", ()) and _is_inside(name)
                if name in paths.STUDY_FILES or is_named or _is_law(name):
                    (folder / name).parent.mkdir(parents=True, exist_ok=True)
                    (folder / name).write_bytes(text)
    except (OSError, ValueError, zipfile.BadZipFile, zlib.error, NotImplementedError, RuntimeError) as e:
        if isinstance(e, FileNotFoundError):
            raise UsageError(f"{file}: no such file; expected a file of lasthop archive") from e
        raise StudyError(f"{file}: {e}; expected a file of lasthop archive") from e
    return manifest


def _expect_same(file: Path, study: Study, manifest: dict[str, Any]) -> None:
    """Raise unless what people read in an archive is what its ledger contains."""
    kept = json.loads((study.path / RESOLVED).read_bytes())
    # Two versions of lasthop may have the same model.
    again = json.loads(json.dumps(resolved(study.scenario, study.plan, study.seed)))
    again |= {"version": kept.get("version")}
    texts = ((paths.TEXT, study.scenario.text.encode()), (RUNS, _runs(study)))
    odd = [name for name, text in texts if hashlib.sha256(text).hexdigest() != manifest["sha256"].get(name)]
    odd += [RESOLVED] if kept != again else []
    if odd:
        raise StudyError(f"{file}: {odd[0]}: differs from {paths.LEDGER}; expected what the ledger contains")
    for name, count in _counts(study).items():
        if manifest.get(name) != count:
            raise StudyError(
                f"{file}: {MANIFEST}: {name} {manifest.get(name)}; expected {count}, those of {paths.LEDGER}"
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
