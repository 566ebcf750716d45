"""CNTK's languages through the real server: texts that belong together, on disk and open."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from lsprotocol import types as lsp
from pytest_lsp import LanguageClient

from tests.server.places import asked, execute, shown
from tests.server.places import opened as opened_by_wire
from tests.server.wire import Message, Wire, serving

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


def errors(found: Sequence[lsp.Diagnostic]) -> list[object]:
    return [one.code for one in found if one.severity == lsp.DiagnosticSeverity.Error]


async def reported(
    client: LanguageClient,
    document: lsp.TextDocumentIdentifier,
    holds: Callable[[Sequence[lsp.Diagnostic]], bool] = lambda found: True,
) -> Sequence[lsp.Diagnostic]:
    """What was said last of a document, once that holds; nothing that is said is missed."""
    for _ in range(600):
        found = client.diagnostics.get(document.uri)
        if found is not None and holds(found):
            return found
        await asyncio.sleep(0.05)
    raise AssertionError(f"{document.uri}: {client.diagnostics.get(document.uri)}")


async def test_a_network_in_a_configuration_is_one_text_with_what_it_includes(
    editor: LanguageClient, tmp_path: Path
) -> None:
    configuration, layers = written(tmp_path)
    document = opened(editor, configuration, "cntk")
    assert errors(await reported(editor, document)) == []
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
    await reported(editor, document)
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


async def test_files_that_may_be_included_are_proposed(
    editor: LanguageClient, tmp_path: Path
) -> None:
    configuration, _ = written(tmp_path)
    (tmp_path / "recurrent.bs").write_text("Two = 2\n", encoding="utf-8")
    document = opened(editor, configuration, "cntk")
    await reported(editor, document)
    place = position(CONFIGURATION, 'include "layers', len('include "la'))
    found = await editor.text_document_completion_async(lsp.CompletionParams(document, place))
    items = found.items if isinstance(found, lsp.CompletionList) else found or []
    assert {item.label for item in items} == {"layers.bs", "recurrent.bs"}


async def test_a_name_leads_to_the_file_that_is_named_and_into_the_library(
    editor: LanguageClient, tmp_path: Path
) -> None:
    configuration, layers = written(tmp_path)
    document = opened(editor, configuration, "cntk")
    await reported(editor, document)

    async def target(words: str, after: int) -> str:
        place = position(CONFIGURATION, words, after)
        links = await editor.text_document_definition_async(lsp.DefinitionParams(document, place))
        assert isinstance(links, list)
        (link,) = links
        return str(getattr(link, "target_uri", getattr(link, "uri", None)))

    assert await target('include "layers', len('include "la')) == layers.as_uri()
    assert (await target("CrossEntropyWithSoftmax", 3)).endswith("/library/nodes.bs")
    assert await target("outputNodeNames = z", len("outputNodeNames = ")) == document.uri


async def test_a_function_is_found_where_other_files_use_it(
    editor: LanguageClient, tmp_path: Path
) -> None:
    configuration, layers = written(tmp_path)
    document = opened(editor, layers, "brainscript")
    await reported(editor, document)
    found = await editor.text_document_references_async(
        lsp.ReferenceParams(lsp.ReferenceContext(True), document, lsp.Position(0, 1))
    )
    assert {(one.uri, one.range.start.line) for one in found or []} == {
        (layers.as_uri(), 0),
        (configuration.as_uri(), 9),
    }


@pytest.mark.parametrize("links", [True, False])
async def test_a_stream_leads_to_its_input_and_a_call_to_its_result(
    tmp_path: Path, links: bool
) -> None:
    configuration, layers = written(tmp_path)
    able = {"textDocument": {"implementation": {"linkSupport": True}}} if links else {}
    with serving(able, rootUri=tmp_path.as_uri()) as wire:
        uri = opened_by_wire(wire, configuration, "cntk")

        def following(words: str, after: int = 0) -> list[tuple[str, int, int]] | None:
            place = position(CONFIGURATION, words, after)
            at = {"line": place.line, "character": place.character}
            found = wire.request(
                "textDocument/implementation", {"textDocument": {"uri": uri}, "position": at}
            )
            target, span = ("targetUri", "targetSelectionRange") if links else ("uri", "range")
            return found and [(one[target], *one[span]["start"].values()) for one in found]

        assert following("features = Input") == [(uri, 18, 6)]
        assert following("labels = { dim") == [(uri, 8, 4)]
        assert following("Layer (features") == [(layers.as_uri(), 2, 4)]
        assert following("learningRatesPerSample") is None


async def test_an_edit_of_one_file_is_checked_in_the_other(
    editor: LanguageClient, tmp_path: Path
) -> None:
    configuration, layers = written(tmp_path)
    main = opened(editor, configuration, "cntk")
    assert errors(await reported(editor, main)) == []
    included = opened(editor, layers, "brainscript")
    assert errors(await reported(editor, included)) == []
    change = lsp.TextDocumentContentChangeWholeDocument(LAYERS.replace("Layer", "Dense"))
    editor.text_document_did_change(
        lsp.DidChangeTextDocumentParams(
            lsp.VersionedTextDocumentIdentifier(2, included.uri), [change]
        )
    )
    heard = await reported(editor, main, lambda found: bool(errors(found)))
    assert any("Layer" in one.message for one in heard)


async def test_a_file_of_another_owner_is_left_unchanged(
    editor: LanguageClient, tmp_path: Path
) -> None:
    path = tmp_path / "app.config"
    path.write_text("<configuration></configuration>\n", encoding="utf-8")
    document = opened(editor, path, "xml")
    assert not await reported(editor, document)
    symbols = await editor.text_document_document_symbol_async(lsp.DocumentSymbolParams(document))
    assert not symbols


OLD = """\
command = Train
Train = [
  action = train
  modelPath = "m.dnn"
  NDLNetworkBuilder = [ networkDescription = "network.ndl" ]
  SGD = [ maxEpochs = 1 ; minibatchSize = 2 ; learningRatesPerSample = 0.1 ]
]
"""
NETWORK = """\
features = Input(3, tag = feature)
labels = Input(2, tag = label)
W = Parameter(2, 3)
z = Times(W, features)
ce = CrossEntropyWithSoftmax(labels, z, tag = criterion)
OutputNodes = (z)
"""
CREATES = {
    "textDocument": {"codeAction": {"codeActionLiteralSupport": {"codeActionKind": {}}}},
    "workspace": {
        "applyEdit": True,
        "workspaceEdit": {"documentChanges": True, "resourceOperations": ["create"]},
    },
}


def outdated(folder: Path, network: str = NETWORK) -> Path:
    """An experiment of NDL on disk: its configuration."""
    (folder / "network.ndl").write_text(network, encoding="utf-8", newline="")
    configuration = folder / "old.cntk"
    configuration.write_text(OLD, encoding="utf-8", newline="")
    return configuration


@pytest.mark.parametrize("file", ["old.cntk", "network.ndl"])
async def test_a_proven_migration_is_one_change_of_the_workspace(tmp_path: Path, file: str) -> None:
    outdated(tmp_path)
    with serving(CREATES, rootUri=tmp_path.as_uri()) as wire:
        wire.answers = {"workspace/applyEdit": {"applied": True}}
        uri = opened_as(wire, tmp_path / file)
        assert execute(wire, "migrate", uri)["result"] is None
        (wanted,) = asked(wire, "workspace/applyEdit")
        changes = wanted["edit"]["documentChanges"]
        assert_one_step(changes)
        made = (tmp_path / "network.bs").as_uri()
        assert [one["uri"] for one in changes if one.get("kind") == "create"] == [made]
        texts = {one["textDocument"]["uri"]: one["edits"] for one in changes if "edits" in one}
        assert set(texts) == {made, (tmp_path / "old.cntk").as_uri()}
        assert "z = Times (W, features)" in texts[made][0]["newText"]
        assert any('include "network.bs"' in one["newText"] for one in texts[changed(tmp_path)])
        assert "proven equal" in shown(wire)[-1]


def assert_one_step(changes: list[Message]) -> None:
    """Files are made before any text is changed: an editor undoes a stretch of texts as one."""
    kinds = [one.get("kind", "text") for one in changes]
    assert kinds == sorted(kinds)
    assert "create" in kinds


@pytest.mark.costly
async def test_a_plan_of_a_migration_is_shown_before_it_is_made(tmp_path: Path) -> None:
    outdated(tmp_path)
    with serving(CREATES, rootUri=tmp_path.as_uri()) as wire:
        uri = opened_as(wire, tmp_path / "old.cntk")
        plan = execute(wire, "migrate", uri, {"plan": True})["result"]
        assert_one_step(plan["edit"]["documentChanges"])
        assert "proven equal" in plan["sentences"][0]
        assert asked(wire, "workspace/applyEdit") == []
        refused = execute(wire, "migrate", uri, "plan")
        assert "needs options as argument 2" in refused["error"]["message"]


def opened_as(wire: Wire, path: Path) -> str:
    return opened_by_wire(wire, path, path.suffix[1:])


def changed(folder: Path) -> str:
    return (folder / "old.cntk").as_uri()


async def test_what_cannot_be_proven_is_reported_and_nothing_changes(tmp_path: Path) -> None:
    path = outdated(tmp_path, NETWORK.replace("Times(W, features)", "Times(V, features)"))
    with serving(CREATES, rootUri=tmp_path.as_uri()) as wire:
        uri = opened_as(wire, path)
        assert execute(wire, "migrate", uri)["result"] is None
        assert asked(wire, "workspace/applyEdit") == []
        assert "Nothing is migrated." in shown(wire)[-1]
        assert "so it is not migrated. ND006: 'V' is not defined here." in shown(wire)[-1]


async def test_an_editor_that_makes_no_files_is_referred_to_the_command_line(
    tmp_path: Path,
) -> None:
    path = outdated(tmp_path)
    with serving(rootUri=tmp_path.as_uri()) as wire:
        uri = opened_as(wire, path)
        assert execute(wire, "migrate", uri)["result"] is None
        assert "`netsharp migrate --write`" in shown(wire)[-1]
        assert asked(wire, "workspace/applyEdit") == []


async def test_an_inline_network_is_migrated_in_any_editor(tmp_path: Path) -> None:
    inline = OLD.replace('networkDescription = "network.ndl"', f"net = [\n{NETWORK}]; run = net")
    path = tmp_path / "inline.cntk"
    path.write_text(inline, encoding="utf-8", newline="")
    with serving(rootUri=tmp_path.as_uri()) as wire:
        uri = opened_as(wire, path)
        edit = execute(wire, "migrate", uri)["result"]
        (edits,) = edit["changes"].values()
        assert any("BrainScriptNetworkBuilder" in one["newText"] for one in edits)


async def test_migration_is_offered_where_the_cursor_is(tmp_path: Path) -> None:
    outdated(tmp_path)
    with serving(CREATES, rootUri=tmp_path.as_uri()) as wire:
        titles = offered(wire, tmp_path / "network.ndl", 0)
        assert "Migrate this file and all that belongs to it to BrainScript" in titles
        assert any(title.startswith("Migrate by MG") for title in titles)


async def test_what_is_offered_says_that_it_is_proven(tmp_path: Path) -> None:
    outdated(tmp_path)
    abilities: Message = {
        **CREATES,
        "textDocument": {
            "codeAction": {**CREATES["textDocument"]["codeAction"], "dataSupport": True}
        },
    }
    with serving(abilities, rootUri=tmp_path.as_uri()) as wire:
        actions = actions_at(wire, tmp_path / "network.ndl", 0)
        whole = [one for one in actions if "all that belongs to it" in one["title"]]
        message = [one["data"]["sentences"] for one in whole]
        assert "proven equal" in message[0][0]
        assert_one_step(whole[0]["edit"]["documentChanges"])
        # A client may ask for the rest of any action: here nothing is missing.
        assert wire.request("codeAction/resolve", whole[0]) == whole[0]
        assert not any("data" in one for one in actions if one["title"].startswith("Migrate by MG"))


def offered(wire: Wire, path: Path, line: int) -> list[str]:
    """The titles of the migrations that are offered on a line."""
    return [one.get("title", "") for one in actions_at(wire, path, line)]


def actions_at(wire: Wire, path: Path, line: int) -> list[Message]:
    """The migrations that are offered on a line."""
    place = {"line": line, "character": 6}
    found: list[Message] = wire.request(
        "textDocument/codeAction",
        {
            "textDocument": {"uri": opened_as(wire, path)},
            "range": {"start": place, "end": place},
            "context": {"diagnostics": [], "only": ["refactor.rewrite.migrate"]},
        },
    )
    return found


@pytest.mark.costly
async def test_files_that_are_not_open_are_checked_by_the_text_of_those_that_are(
    tmp_path: Path,
) -> None:
    configuration, layers = written(tmp_path)
    pulls = {"textDocument": {"diagnostic": {}}, "workspace": {"diagnostics": {}}}

    def faults(wire: Wire) -> list[object]:
        reports = wire.request("workspace/diagnostic", {"previousResultIds": []})["items"]
        (own,) = [one for one in reports if one["uri"] == configuration.as_uri()]
        return [one["code"] for one in own["items"] if one["severity"] == 1]

    with serving(pulls, rootUri=tmp_path.as_uri()) as wire:
        uri = opened_by_wire(wire, layers, "brainscript")
        assert faults(wire) == []
        wire.send(wire.change(uri, 2, {"text": LAYERS.replace("Layer", "Dense")}))
        end = time.monotonic() + 20
        while not faults(wire):
            assert time.monotonic() < end, "the change of the included file is not seen"
        assert faults(wire) == ["BS020"]
        wire.send(wire.change(uri, 3, {"text": LAYERS}))
        while faults(wire):
            assert time.monotonic() < end, "the repair of the included file is not seen"
