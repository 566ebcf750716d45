"""Every request of the protocol that the server offers, asked by a client that can all."""

from __future__ import annotations

import itertools
from pathlib import Path
from urllib.parse import urlparse

import pytest
from lsprotocol import types as lsp
from pygls.exceptions import JsonRpcException
from pytest_lsp import LanguageClient

from tests.server.texts import LINES, NETWORK, applied, at, everything, opened, published, span

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def test_hover_is_markdown_about_the_words(editor: LanguageClient) -> None:
    document = opened(editor)
    found = await editor.text_document_hover_async(lsp.HoverParams(document, at("Edges")))
    assert found is not None
    assert isinstance(found.contents, lsp.MarkupContent)
    assert found.contents.kind == lsp.MarkupKind.Markdown
    assert "5 x 13 x 13 = 845" in found.contents.value
    assert found.range == span("Edges")


async def test_hints_stand_in_the_range_asked_for(editor: LanguageClient) -> None:
    document = opened(editor)
    params = lsp.InlayHintParams(document, everything())
    found = await editor.text_document_inlay_hint_async(params)
    assert found
    assert {hint.position.line for hint in found} <= {2, 8, 10}
    first = lsp.Range(lsp.Position(0, 0), lsp.Position(2, len(LINES[2])))
    part = await editor.text_document_inlay_hint_async(lsp.InlayHintParams(document, first))
    assert list(part) == [hint for hint in found if hint.position.line <= 2]


async def test_proposals_replace_the_word_and_are_explained_on_demand(
    editor: LanguageClient,
) -> None:
    document = opened(editor)
    params = lsp.CompletionParams(document, at("Edges", 8))
    found = await editor.text_document_completion_async(params)
    assert isinstance(found, lsp.CompletionList)
    proposal = next(item for item in found.items if item.label == "Edges")
    assert isinstance(proposal.text_edit, lsp.TextEdit)
    assert proposal.text_edit.range == span("Edges", 8)
    explained = await editor.completion_item_resolve_async(proposal)
    assert isinstance(explained.documentation, lsp.MarkupContent)
    assert explained.documentation.value


async def test_the_form_of_an_attribute_is_shown_with_its_place(editor: LanguageClient) -> None:
    document = opened(editor)
    params = lsp.SignatureHelpParams(document, at("[5, 5]"))
    found = await editor.text_document_signature_help_async(params)
    assert found is not None
    (signature,) = found.signatures
    assert signature.parameters
    (start, end) = signature.parameters[0].label
    assert isinstance(start, int)
    assert signature.label[start:end]
    assert found.active_parameter == 0


async def test_a_name_leads_to_its_declaration_and_its_uses(editor: LanguageClient) -> None:
    document = opened(editor)
    used = at("Edges", 8)
    (link,) = await editor.text_document_definition_async(lsp.DefinitionParams(document, used))
    assert isinstance(link, lsp.LocationLink)
    assert link.target_selection_range == span("Edges")
    assert link.target_range.end.line == 7
    declared = await editor.text_document_declaration_async(lsp.DeclarationParams(document, used))
    assert declared == [link]
    uses = await editor.text_document_references_async(
        lsp.ReferenceParams(lsp.ReferenceContext(True), document, used)
    )
    assert [each.range for each in uses] == [span("Edges"), span("Edges", 8)]
    without = await editor.text_document_references_async(
        lsp.ReferenceParams(lsp.ReferenceContext(False), document, used)
    )
    assert [each.range for each in without] == [span("Edges", 8)]
    marked = await editor.text_document_document_highlight_async(
        lsp.DocumentHighlightParams(document, used)
    )
    assert [(each.range, each.kind) for each in marked] == [
        (span("Edges"), lsp.DocumentHighlightKind.Write),
        (span("Edges", 8), lsp.DocumentHighlightKind.Read),
    ]


async def test_a_rename_changes_all_places_of_the_version(editor: LanguageClient) -> None:
    document = opened(editor)
    place = lsp.PrepareRenameParams(document, at("Edges"))
    name = await editor.text_document_prepare_rename_async(place)
    assert name == lsp.PrepareRenamePlaceholder(span("Edges"), "Edges")
    done = await editor.text_document_rename_async(
        lsp.RenameParams(document, at("Edges"), "Strokes")
    )
    (change,) = done.document_changes
    assert change.text_document.version == 1
    assert applied(NETWORK, change.edits) == NETWORK.replace("Edges", "Strokes")


@pytest.mark.parametrize("name", ["Middle", "3x", "hidden"])
async def test_a_rename_that_would_break_the_network_is_refused(
    editor: LanguageClient, name: str
) -> None:
    document = opened(editor)
    with pytest.raises(JsonRpcException) as refused:
        await editor.text_document_rename_async(lsp.RenameParams(document, at("Edges"), name))
    assert refused.value.code == lsp.LSPErrorCodes.RequestFailed
    assert refused.value.message.endswith(".")


