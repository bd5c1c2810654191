"""Writes the table of papers in README.md from the findings and verdicts on record.

    .venv/bin/python docs/make_readme.py

`tests/python/test_docs.py` fails while the table is not what this writes.
"""

from pathlib import Path

from lasthop.papers.paper import Paper, known, paper
from lasthop.papers.statements import STATEMENT_VERDICTS

PAGE = Path(__file__).resolve().parent.parent / "README.md"
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


def page(text: str) -> str:
    """The page with its table."""
    before, _, rest = text.partition(BEGIN)
    return before + BEGIN + table() + END + rest.partition(END)[2]


if __name__ == "__main__":
    PAGE.write_text(page(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
