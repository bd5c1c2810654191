"""Commands for writing scenarios: new, list, explain, schema, completion."""

from __future__ import annotations

import json
import shutil
import sys
from typing import TYPE_CHECKING, Any

import click

from lasthop.base.errors import LasthopError, UsageError, nearest
from lasthop.cli import completing
from lasthop.cli.options import Choice, Word, examples, json_option, talk_options
from lasthop.cli.talk import complain, data, written

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from lasthop.papers.paper import Paper

# What can be listed, each with a line on what it is.
LISTS = {
    "scenarios": "shipped scenarios",
    "hops": "last hops of today, each a scenario whose head has the evidence for its numbers",
    "papers": "papers whose figures reproduce redraws",
    "schemes": "schemes of the papers, and the setting that selects each",
    "tcp": "variants of TCP: flows.NAME.tcp.variant",
    "recovery": "loss recovery: flows.NAME.tcp.recovery",
    "congestion": "congestion laws: flows.NAME.tcp.congestion",
    "agents": "agents between network layer and link: agents.NAME.kind",
    "arq": "retransmission on 802.11 links: links.NAME.arq.kind",
    "intervals": "retransmission intervals of the FRN: links.NAME.frn.interval",
    "reactions": "what a TCP end does at events of its link: flows.NAME.tcp.reaction",
    "links": "kinds of links: links.NAME.kind",
    "standards": "802.11 standards: links.NAME.standard",
    "loss": "loss models: links.NAME.loss.model",
    "apps": "applications: flows.NAME.app.kind",
    "metrics": "metrics of runs",
    "channels": "channels of run --trace",
    "figures": "kinds of figures: figure.kind",
    "panels": "panels of figures over time: figure.panels",
    "keys": "keys of a scenario; see explain",
}
# Lists that have another name, too.
_ALSO = {
    "variants": "tcp", "laws": "congestion", "traces": "channels", "models": "loss", "plots": "figures",
    "sources": "apps", "ids": "scenarios", "units": "keys", "examples": "scenarios", "commands": "scenarios",
}  # fmt: skip


@click.command(
    "list",
    epilog=examples("lasthop list tcp", "lasthop list scenarios --json"),
)
@click.argument("what", required=False, type=Word(), metavar="[WHAT]", shell_complete=completing.words(LISTS))
@json_option
@talk_options
def list_command(what: str | None, as_json: bool) -> None:
    """List the entries of WHAT; without WHAT, the available lists.

    WHAT is scenarios, hops, papers, schemes, tcp, recovery, congestion, agents, arq, intervals,
    links, standards, loss, apps, metrics, channels, figures, panels or keys.
    """
    if what is None:
        entries: list[dict[str, Any]] = [{"name": name, "summary": text} for name, text in LISTS.items()]
        broken: list[str] = []
    elif what not in LISTS:
        raise UsageError(f'list: "{what}" is not a list; {nearest(_ALSO.get(what, what), LISTS)}')
    else:
        entries, broken = _entries(what)
    if as_json:
        from lasthop.base.jsontext import dumps

        data(dumps(entries))
        _complain_of(broken)
        return
    # The label of a part in figures is its name again.
    hidden = {"style"} if what in {"scenarios", "hops", "papers"} else {"style", "title"}
    columns = [c for c in dict.fromkeys(k for e in entries for k in e) if c not in hidden]
    data(_fitted(columns, [[_cell(entry.get(c)) for c in columns] for entry in entries]))
    _complain_of(broken)


def _fitted(columns: list[str], rows: list[list[str]]) -> str:
    """A table as wide as the terminal; where stdout is none, tabs between the cells."""
    from lasthop.base.table import fitted

    if not rows:
        return ""
    if not sys.stdout.isatty():
        return "\n".join("\t".join(line).rstrip("\t") for line in (columns, *rows))
    return fitted(columns, rows, shutil.get_terminal_size((80, 24)).columns)


def _complain_of(broken: list[str]) -> None:
    """Report what could not be listed."""
    for text in broken:
        complain(text)
    if broken:
        raise click.exceptions.Exit(UsageError.exit_code)


def _cell(value: Any) -> str:
    if value is None:
        return ""
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


def _entries(what: str) -> tuple[list[dict[str, Any]], list[str]]:
    """The entries of a list, and why others are not there."""
    if what == "keys":
        from lasthop import _core

        keys: list[dict[str, Any]] = json.loads(_core.keys())
        return [{k: e.get(k) for k in ("key", "default", "meaning")} for e in keys], []
    if what == "papers":
        from lasthop.papers.paper import known, paper

        return _readable(known(), lambda name: _paper(paper(name)))
    if what in {"scenarios", "hops"}:
        from lasthop.base.paths import shipped

        files = {name: str(file) for name, file in shipped().items()}
        if what == "scenarios":
            return _readable(files, lambda name: _scenario(name, files[name]))
        hops = (name for name in files if name.startswith("hops/"))
        return _readable(hops, lambda name: _hop(name, files[name]))
    from lasthop import _core

    found: list[dict[str, Any]] = json.loads(_core.registry())[what]
    return found, []