async def test_the_outline_is_a_tree(editor: LanguageClient) -> None:
    document = opened(editor)
    found = await editor.text_document_document_symbol_async(lsp.DocumentSymbolParams(document))
    assert [each.name for each in found] == ["Unused", "Image", "Edges", "Middle", "Digit"]
    edges = found[2]
    assert isinstance(edges, lsp.DocumentSymbol)
    assert edges.selection_range == span("Edges")
    assert edges.children


async def test_a_body_folds_and_selections_grow(editor: LanguageClient) -> None:
    document = opened(editor)
    folds = await editor.text_document_folding_range_async(lsp.FoldingRangeParams(document))
    assert [(fold.start_line, fold.end_line) for fold in folds] == [(2, 6)]
    (found,) = await editor.text_document_selection_range_async(
        lsp.SelectionRangeParams(document, [at("[5, 5]")])
    )
    sizes = []
    around: lsp.SelectionRange | None = found
    while around is not None:
        sizes.append((around.range.start, around.range.end))
        around = around.parent
    assert len(sizes) > 3
    for (start, end), (outer_start, outer_end) in itertools.pairwise(sizes):
        assert outer_start <= start
        assert end <= outer_end


def placed(data: list[int]) -> list[tuple[int, int, int, int, int]]:
    """Tokens as the protocol writes them, by line and character."""
    line = character = 0
    found = []
    for start in range(0, len(data), 5):
        down, right, length, kind, modifiers = data[start : start + 5]
        character = right if down else character + right
        line += down
        found.append((line, character, length, kind, modifiers))
    return found


async def test_tokens_of_all_of_a_range_and_of_what_changed_agree(editor: LanguageClient) -> None:
    document = opened(editor)
    all_of_it = await editor.text_document_semantic_tokens_full_async(
        lsp.SemanticTokensParams(document)
    )
    tokens = placed(list(all_of_it.data))
    words = [LINES[line][column : column + length] for line, column, length, _, _ in tokens]
    assert words[:3] == ["const", "Unused", "="]
    assert "softmax" in words
    part = lsp.Range(lsp.Position(2, 0), lsp.Position(5, 0))
    ranged = await editor.text_document_semantic_tokens_range_async(
        lsp.SemanticTokensRangeParams(document, part)
    )
    assert placed(list(ranged.data)) == [token for token in tokens if 2 <= token[0] < 5]
    change = lsp.TextDocumentContentChangePartial(
        range=lsp.Range(lsp.Position(8, 0), lsp.Position(8, 0)), text="const More = 2;\n"
    )
    editor.text_document_did_change(
        lsp.DidChangeTextDocumentParams(
            lsp.VersionedTextDocumentIdentifier(version=2, uri=document.uri), [change]
        )
    )
    delta = await editor.text_document_semantic_tokens_full_delta_async(
        lsp.SemanticTokensDeltaParams(document, all_of_it.result_id)
    )
    assert isinstance(delta, lsp.SemanticTokensDelta)
    (edit,) = delta.edits
    data = list(all_of_it.data)
    data[edit.start : edit.start + edit.delete_count] = edit.data
    fresh = await editor.text_document_semantic_tokens_full_async(
        lsp.SemanticTokensParams(document)
    )
    assert data == list(fresh.data)
    assert len(edit.data) < len(data) / 2
    forgotten = await editor.text_document_semantic_tokens_full_delta_async(
        lsp.SemanticTokensDeltaParams(document, all_of_it.result_id)
    )
    assert isinstance(forgotten, lsp.SemanticTokens)
    assert list(forgotten.data) == data


async def test_links_lead_to_addresses(editor: LanguageClient) -> None:
    document = opened(editor)
    found = await editor.text_document_document_link_async(lsp.DocumentLinkParams(document))
    assert [link.target for link in found] == ["https://example.org/network"]
    assert found[0].range.start.line == 9


async def test_calls_are_the_flow_of_data(editor: LanguageClient) -> None:
    document = opened(editor)
    params = lsp.CallHierarchyPrepareParams(document, at("Edges"))
    (layer,) = await editor.text_document_prepare_call_hierarchy_async(params)
    assert layer.name == "Edges"
    feeding = await editor.call_hierarchy_incoming_calls_async(
        lsp.CallHierarchyIncomingCallsParams(layer)
    )
    assert [call.from_.name for call in feeding] == ["Image"]
    fed = await editor.call_hierarchy_outgoing_calls_async(
        lsp.CallHierarchyOutgoingCallsParams(layer)
    )
    assert [call.to.name for call in fed] == ["Middle"]
    assert list(fed[0].from_ranges) == [span("Edges", 8)]


UGLY = NETWORK.replace("const Unused = 3;", "const   Unused=3 ;").replace(
    "[100] from Edges all", "[100]   from Edges   all"
)
LAYOUT = lsp.FormattingOptions(tab_size=8, insert_spaces=False)


