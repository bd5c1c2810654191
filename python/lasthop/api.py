"""What `import lasthop` gives: scenarios and studies with everything that can be done with them as methods.

A room knows the plain scenario and the plain study, and its functions act on them; it cannot know the
rooms above it. Here, above all of them, the same functions become methods.

The file has more than 500 lines: the classes make one another, and modules do not import in cycles. Most of
the lines document the methods.

>>> import tempfile
>>> sc = load("ejtcp/fig10-baselines").set(
...     {"run.duration": "2 s", "links.r1-r2.rate": "5 Mbit/s", "links.r2-d.loss.rate": "1 %"}
... )
>>> study = sc.sweep(replications=2, out=tempfile.mkdtemp() + "/study").run()
>>> [row["n"] for row in study.table("flows.main.goodput_bps").rows]
[2, 2, 2, 2, 2]
"""

from __future__ import annotations

import tomllib
import warnings
from os import PathLike
from typing import TYPE_CHECKING, cast

from lasthop.base.arguments import flag, instance, place
from lasthop.base.errors import UsageError
from lasthop.base.paths import shipped
from lasthop.captures import fitted
from lasthop.figures.draw import draw, figure_named
from lasthop.figures.ladders import ladder
from lasthop.figures.page import page
from lasthop.papers.published import claims_of, published
from lasthop.report.document import of_study
from lasthop.report.page import write as write_report
from lasthop.report.play import play
from lasthop.scenario import scenario
from lasthop.study import study
from lasthop.study.export import write
from lasthop.study.optimum import Plan, search
from lasthop.study.progress import listener, of_one_run
from lasthop.study.sweep import Sweep
from lasthop.views.contrasts import contrasts
from lasthop.views.means import means
from lasthop.views.quantiles import quantiles
from lasthop.views.shown import run_html, scenario_html, study_html
from lasthop.views.sources import of_run
from lasthop.views.steady import steady_runs

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from concurrent.futures import Executor
    from pathlib import Path
    from typing import Self

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from lasthop._core import Cancel
    from lasthop.base.table import Table
    from lasthop.figures.ladders import Ladder
    from lasthop.realtime.session import Outcome
    from lasthop.report.play import Play
    from lasthop.scenario.overrides import Pairs
    from lasthop.study.optimum import Optimum
    from lasthop.study.precision import Precision
    from lasthop.study.progress import Progress
    from lasthop.study.work import Limits
    from lasthop.views.sources import Source


def load(path_or_id: str | Path, overrides: Pairs | None = None, *, argument: str = "set") -> Scenario:
    """Read a scenario from a file or by its id; it is checked immediately.

    Args:
        path_or_id: A file, a directory with a `scenario.toml`, or an id such as `lle-tcp/fig05`.
        overrides: Keys and values to set, as text; `Scenario.set` takes values of Python.
        argument: The name of the overrides argument in messages.

    Returns:
        The scenario.

    Raises:
        UsageError: The file or id does not exist.
        ScenarioError: The scenario cannot be run; the message has file, line and key.
    """
    return Scenario.load(path_or_id, overrides, argument=argument)


def from_dict(values: Mapping[str, object], name: str = "scenario") -> Scenario:
    """Make a scenario from nested mappings, as a scenario file holds them; it is checked immediately.

    Args:
        values: The tables `run`, `nodes`, `links`, `flows` and so on. Quantities are text with a unit,
            such as `"5 Mbit/s"`; `sweep` and `figure` are as in a file.
        name: Its name in messages and its id.

    Returns:
        The scenario.

    Raises:
        UsageError: A value is not one that a scenario can hold.
        ScenarioError: The scenario cannot be run; the message has name and key.
    """
    return Scenario.from_dict(values, name)


def fit(capture: str | Path) -> Fit:
    """Make a scenario like the Wi-Fi link in a capture.

    Args:
        capture: A file in pcap or pcapng, also with gzip, whose frames have radiotap headers.

    Returns:
        What the capture says of the link, with intervals, and the scenario.

    Raises:
        UsageError: The file cannot be read, is damaged, or has no frames of data with radiotap headers.
        ScenarioError: The link in the capture is none that a scenario can have.
    """
    return Fit(place("capture", capture, "a capture"))


