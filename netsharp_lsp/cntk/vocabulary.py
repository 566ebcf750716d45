"""Words and marks that CNTK knows in several of its languages, each defined once.

Knows no language: each finds words in a text by itself.
"""

from __future__ import annotations

import re

#: A variable, and its name: a letter or `_`, then anything but these characters; whatever else
#: `$` begins stays as it is.
VARIABLE = re.compile(rb"\$([A-Za-z_][^,/<>?;':\"\[\]{}\\|!@#%^&*()+=~` \t\r\n$]*)\$")
#: What configurations, NDL and MEL read as a truth value; anything else stops CNTK.
TRUE = frozenset(("t", "true", "T", "True", "TRUE", "1"))
FALSE = frozenset(("f", "false", "F", "False", "FALSE", "0", ""))
TRUTHS = TRUE | FALSE
#: The spelling of truth values in new text.
PLAIN_TRUTHS = ("true", "false")
#: Reserved words of BrainScript.
KEYWORDS = ("if", "then", "else", "new", "include", "array", "with", "true", "false")
#: Ways to start a parameter that draw random numbers, and all of them; of NDL those alone.
RANDOM_STARTS = (
    *("gaussian", "glorotNormal", "glorotUniform", "heNormal", "heUniform", "uniform", "xavier"),
    *("normal", "uniform1", "TruncNormal"),
)
STARTS = (
    *RANDOM_STARTS,
    *("fixedValue", "fromValue", "fromFile", "fromLiteral", "zero", "bilinear"),
)
NDL_STARTS = ("uniform", "gaussian", "heNormal", "fixedValue", "fromFile", "bilinear")
#: What later releases of CNTK let every function of the library take that makes a node.
TAKEN_BY_ALL = ("precision",)
#: Image layouts by every name that CNTK knows, in this very case.
LAYOUTS = {"CHW": "CHW", "cudnn": "CHW", "HWC": "HWC", "legacy": "HWC"}
