"""Writes the table of papers in README.md, and that of times in docs/validation.md, from what is on record.

    .venv/bin/python docs/make_readme.py

`tests/python/test_docs.py` fails while a table is not what this writes.
"""

from pathlib import Path

from lasthop.papers.paper import Paper, known, paper
from lasthop.papers.reproduce import cost
from lasthop.papers.statements import STATEMENT_VERDICTS

PAGE = Path(__file__).resolve().parent.parent / "README.md"
TIMES = PAGE.parent / "docs" / "validation.md"
BEGIN, END = "<!-- written by docs/make_readme.py -->\n", "<!-- end -->\n"
FIRST = ["lle-tcp", "ejtcp", "dynamic-arq", "load-adaptive"]


def row(one: Paper) -> str:
    """A paper in one line: its question and the answer, and how many of its statements hold."""
    verdicts = [it.verdict for it in one.rows()]
    counts = [len(verdicts), *map(verdicts.count, STATEMENT_VERDICTS)]
    name = f"[{one.title.partition(':')[0]}](papers/{one.id}.md){source(one)}"
    return f"| {name} | *{one.question}* {one.finding} | {' | '.join(map(str, counts))} |\n"


def source(one: Paper) -> str:
    """The authors and the year, if it is about one paper."""
    cited = one.head.get("cite")
    if cited is None:
        return ""
    names = [author.rsplit(" ", 1)[-1] for author in cited["author"]]
    return f", {' and '.join(names) if len(names) < 3 else f'{names[0]} et al.'} {cited['year']}"


def table() -> str:
    """All papers, the four of the schemes first."""
    head = ["paper", "question and answer", "statements", *STATEMENT_VERDICTS]
    rest = [name for name in known() if name not in FIRST]
    lines = [f"| {' | '.join(head)} |\n", f"| {' | '.join(['---'] * len(head))} |\n"]
    return "".join(lines + [row(paper(name)) for name in [*FIRST, *rest]])


def times() -> str:
    """How long it takes to reproduce each paper, in full and quickly, with two workers."""
    papers = [paper(name) for name in known()]
    costs = [(one.id, *(cost(one, quick=quick, jobs=2) for quick in (False, True))) for one in papers]
    costs.sort(key=lambda it: -it[1][1])
    total = [tuple(sum(it[i][j] for it in costs) for j in (0, 1)) for i in (1, 2)]
    lines = ["| paper | runs | in full | runs | `--quick` |\n", "| --- | --- | --- | --- | --- |\n"]
    for name, full, quick in [*costs, ("all", *total)]:
        lines.append(f"| {name} | {full[0]} | {minutes(full[1])} | {quick[0]} | {minutes(quick[1])} |\n")
    return "".join(lines)


def minutes(seconds: float) -> str:
    """A duration in minutes, or in seconds if it is short."""
    return f"{seconds / 60:.0f} min" if seconds > 90 else f"{max(seconds, 1):.0f} s"


def page(text: str, new: str = "") -> str:
    """A page with its table."""
    before, _, rest = text.partition(BEGIN)
    return before + BEGIN + (new or table()) + END + rest.partition(END)[2]


if __name__ == "__main__":
    PAGE.write_text(page(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
    TIMES.write_text(page(TIMES.read_text(encoding="utf-8"), times()), encoding="utf-8")
