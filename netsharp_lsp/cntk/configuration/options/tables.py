"""The tables of options, and which of their blocks are actions, builders and readers.

The options are described in the Markdown files beside this one.
"""

from __future__ import annotations

import os

from netsharp_lsp.cntk.configuration.options.reading import Tables

_FOLDER = os.path.dirname(__file__)
_FILES = ("top", "actions", "output", "builders", "training", "readers", "sections")
_OTHER = "other_readers"


def _read(name: str) -> tuple[str, str]:
    path = os.path.join(_FOLDER, f"{name}.md")
    with open(path, encoding="utf-8") as stream:
        return path, stream.read()


_TEXTS = {name: _read(name) for name in (*_FILES, _OTHER)}
_TABLES = Tables.of(_TEXTS.values())
_ALL = _TABLES.blocks


def _headed(name: str) -> list[str]:
    """Return the names of a file's blocks, in order."""
    lines = _TEXTS[name][1].splitlines()
    return [line.removeprefix("## ") for line in lines if line.startswith("## ")]


#: Every table by its name in lower case; those of readers are by type.
BLOCKS = {name.lower(): _ALL[name] for file in _FILES for name in _headed(file)}
TOP = _ALL["top level"]
ACTIONS = {name: _ALL[name] for name in _headed("actions")}
#: Actions that train, those that evaluate, and older spellings.
TRAINING = ("train", "trainRNN", "adapt")
EVALUATING = ("test", "eval", "cv", "write", "bnstat")
OLD_ACTIONS = {"dumpNode": "dumpNodes", "dumpnode": "dumpNodes"}
#: In the order in which CNTK looks for them: the first that is there builds the network.
BUILDERS = tuple(option.name for option in _TABLES.rows("builders"))
#: The table of each type of reader, by the name of its library in lower case.
READERS = {name.lower(): _ALL[name] for name in _headed("readers")}
DEFAULT_READER = "CNTKTextFormatReader"
#: The tables of blocks that readers hold.
SECTIONS = tuple(_ALL[name] for name in _headed("sections"))
#: The table of a reader that names others, and of one that is not CNTK's own.
JOINED = _ALL["readers"]
FOREIGN = _ALL["reader of another library"]
#: The deserializers of each library.
MODULES = {
    "ImageReader": ("ImageDeserializer", "Base64ImageDeserializer"),
    "CNTKTextFormatReader": ("CNTKTextFormatDeserializer",),
    "CNTKBinaryReader": ("CNTKBinaryFormatDeserializer",),
    "HTKDeserializers": (
        *("HTKFeatureDeserializer", "HTKMLFDeserializer"),
        *("LatticeDeserializer", "HTKMLFBinaryDeserializer"),
    ),
}
