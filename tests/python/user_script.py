"""What a user of the whole API may write: `mypy --strict` reads it, and it runs."""

import pickle
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import lasthop as lh
from lasthop.laws import Ack, Loss, Timeout, Window

METRIC = "flows.main.goodput_bps"
KIND = "agents.snoop.kind"


def described(name: str) -> tuple[lh.Scenario, lh.Estimate]:
    """A shipped scenario, shortened, and what one run of it may cost."""
    assert name in lh.scenarios()
    chosen = lh.load(name).set({"run.duration": "1 s", "run.warmup": "100 ms"})
    exceptions: list[lh.RuleException] = chosen.exceptions
    print(chosen.id, chosen.title, chosen.links(), chosen.flows(), [it.label for it in exceptions])
    return chosen, chosen.estimate()


def measured(chosen: lh.Scenario, folder: Path) -> lh.Run:
    """One run with a trace and a capture, which comes back from a file as it was."""
    run = chosen.run(seed=1, trace=["cwnd", "events"], pcap=folder / "x.pcap", cancel=lh.Cancel())
    trace: lh.Trace = run.trace("cwnd")
    trace.to_csv(folder / "cwnd.csv")
    ladder: lh.Ladder = run.ladder((0.0, 0.2), layers="frames")
    ladder.save(folder / "ladder.svg")
    play: lh.Play = run.play((0.0, 0.2))
    play.save(folder / "play.html")
    print(ladder.title, ladder.period, ladder.notes, play.title, play.period, play.notes)
    books: list[lh.Airtime] = run.airtime()
    goodput: float | None = run.metrics[METRIC]
    print(len(trace), trace.to_numpy()["cwnd"].max(), books[0].share(books[0].measured), goodput)
    again: lh.Run = pickle.loads(pickle.dumps(run))
    assert again == run
    assert again.scenario == chosen
    return again


def swept(chosen: lh.Scenario, folder: Path) -> lh.Study:
    """A sweep of own values, carried out in two ways."""
    heard: list[lh.Progress] = []
    vary = {KIND: ["none", "lle-tcp"], "links.wlan.loss.rate": ["0 %", "5 %"]}
    study = lh.sweep(chosen, vary=vary, replications=2, out=folder / "study")
    study.run(jobs=2, limits=lh.Limits(max_wall_s=60), progress=heard.append)
    with ThreadPoolExecutor(2) as pool:
        study.run(pool, precision=lh.Precision(target=0.5, most=3, least=2))
    planned: lh.Planned = study.plan[0]
    result: lh.Result = next(study.results())
    row: lh.Row = result.row
    print(planned.replications, row.events, heard[-1].remaining_s, study.failures, lh.model_version)
    return study


class Patient:
    """A law of the user's own, which never reduces its window below eight segments."""

    def on_ack(self, ack: Ack, window: Window) -> None:
        if ack.progress == "open":
            window.cwnd += 1 / window.cwnd

    def on_loss(self, loss: Loss, window: Window) -> bool | None:
        window.cwnd = max(loss.base / 2, 8.0)
        return None

    def on_timeout(self, timeout: Timeout, window: Window) -> bool | None:
        window.cwnd = 8.0
        return None


def with_own_law(chosen: lh.Scenario) -> None:
    """A run with a law in Python, which differs from Reno's."""
    lh.law("patient", Patient, recovery="newreno")
    try:
        run = chosen.set({"flows.main.tcp.variant": "patient"}).run()
    except lh.LawError as error:
        raise AssertionError from error
    use: lh.LawUse = run.laws["patient"]
    compared: lh.Comparison = lh.compare_laws(chosen, "patient", "reno")
    print(use.us_per_ack, compared.number, compared)
    assert not compared


def searched(folder: Path) -> None:
    path = lh.load("examples/udp-cross").set({"run.duration": "2 s", "run.warmup": "1 s"})
    over = {"flows.main.tcp.window": "4..64 segments"}
    found: lh.Optimum = path.search(METRIC, over, trials=2, replications=1, confirm=2, out=folder / "best")
    first: lh.Trial = found.trials[0]
    here: lh.Confirmed = found.confirmed[0]
    print(
        found.text(), found.as_dict()["best"], found.shrinkage, first.values, here.difference.mean, sep="\n"
    )


def in_real_time(chosen: lh.Scenario) -> None:
    """A program on a node, where the system allows it."""
    try:
        with lh.live(chosen, ["sender", "receiver"], limit_s=60) as net:
            opened: lh.Live = net
            sender: lh.LiveNode = opened.node("sender")
            assert sender.run(["true"]).returncode == 0
    except lh.UnavailableError as error:
        print(error)
    else:
        outcome: lh.Outcome = net.outcome
        print(outcome.late_p99_s, outcome.metrics[METRIC], outcome.as_dict()["kernel"])


def judged(folder: Path) -> None:
    """Verdicts on a law; a suite that does not exist costs no time."""
    try:
        verdicts: lh.Verdicts = lh.suite("rfc9999", ["patient"], out=folder / "suite", jobs=2)
        verdicts.save(folder / "suite.html")
        print(verdicts.laws, verdicts.version, verdicts.table("patient").column("verdict"))
    except lh.UsageError as e:
        print(e.text)


def fitted(folder: Path) -> None:
    """A scenario like a capture."""
    hotel = lh.load("hops/hotel").set({"run.duration": "1 s", "run.warmup": "0 s"})
    hotel.run(pcap={"air": folder / "air.pcap"})
    fit: lh.Fit = lh.fit(folder / "air.pcap")
    fit.save(folder / "air.toml")
    print(fit.parameters(), fit.predict().rows, fit.scenario.id, len(fit.text))


def main(folder: Path) -> None:
    fitted(folder)
    judged(folder)
    searched(folder)
    chosen, bound = described("lle-tcp/fig05")
    assert measured(chosen, folder).events <= bound.events
    with_own_law(chosen)
    in_real_time(chosen)
    study = swept(chosen, folder)
    means: lh.Table = study.table(METRIC)
    print(means, study.contrast(METRIC, KIND, baseline="none").column("relative"), sep="\n")
    study.plot().savefig(folder / "x.svg")
    study.to_csv(folder / "runs.csv")
    assert lh.Study.open(study.path).table(METRIC).rows == means.rows
    try:
        lh.from_dict({"run": {"duration": "1 MB"}})
    except lh.ScenarioError as error:
        print(error)
    try:
        chosen.run(point=-1)
    except (lh.UsageError, lh.StudyError) as error:
        print(error.argument)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
