"""A client that announces nothing gets no answer that uses what it did not announce."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest

from netsharp_lsp.server.client.plain_text import plain_text
from tests.costs import assert_measured, spent
from tests.server.texts import NETWORK
from tests.server.wire import Wire, serving

#: Marks of Markdown that plain text of ours never holds.
MARKS = re.compile(r"`{3}|`\w|\*\*\w|\]\(|^#+ |^\|", re.MULTILINE)
CNTK = """\
command = "Train"
Train = {
    action = "train"
    BrainScriptNetworkBuilder = {
        features = Input {4}
        z = DenseLayer {2} (features)
        labels = Input {2}
        ce = CrossEntropyWithSoftmax (labels, z)
        featureNodes = (features) ; labelNodes = (labels)
        criterionNodes = (ce) ; outputNodes = (z)
    }
    SGD = { maxEpochs = 2 ; minibatchSize = 32 }
    reader = { readerType = "CNTKTextFormatReader" ; file = "t.txt" }
}
"""
RICH = NETWORK.replace("[10] softmax", "[min(10, 11)] softmax")
TEXTS = {"netsharp": ("a.nn", RICH + "hidden \n"), "cntk": ("a.cntk", CNTK)}
#: Kinds of the protocol's first version: all that a client knows which names none.
FIRST_KINDS = 18
#: Fields that only clients have a use for which announce it.
NEVER = {"documentChanges", "insertTextFormat", "insertTextMode", "relatedInformation", "tags"}
NEVER |= {"codeDescription", "isPreferred", "targetUri", "labelDetails", "annotationId"}


def everything(wire: Wire, uri: str, text: str) -> Iterator[tuple[str, Any]]:
    """Every answer about a text that an editor may ask for, with its method."""
    lines = text.split("\n")
    whole = {"start": {"line": 0, "character": 0}, "end": {"line": len(lines), "character": 0}}
    identity = {"textDocument": {"uri": uri}}
    for method in ("documentSymbol", "foldingRange", "documentLink", "codeLens"):
        yield method, wire.request(f"textDocument/{method}", identity)
    yield "inlayHint", wire.request("textDocument/inlayHint", {**identity, "range": whole})
    context = {"diagnostics": wire.heard[-1].get("params", {}).get("diagnostics", [])}
    asked = {**identity, "range": whole, "context": context}
    yield "codeAction", wire.request("textDocument/codeAction", asked)
    for row, line in enumerate(lines):
        for column in sorted(
            {0, *(place.start() + 1 for place in re.finditer(r"[\w{(=,]+", line))}
        ):
            at = {**identity, "position": {"line": row, "character": column}}
            for method in (
                "hover",
                "signatureHelp",
                "definition",
                "declaration",
                "implementation",
                "documentHighlight",
            ):
                yield method, wire.request(f"textDocument/{method}", at)
            proposals = wire.request("textDocument/completion", at)
            yield "completion", proposals
            for item in (proposals or {"items": []})["items"][:40:3]:
                yield "completionItem", wire.request("completionItem/resolve", item)
            found = wire.request("textDocument/prepareCallHierarchy", at)
            yield "prepareCallHierarchy", found
            for item in found or []:
                calls = wire.request("callHierarchy/incomingCalls", {"item": item})
                yield "incomingCalls", calls
    yield "symbol", wire.request("workspace/symbol", {"query": ""})


def values(answer: Any) -> Iterator[dict[str, Any]]:
    """Every object inside an answer."""
    if isinstance(answer, dict):
        yield answer
        for inner in answer.values():
            yield from values(inner)
    elif isinstance(answer, list):
        for inner in answer:
            yield from values(inner)


@pytest.mark.costly
@pytest.mark.parametrize("language", TEXTS)
def test_no_answer_uses_what_was_not_announced(language: str) -> None:
    name, text = TEXTS[language]
    uri = f"file:///nowhere/{name}"
    seen: set[str] = set()
    with serving({}) as wire:
        wire.open(uri, text, language)
        wire.published(uri)
        for method, answer in everything(wire, uri, text):
            for each in values(answer):
                assert each.get("kind") != "markdown", (method, each)
                if each.get("kind") == "plaintext":
                    seen.add(method)
                    assert not MARKS.search(each["value"]), (method, each["value"])
                if isinstance(each.get("kind"), int):
                    assert each["kind"] <= FIRST_KINDS, (method, each)
                assert not NEVER & set(each), (method, each)
        asked = [heard for heard in wire.heard if "id" in heard and "method" in heard]
        assert asked == []
    assert seen >= {"hover", "completionItem", "signatureHelp"}


def test_tooltips_are_plain_too() -> None:
    with serving({}) as wire:
        wire.open("file:///nowhere/a.nn", NETWORK)
        span = {"start": {"line": 0, "character": 0}, "end": {"line": 99, "character": 0}}
        asked = {"textDocument": {"uri": "file:///nowhere/a.nn"}, "range": span}
        found = [
            each for each in wire.request("textDocument/inlayHint", asked) if "tooltip" in each
        ]
        assert found
        assert {each["tooltip"]["kind"] for each in found} == {"plaintext"}


def test_newer_kinds_go_to_those_who_name_kinds() -> None:
    able = {"symbolKind": {"valueSet": list(range(1, 19))}}
    for capabilities, kinds in (({}, {14, 11, 5}), ({"documentSymbol": able}, {14, 11, 5, 23})):
        with serving({"textDocument": capabilities}) as wire:
            wire.open("file:///nowhere/a.nn", NETWORK)
            asked = {"textDocument": {"uri": "file:///nowhere/a.nn"}}
            found = wire.request("textDocument/documentSymbol", asked)
            named = ("Unused", "Image", "Edges", "Middle", "Digit")
            assert {each["kind"] for each in found if each["name"] in named} == kinds


@pytest.mark.parametrize(
    ("markdown", "plain"),
    [
        ("```netsharp\nhidden A [3] /* **b** */\n```\n- **Nodes** `3`", None),
        ("**a** is *b* and ***c***", "a is b and c"),
        ("a * b * c, x ** 2, `*d*`", "a * b * c, x ** 2, *d*"),
        ("[page](https://x.org/a) and [here](command:x)", "page (https://x.org/a) and here"),
        ("# Head\n\ntext  \nmore", "Head\n\ntext\nmore"),
        (r"a\*b &lt;c&gt; <https://x.org>", "a*b <c> https://x.org"),
        ("| a | bcd |\n| --: | --- |\n| `10` | x |", " a  bcd\n10    x"),
        ("``a`b``", "a`b"),
        ("", ""),
    ],
)
def test_marks_are_left_out(markdown: str, plain: str | None) -> None:
    wanted = "hidden A [3] /* **b** */\n- Nodes 3" if plain is None else plain
    assert plain_text(markdown) == wanted


def test_plain_text_takes_time_in_proportion() -> None:
    """No pattern searches all the rest of a line from every mark in it."""
    for piece in ("*", "**a ", "`", "``a", "[", "[a](", "&", "<https://", "\\", "|", "a* *b"):
        texts = [piece * count for count in (2_000, 4_000, 8_000, 16_000)]
        assert_measured(
            lambda texts=texts: [spent(plain_text, text) for text in texts],  # type: ignore[misc]
            lambda times: times[-1] < min(1.0, max(0.05, 3 * times[-2])),
        )
