"""CNTK's languages through the real server: texts that belong together, on disk and open."""

from __future__ import annotations

from pathlib import Path

import pytest
from lsprotocol import types as lsp
from pytest_lsp import LanguageClient

from tests.server.texts import published

pytestmark = pytest.mark.asyncio(loop_scope="module")

CONFIGURATION = """\
command = Train:Write
Dim = 3
Train = {
  action = "train"
  modelPath = "m.dnn"
  BrainScriptNetworkBuilder = {
    include "layers.bs"
    features = Input {$Dim$}
    labels = Input {2, tag = "label"}
    z = Layer (features, 2)
    ce = CrossEntropyWithSoftmax (labels, z)
    criterionNodes = (ce)
    outputNodes = (z)
  }
  SGD = { maxEpochs = 1 ; minibatchSize = 2 ; learningRatesPerSample = 0.1 }
  reader = {
    readerType = "CNTKTextFormatReader" ; file = "train.txt"
    input = {
      features = { dim = $Dim$ ; format = "dense" }
      labels = { dim = 2 ; format = "dense" }
    }
  }
}
Write = {
  action = "write" ; modelPath = "m.dnn" ; outputNodeNames = z ; outputPath = "out"
  reader = $Train.reader$
}
"""
LAYERS = "Layer (x, n) = {\n    W = ParameterTensor {(n:x.dim)}\n    y = W * x\n}.y\n"


def position(text: str, words: str, after: int = 0) -> lsp.Position:
    before = text[: text.index(words) + after]
    return lsp.Position(before.count("\n"), len(before.rpartition("\n")[2]))


def written(folder: Path) -> tuple[Path, Path]:
    """An experiment on disk: a configuration and a file that its network includes."""
    configuration, layers = folder / "a.cntk", folder / "layers.bs"
    configuration.write_text(CONFIGURATION, encoding="utf-8", newline="")
    layers.write_text(LAYERS, encoding="utf-8", newline="")
    (folder / "train.txt").write_text("|features 1 2 3 |labels 0 1\n", encoding="utf-8")
    return configuration, layers


def opened(client: LanguageClient, path: Path, language: str) -> lsp.TextDocumentIdentifier:
    text = path.read_text(encoding="utf-8")
    item = lsp.TextDocumentItem(path.as_uri(), language, 1, text)
    client.text_document_did_open(lsp.DidOpenTextDocumentParams(item))
    return lsp.TextDocumentIdentifier(path.as_uri())


def errors(heard: lsp.PublishDiagnosticsParams) -> list[object]:
    return [one.code for one in heard.diagnostics if one.severity == lsp.DiagnosticSeverity.Error]


async def test_a_network_in_a_configuration_is_one_text_with_what_it_includes(
    editor: LanguageClient, tmp_path: Path
) -> None:
    configuration, layers = written(tmp_path)
    document = opened(editor, configuration, "cntk")
    assert errors(await published(editor, document)) == []
    place = position(CONFIGURATION, "z = Layer")
    hover = await editor.text_document_hover_async(lsp.HoverParams(document, place))
    assert hover is not None
    assert "`Times` `[2]`" in str(hover.contents)
    place = position(CONFIGURATION, "Layer (features", 2)
    links = await editor.text_document_definition_async(lsp.DefinitionParams(document, place))
    assert isinstance(links, list)
    (link,) = links
    assert getattr(link, "target_uri", getattr(link, "uri", None)) == layers.as_uri()
    hints = await editor.text_document_inlay_hint_async(
        lsp.InlayHintParams(
            document, lsp.Range(lsp.Position(0, 0), position(CONFIGURATION, "Write = {"))
        )
    )
    assert [hint.label for hint in hints or []] == ["[3]"]


async def test_a_name_changes_in_every_file(editor: LanguageClient, tmp_path: Path) -> None:
    configuration, layers = written(tmp_path)
    document = opened(editor, layers, "brainscript")
    await published(editor, document)
    found = await editor.text_document_rename_async(
        lsp.RenameParams(document, lsp.Position(0, 1), "Affine")
    )
    assert found is not None
    assert found.document_changes is not None
    changed = {
        change.text_document.uri: [edit.range.start.line for edit in change.edits]
        for change in found.document_changes
        if isinstance(change, lsp.TextDocumentEdit)
    }
    assert changed == {layers.as_uri(): [0], configuration.as_uri(): [9]}


async def test_an_edit_of_one_file_is_judged_in_the_other(
    editor: LanguageClient, tmp_path: Path
) -> None:
    configuration, layers = written(tmp_path)
    main = opened(editor, configuration, "cntk")
    assert errors(await published(editor, main)) == []
    included = opened(editor, layers, "brainscript")
    assert errors(await published(editor, included)) == []
    change = lsp.TextDocumentContentChangeWholeDocument(LAYERS.replace("Layer", "Dense"))
    editor.text_document_did_change(
        lsp.DidChangeTextDocumentParams(
            lsp.VersionedTextDocumentIdentifier(2, included.uri), [change]
        )
    )
    heard = await published(editor, main)
    while not heard.diagnostics or not errors(heard):
        heard = await published(editor, main)
    assert any("Layer" in one.message for one in heard.diagnostics)


async def test_a_file_of_another_owner_is_left_alone(
    editor: LanguageClient, tmp_path: Path
) -> None:
    path = tmp_path / "app.config"
    path.write_text("<configuration></configuration>\n", encoding="utf-8")
    document = opened(editor, path, "xml")
    assert not (await published(editor, document)).diagnostics
    symbols = await editor.text_document_document_symbol_async(lsp.DocumentSymbolParams(document))
    assert not symbols
