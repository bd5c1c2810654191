"""Completion of words on the command line: scenarios, keys with values, metrics, channels, lists, papers.

click completes options and commands by itself. Its scripts call `lasthop` by its name alone, and that of bash
splits words at `=`; these call the command that was typed, `./lasthop` too, and complete KEY=VALUE.
"""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    import click

    from lasthop.scenario.scenario import Scenario
    from lasthop.study.study import Study

    Completer = Callable[[click.Context, click.Parameter, str], list[str]]

BASH = """\
_lasthop_completion() {
    local IFS=$'\\n' line=${COMP_LINE:0:$COMP_POINT} response kind value words current
    IFS=' ' read -r -a words <<< "$line"
    [[ $line == *' ' ]] && words+=('')
    current=${words[-1]}
    response=$(env COMP_WORDS="$line" COMP_CWORD=$((${#words[@]} - 1)) _LASTHOP_COMPLETE=bash_complete "$1")
    for completion in $response; do
        IFS=',' read -r kind value <<< "$completion"
        if [[ $kind == dir ]]; then
            COMPREPLY=(); compopt -o dirnames
        elif [[ $kind == file ]]; then
            COMPREPLY=(); compopt -o default
        else
            # bash has split the word at each = and replaces what follows the last.
            [[ $current == *=* ]] && value=${value#"${current%=*}="}
            [[ $value == *= ]] && compopt -o nospace
            COMPREPLY+=("$value")
        fi
    done
}
complete -o nosort -F _lasthop_completion lasthop
"""
ZSH = """\
#compdef lasthop
_lasthop_completion() {
    local -a completions described
    local kind key text
    completions=("${(@f)$(env COMP_WORDS="${words[*]}" COMP_CWORD=$((CURRENT-1)) \\
        _LASTHOP_COMPLETE=zsh_complete ${~words[1]})}")
    for kind key text in ${completions}; do
        if [[ $kind == dir ]]; then
            _path_files -/
        elif [[ $kind == file ]]; then
            _path_files -f
        elif [[ $text == _ ]]; then
            compadd -U -Q -S "${${key%%*=}:+ }" -- "$key"
        else
            described+=("${key//:/\\\\:}:$text")
        fi
    done
    if [[ -n $described ]]; then
        _describe -V unsorted described -U
    fi
}
compdef _lasthop_completion lasthop
"""
FISH = """\
function _lasthop_completion
    set -l typed (commandline -cp)
    set -l program (commandline -opc)[1]
    set -lx COMP_WORDS "$typed"
    set -lx COMP_CWORD (commandline -t)
    for completion in (env _LASTHOP_COMPLETE=fish_complete $program)
        set -l parts (string split -m 1 "," $completion)
        if test $parts[1] = dir
            __fish_complete_directories $parts[2]
        else if test $parts[1] = file
            __fish_complete_path $parts[2]
        else
            echo $parts[2]
        end
    end
end
complete --no-files --command lasthop --arguments "(_lasthop_completion)"
complete --no-files --path '*/lasthop' --arguments "(_lasthop_completion)"
"""
SCRIPTS = {"bash": BASH, "zsh": ZSH, "fish": FISH}


def _beginning(known: Iterable[str], incomplete: str) -> list[str]:
    return [word for word in known if word.startswith(incomplete)]


