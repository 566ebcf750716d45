"""The examples of rule pages as small projects in memory: run, checked, repaired."""

from __future__ import annotations

import tomllib

from netsharp_lsp.cntk.checking.check import diagnostics_by_file
from netsharp_lsp.cntk.commands.settings import read_declared
from netsharp_lsp.cntk.run.experiment import Experiment, SingleFile
from netsharp_lsp.diagnostics.model import Diagnostic
from netsharp_lsp.diagnostics.page_blocks import Block
from netsharp_lsp.text.edits import apply_edits
from netsharp_lsp.workspace import NO_PREMISES, Premises, Run
from tests.cntk.texts import Memory

SUFFIXES = {"cntk": ".cntk", "brainscript": ".bs", "ndl": ".ndl", "mel": ".mel"}
SEVERE = ("error", "warning")


class Example:
    """The blocks of one section: files in memory, and what is run of them.

    The first configuration is run; without one the first block is a file of its own.
    """

    def __init__(self, blocks: tuple[Block, ...]) -> None:
        self.blocks = blocks
        self.files = {self.name_of(block): block.data for block in blocks}

    @staticmethod
    def name_of(block: Block) -> str:
        """What a file is called: its title, where it has one."""
        return block.title or f"example{SUFFIXES[block.language]}"

    @property
    def marked(self) -> Block:
        """The block that a finding is in."""
        return next(block for block in self.blocks if block.span is not None)

    def experiment(self, changed: dict[str, bytes] | None = None) -> Experiment:
        """The run of the example, with some of its files as they are now."""
        files = Memory({**self.files, **(changed or {})})
        first = next((block for block in self.blocks if block.language == "cntk"), None)
        if first is None:
            alone = self.blocks[0]
            return SingleFile(self.name_of(alone), alone.language, files, given=self.given)
        items = first.runs or (f"configFile={self.name_of(first)}",)
        run = Run(items, declared=bool(first.runs))
        return Experiment(run, files, given=self.given)

    @property
    def given(self) -> Premises:
        """What a block of settings says of all runs."""
        settings = [block for block in self.blocks if block.language == "toml"]
        tables = [tomllib.loads(block.text.decode()).get("cntk", {}) for block in settings]
        return read_declared(tables[0]).given if tables else NO_PREMISES

    def found(self, changed: dict[str, bytes] | None = None) -> dict[str, list[Diagnostic]]:
        """The diagnostics of every file."""
        return diagnostics_by_file(self.experiment(changed))

    def repaired(self, code: str) -> bytes:
        """The marked file after the repair of a code."""
        name = self.name_of(self.marked)
        own = [one for one in self.found()[name] if one.code == code]
        edits = [edit for one in own if one.fix is not None for edit in one.fix.edits]
        return apply_edits(self.marked.text, edits)


def shown(found: dict[str, list[Diagnostic]]) -> list[str]:
    """Diagnostics as an assertion prints them."""
    return [
        f"{file}:{one.start}-{one.end} {one.code} {one.severity}: {one.message}"
        for file, diagnostics in found.items()
        for one in diagnostics
    ]
