"""Sphinx configuration: `make docs` builds the guide into docs/_build/html, warnings being errors.

`make site` adds the playground, and opens it below the scenarios and in the tutorials of the guide.
"""

import json
import re
from pathlib import Path

from docutils import nodes
from sphinx.application import Sphinx

import lasthop as lh
from lasthop import __version__
from lasthop.base import paths
from lasthop.report.simulator import has_quic
from lasthop.report.studio import fragment

project = "lasthop"
author = "The lasthop authors"
copyright = "The lasthop authors, MIT OR Apache-2.0"
version = release = __version__

extensions = ["myst_nb", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
exclude_patterns = ["_build"]
myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 3

# The tutorials are executed by the build; a cell that fails ends it.
nb_execution_mode = "cache"
nb_execution_in_temp = True
nb_execution_timeout = 300
nb_execution_raise_on_error = True

autodoc_member_order = "bysource"
autodoc_typehints = "description"
# Docstrings put code into single backticks, as Markdown does.
default_role = "code"

html_theme = "furo"
html_title = "lasthop"
html_static_path = ["_static"]
html_css_files = ["guide.css"]
html_theme_options = {
    "light_css_variables": {"color-brand-primary": "#0072b2", "color-brand-content": "#0072b2"},
    "dark_css_variables": {"color-brand-primary": "#56b4e9", "color-brand-content": "#56b4e9"},
}
html_show_sourcelink = False


# What a tutorial says for its knobs: their keys, with the numbers to begin with where these are others.
TURN = re.compile(r"<!-- turn (.+?) -->")
# Below a fragment: a shipped scenario that has it, the rest of a scenario with … for it, or why neither.
TRY = re.compile(r"<!-- (?:try (.+?)|try(\n.+?)|no try: (.+?)) ?-->", re.DOTALL)
# What runs a scenario in a block of commands.
RUNS = re.compile(r"lasthop (?:run|sweep|show|check|ladder|play) ([\w-]+/[\w-]+)")


def setup(app: Sphinx) -> None:
    """The folder of the playground, if the site has one."""
    app.add_config_value("playground", "", "html", str)
    app.connect("doctree-resolved", let_try)


def let_try(app: Sphinx, tree: nodes.document, name: str) -> None:
    """Let readers open the playground below each scenario, and turn the knobs of tutorials."""
    if not app.config.playground:
        return
    place = app.builder.get_relative_uri(name, f"{app.config.playground}/index")
    shown: set[str] = set()
    for block in list(tree.findall(nodes.literal_block)):
        for scenario, text in opened(block, name.rpartition("/")[2]):
            if text not in shown:
                put_below(block, f"Try it: {scenario}", place + fragment(scenario, text))
            shown.add(text)
    for comment in list(tree.findall(nodes.raw)):
        if found := TURN.search(comment.astext()):
            text = of_tutorial(Path(app.srcdir) / f"{name}.ipynb")
            address = place + fragment("tutorial.toml", text, knobs(found[1]))
            put_below(comment, "Turn the knobs", address, is_open=True)


def opened(block: nodes.Element, page: str) -> list[tuple[str, str]]:
    """The name and the text of the scenario of a block, or of that which its commands run."""
    text = block.astext()
    if block.get("language") == "toml":
        return [(f"{page}.toml", text)] if is_whole(text) else completed(block, page)
    files = [paths.shipped().get(name) for name in RUNS.findall(text)][:1]
    found = [(paths.scenario_id(it), it.read_text("utf-8")) for it in files if it]
    return [(name, text) for name, text in found if not has_quic(text)]


def completed(block: nodes.Element, page: str) -> list[tuple[str, str]]:
    """The name and the text of the scenario of a fragment, by the comment below it, which may say why not."""
    below = block.next_node(descend=False, siblings=True)
    found = TRY.fullmatch(below.astext().strip()) if isinstance(below, nodes.raw) else None
    if found is None:
        return []
    shipped, around, reason = found.groups()
    if shipped:
        return [(shipped, paths.shipped()[shipped].read_text("utf-8"))]
    if around:
        return [(f"{page}-whole.toml", around.replace("…", block.astext()).lstrip())]
    below.parent.replace(
        below, nodes.raw("", f'<p class="try">No <i>Try it</i>: {reason}</p>', format="html")
    )
    return []


def put_below(block: nodes.Element, words: str, address: str, *, is_open: bool = False) -> None:
    """Put the playground below a block."""
    frame = f'<iframe src="{address}" title="{words}" loading="lazy"></iframe>'
    html = f'<details class="try"{" open" if is_open else ""}><summary>{words}</summary>{frame}</details>'
    block.parent.insert(block.parent.index(block) + 1, nodes.raw("", html, format="html"))


def of_tutorial(file: Path) -> str:
    """The scenario that the first cell with code of a tutorial makes."""
    cells = json.loads(file.read_text("utf-8"))["cells"]
    made: dict[str, lh.Scenario] = {}
    first = next(cell for cell in cells if cell["cell_type"] == "code")
    exec("".join(first["source"]), made)  # noqa: S102 - the build runs the tutorial as well
    return made["scenario"].text


def knobs(text: str) -> dict[str, float | None]:
    """Keys with the numbers to begin with.

    >>> knobs("run.duration = 15, links.air.queue")
    {'run.duration': 15.0, 'links.air.queue': None}
    """
    pairs = (part.partition("=") for part in text.split(","))
    return {key.strip(): float(number) if number else None for key, _, number in pairs}


def is_whole(text: str) -> bool:
    """Whether a text is a scenario that can be run."""
    try:
        lh.Scenario.from_text(text, "scenario.toml")
    except lh.LasthopError:
        return False
    return True