def scenarios() -> dict[str, str]:
    """The shipped scenarios.

    Returns:
        By id, such as `lle-tcp/fig05`, the title of each; empty if it has none or cannot be read.

    Raises:
        UsageError: This installation has none.
    """
    files = shipped()
    if not files:
        raise UsageError("this installation has no scenarios; expected at least one")
    return {name: _title(path) for name, path in files.items()}


def _title(file: Path) -> str:
    try:
        return str(tomllib.loads(file.read_text("utf-8")).get("title", ""))
    except (OSError, ValueError, RecursionError):
        return ""


def sweep(
    scenario: Scenario | str | Path,
    vary: Mapping[str, object] | None = None,
    *,
    replications: int | None = None,
    seed: int | None = None,
    out: str | Path | None = None,
    where: Sequence[str] = (),
    fresh: bool = False,
) -> Study:
    """Make a study of a scenario with another sweep; its `run` executes it.

    Args:
        scenario: A scenario, or what `load` takes.
        vary: What to sweep, as `Scenario.vary` takes it: for each key a list of values, all combined with
            each other, under `"zip"` keys whose lists advance together. Other swept keys of the scenario
            remain; without `vary` its own sweep.
        replications: Runs per point; default: the scenario's number.
        seed: Seed of all random streams; default: the scenario's seed.
        out: The directory of the study; default: `studies/ID`.
        where: Conditions such as `links.a.loss.rate<=2 %`, that select the points to run.
        fresh: Whether to delete the runs of a study in this directory.

    Returns:
        The study, including the runs already stored in its directory.

    Raises:
        UsageError: An argument is invalid for this scenario.
        ScenarioError: The scenario cannot be run so; the message names the key.
        StudyError: The directory cannot be used.
    """
    if not isinstance(scenario, (str, PathLike, Scenario)):
        raise UsageError(f"{scenario!r}; expected a Scenario, a path or an id", argument="scenario")
    chosen = scenario if isinstance(scenario, Scenario) else load(scenario)
    if vary is not None:
        chosen = chosen.vary(vary)
    return Study.create(
        chosen, out, replications=replications, seed=seed, where=where, fresh=fresh, argument="out"
    )


class Run(scenario.Run):
    """The results of one simulation.

    Two runs are equal if they have the same point, seed and replication of equal scenarios and the
    same metrics; computing time and traces are not compared. A pickled run
    includes its traces.

    Attributes:
        scenario: The scenario that was run.
        point: The number of the point.
        seed: Seed of all random streams.
        replication: The number of the run for this seed.
        metrics: Metrics by name, in SI units as the names state; `None` if a metric
            has no value. `lasthop list metrics` explains each.
        series: Goodput of each flow over time in bit/s, in bins of `run.bin`; empty without bins.
        transfers: Transfers of users, as columns; empty without users.
        events: The number of events processed.
        wall_s: The wall-clock time of the run, in seconds.
        cpu_s: The CPU time of the run, in seconds.
        stopped: The limit that stopped it early, such as `max-events`; `None` for a complete run.
        simulated_s: The simulated time reached, in seconds.
        laws: What each law in Python cost, by its name; empty without one.
    """

    scenario: Scenario

    def ladder(
        self,
        between: tuple[float | None, float | None] | None = None,
        *,
        layers: str = "tcp",
        flows: Sequence[str] | None = None,
        beside: Run | None = None,
    ) -> Ladder:
        """Draw what went between the nodes, time downwards; needs the trace `events`.

        Args:
            between: Begin and end in seconds; default: the first 30 segments, from either end given.
            layers: `tcp` for segments, `frames` for what is on the medium, with RTS, CTS and ACK.
            flows: The flows to show; default: all.
            beside: Another run to draw next to this one over the same time.

        Returns:
            The ladder, which a notebook shows; its `save` writes svg, html, png, pdf or text.

        Raises:
            UsageError: The run has no trace of events, or nothing was sent in this period.
            OSError: The chunks of the trace on the disk cannot be read.
        """
        return ladder(_sources(self, beside), between, layers, flows)

    def play(
        self,
        between: tuple[float | None, float | None] | None = None,
        *,
        flows: Sequence[str] | None = None,
        beside: Run | None = None,
    ) -> Play:
        """Make a page that plays the run: packets, queues, windows and airtime; needs the trace `events`.

        Args:
            between: Begin and end in seconds; default: the first 1000 segments, from either end given.
            flows: The flows to show; default: all.
            beside: Another run to play next to this one over the same time.

        Returns:
            The page, which a notebook shows; its `save` writes an HTML file.

        Raises:
            UsageError: The run has no trace of events, or nothing was sent in this period.
            OSError: The chunks of the trace on the disk cannot be read.
        """
        return play(_sources(self, beside), between, flows)

    def _repr_html_(self) -> str:
        return run_html(self)