def scenarios(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:
    """Ids of shipped scenarios, and scenario files and studies on the disk."""
    from lasthop.base.paths import shipped

    return _beginning([*shipped(), *_files(incomplete)], incomplete)


def suites(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:
    """Ids of suites."""
    from lasthop.suites.cases import known

    return _beginning(known(), incomplete)


def studies(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:
    """Directories."""
    return _files(incomplete, only_folders=True)


def _files(incomplete: str, *, only_folders: bool = False) -> list[str]:
    from pathlib import Path

    folder, _, start = incomplete.rpartition("/")
    try:
        there: list[Path] = sorted(Path(folder or ("/" if incomplete.startswith("/") else ".")).iterdir())
    except OSError:
        return []
    begin = f"{folder}/" if folder or incomplete.startswith("/") else ""
    return [
        f"{begin}{path.name}{'/' if path.is_dir() else ''}"
        for path in there
        if path.name.startswith(start)
        and (start.startswith(".") or not path.name.startswith("."))
        and (path.is_dir() or (path.suffix == ".toml" and not only_folders))
    ]


def settings(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:
    """The keys of the scenario that was named, with `=`; after it the words of a key, also in a list."""
    key, equals, value = incomplete.partition("=")
    if equals:
        before, comma, last = value.rpartition("," if "," in value else "[")
        return [f"{key}={before}{comma}{word}" for word in _beginning(_words(key), last)]
    scenario = _scenario(ctx)
    known = scenario.resolved(0) if scenario else {entry["key"]: entry for entry in _keys()}
    return [f"{name}=" for name in _beginning(known, incomplete)]


def keys(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:
    """The keys of scenarios, as `explain` takes them."""
    return _beginning((entry["key"] for entry in _keys()), incomplete)


def _keys() -> list[dict[str, Any]]:
    from lasthop import _core

    found: list[dict[str, Any]] = json.loads(_core.keys())
    return found


def _words(key: str) -> list[str]:
    from lasthop import _core

    try:
        entry = json.loads(_core.explain(key))
    except (ValueError, RuntimeError):
        return []
    return ["true", "false"] if entry["kind"] == "bool" else list(entry["values"])


_NAMES = ("scenario", "study_or_scenario", "run_or_scenario", "study_or_run", "study")


def _named(ctx: click.Context) -> Scenario | Study | None:
    """The scenario or study that a command line names so far."""
    from click.shell_completion import split_arg_string

    from lasthop.base.errors import LasthopError
    from lasthop.base.paths import is_study
    from lasthop.scenario.scenario import load
    from lasthop.study.study import Study

    # Where an option still lacks its value click has parsed nothing: the first word that names one is meant.
    given = next((ctx.params[name] for name in _NAMES if ctx.params.get(name)), None)
    words = [str(given)] if given else split_arg_string(os.environ.get("COMP_WORDS", ""))[2:]
    for word in words:
        try:
            return Study.open(word) if is_study(word) else load(word)
        except (LasthopError, ValueError, RuntimeError, OSError):
            continue
    return None


def _scenario(ctx: click.Context) -> Scenario | None:
    """The scenario that a command line names so far, or that of its study."""
    from lasthop.study.study import Study

    found = _named(ctx)
    return found.scenario if isinstance(found, Study) else found


def metrics(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:
    """The metrics of the study that was named."""
    from lasthop.study.study import Study

    study = _named(ctx)
    return _beginning(study.metrics() if isinstance(study, Study) else [], incomplete)


def swept(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:
    """The swept keys of the study that was named."""
    scenario = _scenario(ctx)
    return _beginning(scenario.points()[0] if scenario else [], incomplete)


def figures(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:
    """The figures of the study that was named."""
    scenario = _scenario(ctx)
    return _beginning([str(f["id"]) for f in scenario.figures()] if scenario else [], incomplete)


def channels(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:
    """Channels of a trace, separated by commas."""
    from lasthop.scenario.trace import channels as known_channels

    before, comma, last = incomplete.rpartition(",")
    given = before.split(",")
    return [
        f"{before}{comma}{name}" for name in known_channels() if name.startswith(last) and name not in given
    ]


def papers(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:
    """The papers that can be reproduced."""
    from lasthop.papers.paper import known

    return _beginning(known(), incomplete)


def reported(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:
    """What a report can be about: the papers, and directories."""
    return [*papers(ctx, param, incomplete), *studies(ctx, param, incomplete)]


def words(known: Iterable[str]) -> Completer:
    """A completer of fixed words."""
    every = list(known)
    return lambda ctx, param, incomplete: _beginning(every, incomplete)
