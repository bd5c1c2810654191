"""Sphinx configuration: `make docs` builds the guide into docs/_build/html, warnings being errors."""

from lasthop import __version__

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
