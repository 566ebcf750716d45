"""Configures Sphinx for the site; `website.building` calls it with the gathered sources."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

sys.path.insert(0, str(Path(__file__).parents[1]))

from netsharp_lsp import __version__
from website.lexers import lexers

if TYPE_CHECKING:
    from sphinx.application import Sphinx

project = "netsharp"
author = "The netsharp authors"
copyright = "the netsharp authors"
version = release = __version__
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
exclude_patterns = ["LICENSE"]
html_theme = "furo"
html_title = "netsharp"
html_favicon = html_logo = "../vscode-extension/media/icon.png"
html_copy_source = False
html_show_sourcelink = False
#: As deep as documents link to headings, which get the anchors that code hosts give them.
myst_heading_anchors = 4
myst_enable_extensions = ["dollarmath"]
myst_dmath_double_inline = False
napoleon_custom_sections = [("Since", "params_style")]
napoleon_use_ivar = True
napoleon_use_rtype = False
autodoc_typehints = "none"
autodoc_member_order = "bysource"
#: What scikit-learn puts into every estimator leads to pages of its own.
_ROUTING = ("fit", "partial_fit", "predict", "score")
autodoc_default_options = {"exclude-members": ", ".join(f"set_{name}_request" for name in _ROUTING)}
#: Transcripts hold what programs print; several classes have an attribute of one name.
suppress_warnings = ["misc.highlighting_failure", "config.cache", "ref.python"]


def without_fields(
    app: Sphinx, what: str, name: str, value: object, skip: bool, options: object
) -> bool | None:
    """Leave out what a named tuple says of its fields: its docstring says more."""
    return True if (value.__doc__ or "").startswith("Alias for field") else None


def setup(app: Sphinx) -> None:
    """Give Sphinx the lexers of the languages."""
    for name, lexer in lexers().items():
        app.add_lexer(name, lexer)
    app.connect("autodoc-skip-member", without_fields)
