"""Sphinx configuration: `make docs` builds the guide into docs/_build/html, warnings being errors."""

from lasthop import __version__

project = "lasthop"
author = "The lasthop authors"
copyright = "The lasthop authors, MIT OR Apache-2.0"
version = release = __version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
exclude_patterns = ["_build"]
myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 3

autodoc_member_order = "bysource"
autodoc_typehints = "description"
# Docstrings put code into single backticks, as Markdown does.
default_role = "code"

html_theme = "alabaster"
html_theme_options = {"description": "TCP over wireless hops", "fixed_sidebar": True, "page_width": "1100px"}
html_show_sourcelink = False