def _sources(run: Run, beside: Run | None) -> list[Source]:
    if beside is not None:
        instance("beside", beside, scenario.Run, "a run")
    return [of_run(one) for one in (run, beside) if one is not None]


class Scenario(scenario.Scenario):
    """An immutable scenario: what runs, what is swept and what is drawn.

    `load`, `from_dict` and `Scenario.from_text` make one. It can be pickled; two are equal when id, text
    and settings are.

    Attributes:
        id: Its path below `scenarios/`, such as `lle-tcp/fig05`, or the name of its file without ending.
    """

    _run_class = Run

    def _repr_html_(self) -> str:
        return scenario_html(self)

    def run(
        self,
        seed: int | None = None,
        replication: int = 0,
        point: int = 0,
        trace: Sequence[str] = (),
        pcap: str | Path | Mapping[str, str | Path] | None = None,
        max_events: int | None = None,
        max_wall_s: float | None = None,
        cancel: Cancel | None = None,
        *,
        qlog: str | Path | None = None,
        progress: bool | Callable[[float], object] = False,
    ) -> Run:
        """Simulate one point once.

        Ctrl-C ends the run.

        Args:
            seed: Seed of all random streams; default: the scenario's seed.
            replication: The number of the run for this seed, from 0; each has its own random numbers.
            point: The number of the point, from 0 on.
            trace: Channels to record, such as `cwnd`; `lasthop list channels` shows all.
            pcap: A capture file for the first link, or one for each link in a mapping; each is written
                completely or not at all.
            max_events: Stop after this number of events.
            max_wall_s: Stop after this wall-clock time in seconds.
            cancel: A token that another thread may set to stop the run.
            qlog: A directory for the qlogs of both ends of each flow over QUIC, such as `main-sender.sqlog`.
            progress: `True` for a bar on stderr (where that is not a terminal, a line every ten seconds),
                or a function. The function is called in this thread several times a second with the
                simulated time in seconds; an exception in it ends the run.

        Returns:
            The run; its `stopped` names the limit that stopped it early.

        Raises:
            UsageError: An argument is invalid for this scenario.
            RunError: The simulation failed.
            Interrupted: The token was set.
            StudyError: A capture or a qlog cannot be written.
        """
        arguments = (seed, replication, point, trace, pcap, max_events, max_wall_s, cancel)
        with of_one_run(progress, lambda: self.duration_s(point)) as heard:
            return cast("Run", super().run(*arguments, qlog=qlog, progress=heard))

    def virtual(
        self,
        commands: Sequence[tuple[str, Sequence[str]]],
        *,
        point: int = 0,
        seed: int | None = None,
        replication: int = 0,
        limit_s: float = 3600.0,
        trace: Sequence[str] = (),
        pcap: str | Path | Mapping[str, str | Path] | None = None,
        out: str | Path | None = None,
        kernel: str | Path | None = None,
    ) -> Outcome:
        """Run programs on nodes in virtual time, until the last of them ends, as `lasthop virtual` does.

        The same call gives the same packets at the same times. The programs print, each line after the name
        of the node.

        Args:
            commands: For each program the name of its node, and the program with its arguments.
            point: The number of the point.
            seed: Seed of all random streams, and of what the programs draw from the kernel; default: the
                scenario's seed.
            replication: The number of the run for this seed.
            limit_s: The time of this machine in seconds after which the run is ended.
            trace: Channels to record, such as `events`; `out` receives them.
            pcap: A capture file for the first link, or one for each link in a mapping.
            out: A directory for the outcome and its traces.
            kernel: A kernel of User-Mode Linux; default: the one that `lasthop virtual --build-kernel` made.

        Returns:
            The metrics, and what each node sent.

        Raises:
            UsageError: An argument is invalid for this scenario, or a program does not exist.
            ScenarioError: The scenario has an agent that cannot run live.
            UnavailableError: There is no kernel.
            RunError: The kernel failed, or did not end in time.
            StudyError: A result cannot be written.
        """
        from lasthop.virtual.calls import virtual

        return virtual(
            self,
            commands,
            point=point,
            seed=seed,
            replication=replication,
            limit_s=limit_s,
            trace=trace,
            pcap=pcap,
            out=out,
            kernel=kernel,
        )

    def sweep(
        self,
        replications: int | None = None,
        out: str | Path | None = None,
        *,
        vary: Mapping[str, object] | None = None,
        seed: int | None = None,
        where: Sequence[str] = (),
        fresh: bool = False,
    ) -> Study:
        """Make a study of all points in a directory, or open an existing one, without running it.

        Args:
            replications: Runs per point; default: the scenario's number.
            out: The directory of the study; default: `studies/ID`.
            vary: Keys to sweep in addition to or instead of the scenario's own; see `vary`.
            seed: Seed of all random streams; default: the scenario's seed.
            where: Conditions such as `links.a.loss.rate<=2 %`, that select the points to run.
            fresh: Whether to delete the runs of a study in this directory.

        Returns:
            The study, including the runs already stored in its directory.

        Raises:
            UsageError: An argument is invalid for this scenario.
            ScenarioError: The scenario cannot be run with `vary`; the message names the key.
            StudyError: The directory cannot be used.
        """
        return sweep(self, vary, replications=replications, seed=seed, out=out, where=where, fresh=fresh)

    def search(
        self,
        metric: str,
        over: Mapping[str, str],
        *,
        maximise: bool = True,
        trials: int = 40,
        replications: int = 5,
        confirm: int = 20,
        seed: int | None = None,
        where: Sequence[str] = (),
        elsewhere: Sequence[Mapping[str, str] | Scenario] = (),
        against: Sequence[Mapping[str, str]] = (),
        jobs: int | None = None,
        out: str | Path | None = None,
    ) -> Optimum:
        """Choose the values of keys at which a metric is best, and confirm them with another seed.

        The objective is the mean over points and replications, which have the same random numbers in all
        trials. The same call continues a search that was interrupted. Needs optuna.

        Args:
            metric: The metric, such as `flows.main.goodput_bps`.
            over: Ranges by key: `0.1..2`, `10 ms..200 ms`, `log:0.01..1` or `red|codel`.
            maximise: Whether large values are good.
            trials: The number of trials.
            replications: Runs of each point in a trial.
            confirm: Runs of each point in the confirmation.
            seed: Seed of the runs of the choice and of the proposals; default: the scenario's seed.
            where: Conditions such as `links.a.loss.rate<=2 %`, that select the points.
            elsewhere: Other places at which the best values are confirmed: for each, settings by key or
                a scenario.
            against: Settings by key of controls, which the confirmation runs instead of the best values.
            jobs: Number of workers; default: all cores.
            out: The directory of the study of all runs; default: `studies/search-ID`.

        Returns:
            The best values, all trials, and the confirmation.

        Raises:
            UsageError: An argument is invalid for this scenario, or optuna is missing.
            ScenarioError: The scenario cannot be run with a setting; the message names the key.
            StudyError: The directory cannot be used.
            LasthopError: The metric has no value in any trial, or a run failed.
        """
        plan = Plan(trials, replications, confirm, seed, where, elsewhere, against, jobs)
        return search(self, metric, over, maximise=maximise, plan=plan, out=out)


