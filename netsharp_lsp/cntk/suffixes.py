"""Which files are in CNTK's languages, tell of its runs or hold its models; imports nothing."""

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
#: How a model file begins, whatever it is called: a text in UTF-16, of a model or a checkpoint; a
#: dictionary, of two versions, or one above 2 GB; and what CNTK exported, which is told apart.
MODEL_BEGINS = (
    b"B\0C\0N\0",
    b"B\0V\0e\0r\0s\0i\0o\0n\0",
    b"B\0C\0K\0P\0",
    b"\x08\x01\x12",
    b"\x08\x02\x12",
    b"ktnc",
    *(bytes((8, version)) + b"\x12\x04CNTK" for version in range(3, 9)),
)
