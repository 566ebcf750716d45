"""Whole pieces of CNTK's texts that are proposed: where each fits, and that it is sound there."""

from __future__ import annotations

import pytest

from netsharp_lsp.context import Context
from netsharp_lsp.ide.answers import Completion
from netsharp_lsp.language import language_by_id
from netsharp_lsp.workspace import Run, Workspace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from netsharp_lsp.workspace import Count, Counted

BLOCK = 'command = Train\nTrain = {\n  action = "train"\n  BrainScriptNetworkBuilder = {\n'
AFTER = "  }\n  SGD = { maxEpochs = 1 }\n}\n"
LAYERS = "    model = Sequential (\n      LinearLayer {3} :\n      |\n    )\n"
#: A text with a cursor, and the templates that fit there, in their order.
PLACES = {
    "an empty configuration": ("|", ["configuration", "command that tests"]),
    "a word begun in one": ("con|", ["configuration", "command that tests"]),
    "below a command": ("command = A\n|", ["command that tests"]),
    "in a block": ("command = A\nA = {\n  |\n}\n", []),
    "in a value": ("command = |", []),
    "an empty network": (f"{BLOCK}    |\n{AFTER}", ["network, one hidden layer", "function"]),
    "a network": (f"{BLOCK}    a = 1\n    |\n{AFTER}", ["function"]),
    "a value of it": (f"{BLOCK}    a = |\n{AFTER}", []),
    "the parts of a Sequential": (BLOCK + LAYERS + AFTER, ["convolution and pooling"]),
}


class OneFile:
    """A folder with one file in it."""

    def __init__(self, data: bytes) -> None:
        self.data = data

    def read(self, path: str) -> bytes | None:
        return self.data if path == "a.cntk" else None

    def counted(self, path: str, count: Count[Counted]) -> Counted | None:
        data = self.read(path)
        return None if data is None else count((data,))

    def exists(self, path: str) -> bool:
        return path == "a.cntk"

    def kind(self, path: str) -> str | None:
        return "file" if self.exists(path) else None

    def locate(self, path: str) -> str:
        return path

    def outside(self, path: str) -> bool:
        return False

    def names_in(self, folder: str) -> list[str]:
        return ["a.cntk"]


def proposed(marked: str) -> tuple[str, list[Completion]]:
    """The text with the cursor taken out, and the templates proposed there."""
    text = marked.replace("|", "", 1)
    workspace = Workspace("a.cntk", OneFile(text.encode()), (Run(("configFile=a.cntk",)),))
    snapshot = language_by_id("cntk").open(text.encode(), Context(workspace=workspace))
    found = snapshot.complete(marked.index("|")).items
    return text, [one for one in found if one.kind == "snippet"]


@pytest.mark.parametrize("place", PLACES)
def test_templates_stand_where_they_fit(place: str) -> None:
    marked, wanted = PLACES[place]
    assert [one.label for one in proposed(marked)[1]] == wanted


@pytest.mark.parametrize("place", [name for name, (_, wanted) in PLACES.items() if wanted])
def test_what_is_inserted_is_sound(place: str) -> None:
    text, templates = proposed(PLACES[place][0])
    for one in templates:
        assert "$" not in one.plain
        whole = text[: one.start] + one.plain + text[one.end :]
        before = codes(text)
        assert codes(whole) <= before, one.label


def codes(text: str) -> set[str]:
    """The codes of the errors in a configuration."""
    found = language_by_id("cntk").check(text.encode(), Context()).diagnostics
    return {one.code for one in found if one.severity == "error"}