class Study(study.Study):
    """A study directory: a scenario with the runs of its points; `create` makes one, `open` reads one.

    Attributes:
        path: The directory.
        scenario: Its scenario.
        seed: Seed of all random streams of its runs.
        plan: Its points, each with the number of its replications.
        where: The conditions that selected its points.
        build: A hash of the simulator that made it; empty before the first run.
        is_older: Whether a version with other keys wrote it: it can be shown and exported, but not continued.
        notes: Remarks about its continuation, and about runs that cannot be read.
        damaged: Runs that cannot be read, in words: they are left out, and the next `run` makes them again.
        shard: The part of the runs that it has, such as `1/2`, as given by `--shard`; empty if it has all.
    """

    _scenario_class = Scenario
    scenario: Scenario

    def _repr_html_(self) -> str:
        return study_html(self)

    def run(
        self,
        executor: Executor | None = None,
        *,
        jobs: int | None = None,
        limits: Limits | None = None,
        precision: Precision | None = None,
        progress: bool | Callable[[Progress], object] = False,
    ) -> Self:
        """Run the missing runs.

        An interrupted study keeps every finished run and continues with the next `run`. Runs
        that fail are listed in `failures` and do not stop the others; a warning counts them.

        Args:
            executor: Any executor of `concurrent.futures` for the runs, such as `Client(…).get_executor()`
                of dask; default: threads.
            jobs: Number of threads; default: the number of cores.
            limits: Limits of each run.
            precision: Replicate until the intervals have this width, instead of a fixed number of times.
            progress: `True` for a bar on stderr (where that is not a terminal, a line every ten seconds),
                or a function. The function is called in this thread after each run; an exception in it
                ends the sweep.

        Returns:
            The study itself.

        Raises:
            UsageError: An argument is invalid.
            StudyError: The directory cannot be written, or an older version made the study.
            LasthopError: A process of the executor died, or has another version of lasthop.
        """
        heard = listener(progress)
        Sweep(self, executor=executor, jobs=jobs, limits=limits, precision=precision, listener=heard).run()
        if self.failures:
            warnings.warn(
                f"{len(self.failures)} of {self.size} runs failed; see study.failures",
                RuntimeWarning,
                stacklevel=2,
            )
        return self

    def table(self, metric: str) -> Table:
        """Tabulate the mean of a metric at every point.

        Args:
            metric: Its name, such as `flows.main.goodput_bps`.

        Returns:
            Columns for the swept keys, then `mean`, `ci_low` and `ci_high` in the unit of the metric, and
            `n`, the number of runs. The bounds are those of the 95 % interval, `None` of a single run.

        Raises:
            UsageError: No run has this metric.
        """
        return means(self, metric)

    def contrast(self, metric: str, key: str, baseline: str | None = None) -> Table:
        """Tabulate the effect of one key, paired by common random numbers.

        Args:
            metric: The name of a metric, such as `flows.main.goodput_bps`.
            key: A swept key.
            baseline: The value of the key for comparison; default: the first.

        Returns:
            A row for each other value at each combination of the other swept keys. It has the `difference`
            to the baseline, and `ci_low` and `ci_high` of its 95 % interval, in the unit of the metric. `n`
            is the number of pairs, and `relative` the share of the baseline's mean. Where other keys advance
            together with this one, a value of it has theirs in parentheses, as in "lle-tcp (safe)".

        Raises:
            UsageError: No run has the metric, the key is not swept, or the baseline is not one of
                its values or has several points.
        """
        return contrasts(self, metric, key, baseline)

    def quantile(self, metric: str, share: float = 0.5) -> Table:
        """Tabulate a quantile of a metric over the runs of every point.

        Args:
            metric: Its name, such as `flows.main.goodput_bps`.
            share: The share of runs below the quantile; 0.5 is the median.

        Returns:
            Columns for the swept keys, then `quantile`, `ci_low` and `ci_high` in the unit of the metric, and
            `n`. The 95 % interval is from the order of the runs, for any distribution; `None` of too few.

        Raises:
            UsageError: No run has this metric, or the share is not between 0 and 1.
        """
        return quantiles(self, metric, share)

    def steady(self, metric: str | None = None, *, cut: bool = False) -> Table:
        """Tabulate each run as one long run: where its warm-up ends, and its mean by batches.

        Args:
            metric: A series of `run.bin`, such as `flows.main.goodput_bps`; default: the first.
            cut: Whether to leave the warm-up that was found out of the means; `run.warmup` always is.

        Returns:
            Columns for the swept keys, `replication`, `warmup_s` (`run.warmup`), `found_s`, `mean`, `ci_low`,
            `ci_high`, `batches`, `batch_s`, `linked` and `is_linked`. `found_s` is the end of the warm-up by
            MSER-5; `None` if it is not in the first half. `linked` is the correlation of neighbouring
            batches; `is_linked` says that it is too high for the interval to hold.

        Raises:
            UsageError: No run has bins, or no bins of this metric.
        """
        return steady_runs(self, metric, cut=cut)

    def plot(
        self,
        figure: str | None = None,
        *,
        width: str | float | None = None,
        title: bool = True,
        caption: bool = True,
        legend: str = "best",
        x_limits: tuple[float | None, float | None] | None = None,
        y_limits: tuple[float | None, float | None] | None = None,
        ax: Axes | None = None,
    ) -> Figure:
        """Draw a figure of the scenario, with published values if it is of a paper that states some.

        Args:
            figure: Its id; default: the first figure.
            width: `column` (3.5 inches), `page` (7.16 inches), or millimetres; default: that of its kind.
            title: Whether it has a title.
            caption: Whether it says what it is made of; rules that no protocol could keep are always named.
            legend: `best`, `above`, `outside`, `none`, or a place inside such as `upper left`.
            x_limits: Limits of the horizontal axis in its unit; None for either end follows the data.
            y_limits: Limits of the vertical axis in its unit.
            ax: Axes of matplotlib to draw in, for figures with one panel; the figure is theirs.

        Returns:
            A figure of matplotlib.

        Raises:
            UsageError: The figure does not exist, or has no finished run.
            StudyError: A run repeated for its trace differs from the study.
            RunError: A run repeated for its trace failed.
        """
        sheet = page(
            width=width,
            title=title,
            caption=caption,
            legend=legend,
            x_limits=x_limits,
            y_limits=y_limits,
            ax=ax,
        )
        chosen = figure_named(self.scenario, figure)
        return draw(self, chosen, published(claims_of(self.scenario), chosen, self), sheet)

    def report(self, path: str | Path, *, live: bool = False) -> None:
        """Write one HTML file about the study, which needs no network: result, figures, runs and sources.

        A figure over time repeats a run for its trace. The file is smaller than two megabytes: it says what
        it leaves out of a larger study.

        Args:
            path: The file to write, in an existing directory; it is written completely or not at all.
            live: Whether the page has the simulator in it and can run points again, with other values.

        Raises:
            UsageError: The directory does not exist, the file belongs to a study, or the simulator for pages
                was not built.
            StudyError: The file cannot be written.
        """
        write_report(of_study(self), place("path", path, "a file to write"), live=flag("live", live))

    def to_csv(self, path: str | Path) -> None:
        """Write one row per run as CSV, metrics in SI units.

        Args:
            path: The file to write, in an existing directory; it is written completely or not at all.

        Raises:
            UsageError: The directory does not exist, or the file belongs to a study.
            StudyError: The file cannot be written.
        """
        write(self, place("path", path, "a file to write"), "csv")

    def to_json(self, path: str | Path) -> None:
        """Write one object per run as JSON, metrics in SI units, with the unit of each.

        Args:
            path: The file to write, in an existing directory; it is written completely or not at all.

        Raises:
            UsageError: The directory does not exist, or the file belongs to a study.
            StudyError: The file cannot be written.
        """
        write(self, place("path", path, "a file to write"), "json")

    def to_parquet(self, path: str | Path) -> None:
        """Write one row per run as Parquet, metrics in SI units; needs pyarrow.

        Args:
            path: The file to write, in an existing directory; it is written completely or not at all.

        Raises:
            UsageError: The directory does not exist, or the file belongs to a study.
            StudyError: The file cannot be written.
            LasthopError: pyarrow is not installed.
        """
        write(self, place("path", path, "a file to write"), "parquet")


class Fit(fitted.Fit):
    """What a capture says of its Wi-Fi link, and a scenario like it; `fit` makes one.

    Attributes:
        text: The scenario as text, in which each measured value has its interval.
        scenario: The same as a scenario.
    """

    _scenario_class = Scenario
    scenario: Scenario