def _readable(
    names: Iterable[str], entry: Callable[[str], dict[str, Any]]
) -> tuple[list[dict[str, Any]], list[str]]:
    """The entries of the files that can be read, and what is wrong with the others."""
    entries, broken = [], []
    for name in names:
        try:
            entries.append(entry(name))
        except LasthopError as e:
            broken.append(str(e))
    return entries, broken


def _paper(found: Paper) -> dict[str, Any]:
    return {"id": found.id, "claims": len(found.claims), "title": found.title}


def _scenario(name: str, path: str) -> dict[str, Any]:
    from lasthop.scenario.scenario import load

    found = load(path)
    return {"id": name, "points": len(found.points()), "title": found.title}


def _hop(name: str, path: str) -> dict[str, Any]:
    import tomllib

    from lasthop.scenario.scenario import load

    found = load(path)
    return {"id": name, "title": found.title, "summary": tomllib.loads(found.text)["summary"]}


@click.command(
    "explain",
    epilog=examples("lasthop explain links.NAME.loss.rate", "lasthop explain flows.main.tcp.min-rto --json"),
)
@click.argument("key", type=Word(), shell_complete=completing.keys)
@json_option
@talk_options
def explain_command(key: str, as_json: bool) -> None:
    """Explain a scenario KEY: meaning, unit, default, source."""
    from lasthop import _core

    entry: dict[str, Any] = json.loads(_core.explain(key))
    if as_json:
        from lasthop.base.jsontext import dumps

        data(dumps(entry))
        return
    from lasthop.base.table import grid

    if entry.pop("may_differ"):
        entry["in a group"] = "also a list of values, one for each member in turn"
    rows = [
        [name.replace("_", " "), _cell(value)] for name, value in entry.items() if value not in (None, "", [])
    ]
    data(grid(["", ""], rows))


@click.command(
    "schema",
    epilog=examples(
        "lasthop schema > lasthop.schema.json",
        "lasthop schema | python -m json.tool",
    ),
)
@talk_options
def schema_command() -> None:
    """Print the JSON Schema of scenarios, for completion and checks in editors."""
    from lasthop import _core

    data(json.dumps(json.loads(_core.schema()), ensure_ascii=False, indent=1))


@click.command(
    "new",
    epilog=examples(
        "lasthop new mine --from ejtcp/fig10-baselines",
        "lasthop new my-law --law",
    ),
)
@click.argument("name", type=Word())
@click.option(
    "--from",
    "source",
    type=Word(),
    metavar="ID",
    shell_complete=completing.scenarios,
    help="The scenario to copy.",
)
@click.option("--law", "is_law", is_flag=True, help="Write a congestion law into this checkout.")
@click.option("--agent", "is_agent", is_flag=True, help="Write an agent into this checkout.")
@click.option("--crate", "in_crate", is_flag=True, help="Write a crate with a law, or with --agent an agent.")
@talk_options
def new_command(name: str, source: str | None, is_law: bool, is_agent: bool, in_crate: bool) -> None:
    """Write NAME.toml, a copy of a shipped scenario, or a scheme that works and can be changed."""
    given = [
        name for name, is_given in (("law", is_law), ("agent", is_agent), ("crate", in_crate)) if is_given
    ]
    if (source is None) == (not given):
        found = f"--from and --{given[0]} together" if given else "nothing to write"
        raise UsageError(f"new: {found}; expected one of --from, --law, --agent and --crate")
    if is_law and is_agent:
        raise UsageError("new: --law and --agent together; expected one of them")
    if source is not None:
        from lasthop.scenario.new import copy

        written(copy(name, source))
        return
    from lasthop.tools import templates

    if in_crate:
        written(templates.crate(name, has_agent=is_agent))
        return
    for path in templates.scheme(name, templates.LAW if is_law else templates.AGENT):
        written(path)


@click.command(
    "completion",
    epilog=examples(
        'eval "$(lasthop completion bash)"',
        "lasthop completion fish > ~/.config/fish/completions/lasthop.fish",
    ),
)
@click.argument("shell", type=Choice(list(completing.SCRIPTS)))
@talk_options
def completion_command(shell: str) -> None:
    """Print the completion script of a SHELL: bash, zsh or fish.

    It completes commands, options, scenarios, keys and their values, metrics, channels and papers, for
    lasthop and ./lasthop.
    """
    data(completing.SCRIPTS[shell].rstrip())
