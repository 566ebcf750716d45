"""Names of keys in a configuration: which of them are a person's own, and which the program's."""

from __future__ import annotations

from netsharp_lsp.context import Context
from netsharp_lsp.ide.answers import Changes, Refusal, Renaming
from netsharp_lsp.language import language_by_id
from netsharp_lsp.workspace import Run, Workspace
from tests.cntk.texts import Memory

TEXT = """command = Train:Out
run = NDLNetworkBuilder
modelPath = "small.dnn"
folder = data
NDLNetworkBuilder = [ x = Input(3) ; y = Tanh(x) ]
Train = [ action = train ]
Out = [ action = write ; modelPath = "$modelPath$.1" ; outputPath = $folder$/out ]
"""


def asked(word: str, name: str) -> tuple[Renaming | Refusal, Changes | Refusal]:
    """The answer to a request to rename the first occurrence of a word."""
    data = TEXT.encode()
    workspace = Workspace("a.cntk", Memory({"a.cntk": data}), (Run(("configFile=a.cntk",)),))
    snapshot = language_by_id("cntk").open(data, Context(workspace=workspace))
    at = TEXT.index(word)
    return snapshot.prepare_rename(at), snapshot.rename(at, name)


def test_what_the_program_looks_for_keeps_its_name() -> None:
    for word in ("modelPath", "NDLNetworkBuilder", "command"):
        for answer in asked(word, "other"):
            assert isinstance(answer, Refusal)
            assert f"'{word}' is an option of CNTK's" in answer.message


def test_keys_of_ones_own_change_with_all_their_uses() -> None:
    for word, count in (("folder", 2), ("Train", 2), ("x = ", 2)):
        found, changes = asked(word, "other")
        assert isinstance(found, Renaming)
        assert isinstance(changes, Changes)
        assert len(changes.edits) == count
