"""A client that announces nothing gets the plainest form of every answer, and no request."""

from __future__ import annotations

import pytest
from lsprotocol import types as lsp
from pytest_lsp import LanguageClient

from netsharp_lsp.language import language_ids
from tests.server.texts import NETWORK, applied, at, everything, opened, published, span
from tests.server.wire import serving

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def test_hover_is_plain_text(simple_editor: LanguageClient) -> None:
    document = opened(simple_editor)
    found = await simple_editor.text_document_hover_async(lsp.HoverParams(document, at("Edges")))
    assert found.contents.kind == lsp.MarkupKind.PlainText


async def test_proposals_are_no_snippets(simple_editor: LanguageClient) -> None:
    document = opened(simple_editor, NETWORK + "\n")
    end = lsp.Position(NETWORK.count("\n"), 0)
    found = await simple_editor.text_document_completion_async(lsp.CompletionParams(document, end))
    assert found.items
    for item in found.items:
        assert item.insert_text_format in (None, lsp.InsertTextFormat.PlainText)
        assert "${" not in item.text_edit.new_text
        assert "$0" not in item.text_edit.new_text


async def test_parameters_are_words_of_the_label(simple_editor: LanguageClient) -> None:
    document = opened(simple_editor)
    found = await simple_editor.text_document_signature_help_async(
        lsp.SignatureHelpParams(document, at("[5, 5]"))
    )
    (signature,) = found.signatures
    assert all(parameter.label in signature.label for parameter in signature.parameters)


async def test_a_definition_is_a_location(simple_editor: LanguageClient) -> None:
    document = opened(simple_editor)
    found = await simple_editor.text_document_definition_async(
        lsp.DefinitionParams(document, at("Edges", 8))
    )
    assert found == lsp.Location(document.uri, span("Edges"))


async def test_the_outline_is_a_list(simple_editor: LanguageClient) -> None:
    document = opened(simple_editor)
    found = await simple_editor.text_document_document_symbol_async(
        lsp.DocumentSymbolParams(document)
    )
    assert {each.name for each in found} >= {"Unused", "Image", "Edges", "Middle", "Digit"}
    assert all(isinstance(each, lsp.SymbolInformation) for each in found)
    assert any(each.container_name == "Edges" for each in found)


async def test_a_rename_changes_without_a_version(simple_editor: LanguageClient) -> None:
    document = opened(simple_editor)
    done = await simple_editor.text_document_rename_async(
        lsp.RenameParams(document, at("Edges"), "Strokes")
    )
    assert done.document_changes is None
    edits = list(done.changes[document.uri])
    assert applied(NETWORK, edits) == NETWORK.replace("Edges", "Strokes")


async def test_actions_are_commands(simple_editor: LanguageClient) -> None:
    document = opened(simple_editor)
    found = await simple_editor.text_document_code_action_async(
        lsp.CodeActionParams(document, everything(), lsp.CodeActionContext([]))
    )
    assert found
    assert all(isinstance(each, lsp.Command) for each in found)
    assert "netsharp.server.explain" in {each.command for each in found}


async def test_diagnostics_hold_nothing_that_was_not_asked_for(
    simple_editor: LanguageClient,
) -> None:
    document = opened(simple_editor)
    (found,) = (await published(simple_editor, document)).diagnostics
    assert (found.tags, found.related_information, found.data) == (None, None, None)
    assert found.code_description is None


async def test_nothing_is_asked_of_it() -> None:
    with serving({}) as wire:
        wire.open("file:///nowhere/a.nn", NETWORK)
        wire.published("file:///nowhere/a.nn")
        assert wire.request("workspace/symbol", {"query": "x"}) == []
        asked = [heard for heard in wire.heard if "id" in heard and "method" in heard]
        assert asked == []
        offered = wire.heard[0]["result"]["capabilities"]
        assert offered["positionEncoding"] == "utf-16"
        assert offered["renameProvider"] is True
        assert "diagnosticProvider" not in offered
        assert "notebookDocumentSync" not in offered


async def test_what_a_host_has_tools_for_is_registered_for_our_languages_alone() -> None:
    own = ("formatting", "rangeFormatting", "onTypeFormatting", "semanticTokens")
    able = {name: {"dynamicRegistration": True} for name in own}
    with serving({"textDocument": able}) as wire:
        offered = wire.heard[0]["result"]["capabilities"]
        assert not {f"document{name[0].upper()}{name[1:]}Provider" for name in own} & set(offered)
        assert "semanticTokensProvider" not in offered
        asked = wire.wait(lambda heard: heard.get("method") == "client/registerCapability")
        registered = {
            each["method"]: each["registerOptions"] for each in asked["params"]["registrations"]
        }
        assert set(registered) == {f"textDocument/{name}" for name in own}
        for options in registered.values():
            assert options["documentSelector"] == [{"language": one} for one in language_ids()]
        assert registered["textDocument/semanticTokens"]["full"] == {"delta": True}


async def test_no_proposal_is_compared_with_a_blank(simple_editor: LanguageClient) -> None:
    """An editor that keeps a list would show it at the next word, too."""
    document = opened(simple_editor, NETWORK + "\n")
    end = lsp.Position(NETWORK.count("\n"), 0)
    found = await simple_editor.text_document_completion_async(lsp.CompletionParams(document, end))
    assert any(" " in item.label for item in found.items)
    assert not [item for item in found.items if " " in (item.filter_text or item.label)]
