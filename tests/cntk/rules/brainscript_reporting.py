"""What the rules say about BrainScript in memory, in a form that tables hold."""

from __future__ import annotations

from netsharp_lsp.cntk.checking.check import diagnostics_by_file
from netsharp_lsp.cntk.run.experiment import Experiment, SingleFile
from netsharp_lsp.diagnostics.model import Diagnostic
from netsharp_lsp.workspace import Run
from tests.cntk.texts import Memory

NAME = "a.bs"
CONFIGURATION = "a.cntk"
BEFORE, AFTER = "Model = {\n    BrainScriptNetworkBuilder = {\n", "\n    }\n}\n"


def alone(text: str) -> list[Diagnostic]:
    """The diagnostics of a file by itself."""
    files = Memory({NAME: text.encode()})
    found = diagnostics_by_file(SingleFile(NAME, "brainscript", files))
    return [one for one in found.get(NAME, []) if one.code.startswith("BS")]


def built(network: str, files: dict[str, str] | None = None) -> dict[str, list[Diagnostic]]:
    """The diagnostics of a configuration with a network, by file."""
    held = {name: text.encode() for name, text in (files or {}).items()}
    memory = Memory({CONFIGURATION: f"{BEFORE}{network}{AFTER}".encode(), **held})
    run = Run((f"configFile={CONFIGURATION}",), declared=False)
    found = diagnostics_by_file(Experiment(run, memory))
    return {
        file: [one for one in listed if one.code.startswith("BS")] for file, listed in found.items()
    }


def marks(text: str, found: list[Diagnostic]) -> list[tuple[str, str]]:
    """Codes with the words that they mark."""
    data = text.encode()
    return [(one.code, data[one.start : one.end].decode()) for one in found]


def reported(text: str) -> list[tuple[str, str]]:
    """The diagnostics of a file by itself, as codes with words."""
    return marks(text, alone(text))


def inside(network: str, files: dict[str, str] | None = None) -> list[tuple[str, str, str]]:
    """The diagnostics of the network of a configuration: codes, severities, words."""
    data = f"{BEFORE}{network}{AFTER}".encode()
    return [
        (one.code, one.severity, data[one.start : one.end].decode())
        for one in built(network, files).get(CONFIGURATION, [])
    ]
