"""Texts are answered for as they stand: nothing is put in to be read, and backticks stay."""

from __future__ import annotations

import ast
import sys
from typing import TYPE_CHECKING, Any

import pytest

from netsharp_lsp.context import Context
from netsharp_lsp.language import language_by_id, language_ids
from tests.house.test_dependencies import MODULES
from tests.house.trees import nodes

if TYPE_CHECKING:
    from types import FrameType

#: A text of each language, sound and torn.
TEXTS = {
    "netsharp": (
        b"input A [12, 12];\nhidden C [4, 10, 10] from A convolve {\n"
        b"  InputShape = [12, 12]; KernelShape = [3, 3]; MapCount = 4; }\n"
        b"output R [2] softmax from C all;\n",
        b"input A [3, ;\nhidden B [4] from A where (s, d) => s[\noutput R from B {",
    ),
    "cntk": (
        b"command = T\nT = {\n  action = train ; modelPath = m\n  SGD = { maxEpochs = 3 }\n"
        b"  reader = { file = f ; input = { x = { dim = 2 ; format = dense } } }\n}\n",
        b"command = T:\nT = [\n  action = \n  SGD = { max",
    ),
    "brainscript": (
        b"x = Input {3}\nf (v, k=1) = Sigmoid (v * k)\ny = f (x, k=2)\noutputNodes = (y)\n",
        b"x = Input {\ny = DenseLayer {4, activation=(x => \nz = [x.",
    ),
    "ndl": (
        b"A(x) { y = RowRepeat(x, 2) }\ni = Input(2)\na = A(i)\nOutputNodes = (a)\n",
        b"A(x) {\ni = Input(2\nb = Times(i, init=",
    ),
    "mel": (b"m = LoadModel(a)\nSetProperty(m.*, learningRate, 0)\n", b"m = LoadModel(\nCopy(m., "),
}
#: Where a parser is given bytes.
PARSERS = frozenset(
    MODULES[name].as_posix() for name in MODULES if name.endswith("reading.grammar")
)


def test_every_language_has_texts_and_every_parser_is_known() -> None:
    assert set(TEXTS) == set(language_ids())
    assert len(PARSERS) == 3


@pytest.mark.parametrize("language", TEXTS)
def test_a_completion_reads_nothing_but_the_text(language: str) -> None:
    """Each question on a snapshot of its own, so that nothing was read before."""
    read: list[bytes] = []

    def look(frame: FrameType, event: str, _argument: Any) -> None:
        if event == "call" and frame.f_code.co_filename.replace("\\", "/") in PARSERS:
            read.extend(value for value in frame.f_locals.values() if isinstance(value, bytes))

    # The first question reads our library, too, which CNTK's languages share.
    for one, texts in TEXTS.items():
        language_by_id(one).open(texts[0], Context()).complete(len(texts[0]))
    known, seen = language_by_id(language), 0
    for text in TEXTS[language]:
        for offset in range(len(text) + 1):
            read.clear()
            sys.setprofile(look)
            try:
                known.open(text, Context()).complete(offset)
            finally:
                sys.setprofile(None)
            assert [one for one in read if one not in text] == [], offset
            seen += len(read)
    assert seen


def test_no_feature_puts_tokens_among_those_of_a_text() -> None:
    for module, path in MODULES.items():
        if ".ide" in module:
            for node in nodes(path):
                if isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "insert":
                    receiver = ast.unparse(node.func).removesuffix(".insert")
                    assert not receiver.endswith(("tokens", "data", "text")), (module, node.lineno)


def strings(tree: ast.AST) -> list[str]:
    return [node.value for node in ast.walk(tree) if isinstance(getattr(node, "value", None), str)]


def swaps(call: ast.Call) -> bool:
    """Whether a call puts quotes where backticks were."""
    name = getattr(call.func, "attr", getattr(call.func, "id", ""))
    if name not in ("sub", "subn", "replace", "translate", "maketrans"):
        return False
    words = [word for argument in call.args for word in strings(argument)]
    return any("`" in word for word in words[:1]) and any("'" in word for word in words[1:])


def marks(tree: ast.Module) -> set[str]:
    """The names of patterns that search for text between backticks."""
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call):
            function = getattr(node.value.func, "attr", "")
            if function == "compile" and any(word.count("`") > 1 for word in strings(node.value)):
                found |= {one.id for one in node.targets if isinstance(one, ast.Name)}
    return found


def quoted(source: str) -> list[int]:
    """The lines where backticks become quotes."""
    tree = ast.parse(source)
    patterns = marks(tree)
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    found = [call.lineno for call in calls if swaps(call)]
    for call in calls:
        receiver = getattr(getattr(call.func, "value", None), "id", "")
        if receiver in patterns and getattr(call.func, "attr", "") in ("sub", "subn"):
            found += [call.lineno for word in strings(call) if set(word) & set("'\"")]
    return found


def test_no_module_makes_quotes_of_backticks() -> None:
    sources = {name: path.read_text(encoding="utf-8") for name, path in MODULES.items()}
    lines = {name: quoted(source) for name, source in sources.items() if "`" in source}
    assert {name: found for name, found in lines.items() if found} == {}


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("import re\nM = re.compile(r'`([^`]*)`')\nM.sub(r\"'\\1'\", text)", [3]),
        ("import re\nre.sub('`(.*?)`', \"'\\\\1'\", text)", [2]),
        ("text.replace('`', \"'\")", [1]),
        ("text.replace('`', '')", []),
        ("import re\nM = re.compile(r'`([^`]*)`')\nM.sub(read, text)", []),
    ],
)
def test_the_search_finds_what_it_should(source: str, found: list[int]) -> None:
    assert quoted(source) == found


#: Texts with backticks, and what a message shows of them.
STRANGE = {
    "netsharp": (b"input A [3];\noutput `R` [1] from A all;\n", "'`'"),
    "cntk": (b"command = `T`\n", "'`T`'"),
    "brainscript": (b"x = `y`\noutputNodes = (x)\n", "'`'"),
    "ndl": (b"x = `y`(3)\n", "'`y`'"),
    "mel": (b"`y`(3)\n", "'`y`'"),
}


@pytest.mark.parametrize("language", STRANGE)
def test_a_message_keeps_the_backticks_of_a_text(language: str) -> None:
    text, shown = STRANGE[language]
    result = language_by_id(language).check(text, Context())
    assert result.diagnostics
    assert all(shown in one.message for one in result.diagnostics)
