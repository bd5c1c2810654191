"""A suite from Python: `suite` judges laws, and gives their `Verdicts`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from lasthop.base.arguments import nonblank, place, whole, words
from lasthop.base.errors import UsageError, nearest
from lasthop.base.table import Table
from lasthop.laws.registered import known
from lasthop.report.play import form_of
from lasthop.study.progress import listener
from lasthop.suites import cases, measured, page, tables

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from lasthop.study.progress import Progress
    from lasthop.suites.cases import Suite


class Verdicts:
    """What the cases of a suite say of laws.

    Attributes:
        suite: The id of the suite.
        version: Its version.
        model: The version of the simulator's model: other versions give other numbers.
        laws: The names of the laws.
    """

    def __init__(self, chosen: Suite, found: measured.Results) -> None:
        self._chosen, self._found = chosen, found
        self.suite = found.suite
        self.version = found.version
        self.model = found.model
        self.laws = tuple(found.laws)

    def table(self, law: str | None = None) -> Table:
        """Tabulate the cases.

        Args:
            law: A law; default: all.

        Returns:
            For each case and law its `value` with the bounds of the 95 % interval in `unit`, what is
            demanded, and the `verdict`: `passes`, `fails` or `cannot tell`.

        Raises:
            UsageError: The law is not one of `laws`.
        """
        if law is not None and law not in self.laws:
            raise UsageError(f"{law!r}; expected one of {', '.join(self.laws)}", argument="law")
        columns = ["section", "case", "law", "value", "ci_low", "ci_high", "unit", "demand", "verdict"]
        rows = [
            (
                *(case.section, case.id, name, one.mean, one.low, one.high),
                *(tables.unit(case, self._chosen), tables.demand(case, self._chosen), tables.verdict(one)),
            )
            for case in self._chosen.cases
            for name, one in self._found.outcomes[case.id].items()
            if law in (None, name)
        ]
        return Table(columns, [dict(zip(columns, row, strict=True)) for row in rows])

    def save(self, path: str | Path) -> None:
        """Write the page that shows the verdicts and values, with those of the published laws.

        Args:
            path: The file to write, in an existing directory; it is written completely or not at all.

        Raises:
            UsageError: The directory does not exist, or the file is not an HTML file.
            StudyError: The file cannot be written.
        """
        file = place("path", path, "a file to write")
        form_of(file, "path")
        page.write(self._chosen, self._found, file, measured.published(self._chosen))

    def __str__(self) -> str:
        return tables.matrix(self._chosen, self._found)

    def __repr__(self) -> str:
        return f"<Verdicts of {self.suite}, version {self.version}: {', '.join(self.laws)}>"


def suite(
    name: str,
    laws: Sequence[str] | None = None,
    *,
    out: str | Path | None = None,
    jobs: int | None = None,
    progress: bool | Callable[[Progress], object] = False,
) -> Verdicts:
    """Judge laws by the cases of a suite.

    Args:
        name: The suite, such as `rfc9743`; `lasthop suite` lists them.
        laws: The names of the laws under test, also of congestion laws that `law` registered; default: all
            that the suite compares.
        out: The directory of the studies and of `results.json`, which `lasthop suite --verify` takes;
            default: `studies/suite-NAME`. Runs that are there are not repeated.
        jobs: Number of threads; default: the number of cores.
        progress: `True` for a bar on stderr for each scenario, or a function, as in `Study.run`.

    Returns:
        The verdicts.

    Raises:
        UsageError: There is no such suite or law, or an argument is invalid.
        StudyError: The directory cannot be written.
        ScenarioError: The runs that are there are of a law that is not registered.
    """
    if nonblank("name", name, "a suite such as rfc9743") not in cases.known():
        raise UsageError(f'"{name}"; {nearest(name, cases.known())}', argument="name")
    chosen = cases.suite(name)
    tested = chosen.laws if laws is None else words("laws", laws, chosen.standard)
    if not tested:
        raise UsageError(f"[]; {nearest('', chosen.laws)}", argument="laws")
    of_python = known() if chosen.is_of_congestion else []
    for law in tested:
        if law not in {*chosen.laws, *of_python}:
            raise UsageError(f'"{law}"; {nearest(law, [*chosen.laws, *of_python])}', argument="laws")
    folder = place("out", out, "the directory of the studies") if out is not None else default(chosen)
    if jobs is not None:
        whole("jobs", jobs, 1)
    heard = listener(progress)
    return Verdicts(chosen, measured.measure(chosen, tested, folder, jobs=jobs, listener=lambda _: heard))


def default(chosen: Suite) -> Path:
    """The directory of the studies of a suite."""
    return Path("studies") / f"suite-{chosen.id}"
