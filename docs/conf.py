"""Sphinx configuration: `make docs` builds the guide into docs/_build/html, warnings being errors.

`make site` adds the playground, and opens it below each whole scenario of the guide.
"""

from docutils import nodes
from sphinx.application import Sphinx

import lasthop as lh
from lasthop import __version__
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


def setup(app: Sphinx) -> None:
    """The folder of the playground, if the site has one."""
    app.add_config_value("playground", "", "html", str)
    app.connect("doctree-resolved", let_try)


def let_try(app: Sphinx, tree: nodes.document, name: str) -> None:
    """Let readers open the playground below each scenario that is whole."""
    folder = app.config.playground
    for block in list(tree.findall(nodes.literal_block)) if folder else ():
        if block.get("language") == "toml" and is_whole(block.astext()):
            place = app.builder.get_relative_uri(name, f"{folder}/index")
            address = place + fragment(f"{name.rpartition('/')[2]}.toml", block.astext())
            frame = f'<iframe src="{address}" title="The scenario above" loading="lazy"></iframe>'
            html = f'<details class="try"><summary>Try it</summary>{frame}</details>'
            block.parent.insert(block.parent.index(block) + 1, nodes.raw("", html, format="html"))


def is_whole(text: str) -> bool:
    """Whether a text is a scenario that can be run."""
    try:
        lh.Scenario.from_text(text, "scenario.toml")
    except lh.LasthopError:
        return False
    return True