async def test_formatting_changes_only_the_lines_that_are_ugly(editor: LanguageClient) -> None:
    document = opened(editor, UGLY)
    edits = await editor.text_document_formatting_async(
        lsp.DocumentFormattingParams(document, LAYOUT)
    )
    assert {edit.range.start.line for edit in edits} == {0, 8}
    neat = applied(UGLY, list(edits))
    assert "const Unused = 3;\n" in neat
    again = await editor.text_document_formatting_async(
        lsp.DocumentFormattingParams(opened(editor, neat), LAYOUT)
    )
    assert not again


async def test_a_range_is_formatted_by_its_declarations(editor: LanguageClient) -> None:
    document = opened(editor, UGLY)
    line = lsp.Range(lsp.Position(8, 3), lsp.Position(9, 0))
    edits = await editor.text_document_range_formatting_async(
        lsp.DocumentRangeFormattingParams(document, line, LAYOUT)
    )
    assert {edit.range.start.line for edit in edits} == {8}
    both = await editor.text_document_ranges_formatting_async(
        lsp.DocumentRangesFormattingParams(
            document, [line, lsp.Range(lsp.Position(0, 0), lsp.Position(0, 2))], LAYOUT
        )
    )
    assert {edit.range.start.line for edit in both} == {0, 8}


async def test_nothing_is_formatted_while_one_types_unless_wanted(editor: LanguageClient) -> None:
    document = opened(editor, UGLY)
    place = lsp.Position(0, 18)
    edits = await editor.text_document_on_type_formatting_async(
        lsp.DocumentOnTypeFormattingParams(document, place, ";", LAYOUT)
    )
    assert not edits


async def test_a_quick_fix_removes_its_diagnostic(editor: LanguageClient) -> None:
    document = opened(editor)
    (unused,) = (await published(editor, document)).diagnostics
    params = lsp.CodeActionParams(document, unused.range, lsp.CodeActionContext([unused]))
    actions = await editor.text_document_code_action_async(params)
    fix = next(each for each in actions if each.diagnostics and each.edit is not None)
    assert fix.kind == lsp.CodeActionKind.QuickFix
    (change,) = fix.edit.document_changes
    assert applied(NETWORK, change.edits).startswith("input Image")
    assert any("NS033" in each.title for each in actions)


async def test_of_two_diagnostics_of_one_rule_at_one_place_each_has_its_own_fix(
    editor: LanguageClient,
) -> None:
    text = (
        "input P [5, 6, 6];\nhidden Q [3] from P mean pool { }\noutput O [2] softmax from Q all;\n"
    )
    document = opened(editor, text)
    found = [each for each in (await published(editor, document)).diagnostics if each.code]
    lacking = [each for each in found if each.code == "NS063"]
    assert lacking[0].range == lacking[1].range
    for diagnostic, lack in zip(lacking, ("InputShape", "KernelShape"), strict=True):
        context = lsp.CodeActionContext([diagnostic], only=[lsp.CodeActionKind.QuickFix])
        params = lsp.CodeActionParams(document, diagnostic.range, context)
        actions = await editor.text_document_code_action_async(params)
        (own,) = [each for each in actions if getattr(each, "diagnostics", None)]
        assert own.title.startswith(f"Insert {lack} = ")


async def test_all_safe_fixes_come_when_they_are_asked_for(editor: LanguageClient) -> None:
    broken = NETWORK.replace("[29, 29];\nhidden", "[29, 29]\nhidden")
    document = opened(editor, broken)
    only = lsp.CodeActionContext([], only=[lsp.CodeActionKind.SourceFixAll])
    (action,) = await editor.text_document_code_action_async(
        lsp.CodeActionParams(document, everything(), only)
    )
    assert action.kind == "source.fixAll.netsharp"
    assert action.edit is None
    repaired = await editor.code_action_resolve_async(action)
    (change,) = repaired.edit.document_changes
    assert "input Image [29, 29];\n" in applied(broken, change.edits)


async def test_diagnostics_say_version_page_and_place(editor: LanguageClient) -> None:
    document = opened(editor)
    heard = await published(editor, document)
    assert heard.version == 1
    (found,) = heard.diagnostics
    assert (found.code, found.source, found.range) == ("NS033", "netsharp", span("Unused"))
    assert found.severity == lsp.DiagnosticSeverity.Hint
    assert list(found.tags) == [lsp.DiagnosticTag.Unnecessary]
    page = Path(urlparse(found.code_description.href).path)
    assert page.read_text(encoding="utf-8").startswith("# NS033")


async def test_symbols_of_the_workspace_are_found_by_their_letters(
    editor: LanguageClient,
) -> None:
    document = opened(editor, NETWORK.replace("Middle", "QuiteUncommon"))
    found = await editor.workspace_symbol_async(lsp.WorkspaceSymbolParams("quncm"))
    assert [(each.name, each.location.uri) for each in found] == [("QuiteUncommon", document.uri)]
