"""The suffixes of files in CNTK's languages, of scripts that start its runs, and of its models;
imports nothing.
"""

from __future__ import annotations

#: The language of a file by the suffix of its name.
SUFFIXES = {
    ".cntk": "cntk",
    ".config": "cntk",
    ".bs": "brainscript",
    ".ndl": "ndl",
    ".mel": "mel",
}
#: The suffixes of configurations, which runs begin with.
STARTS = tuple(suffix for suffix, language in SUFFIXES.items() if language == "cntk")
#: The suffixes of scripts that may start runs.
SCRIPTS = (".sh", ".cmd", ".bat")
