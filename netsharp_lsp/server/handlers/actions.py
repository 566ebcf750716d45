"""textDocument/codeAction and codeAction/resolve: only fixing everything is resolved later."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lsprotocol import types as lsp

from netsharp_lsp.ide.quickfixes import wanted
from netsharp_lsp.server.answers.publishing import message_of
from netsharp_lsp.server.answers.repairs import repairs
from netsharp_lsp.server.answers.writing import command, outer_edits, workspace_edit
from netsharp_lsp.server.transport.parameters import brought_back
from netsharp_lsp.server.transport.protocol import RefusedError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from netsharp_lsp.ide.answers import Action
    from netsharp_lsp.server.documents.views import View
    from netsharp_lsp.server.session import Session

Plain = dict[str, Any]

FIX_ALL = "source.fixAll.netsharp"
_ABILITY = "textDocument.codeAction"


def code_actions(session: Session, params: lsp.CodeActionParams) -> list[Plain]:
    """Return the code actions for a range: fixes, explanations, refactorings, fix all."""
    only = _words(params.context.only)
    actions = [*_offered(session, params, only), *_fix_all(session, params, only)]
    if session.client.can(f"{_ABILITY}.codeActionLiteralSupport"):
        return actions
    return [action["command"] for action in actions if "command" in action]


def resolve(session: Session, action: Plain) -> Plain:
    """Add the edit of an action that was offered without one."""
    if action.get("data") is None or "edit" in action:
        return action
    data = brought_back("codeAction/resolve", action["data"])
    document = session.documents.get(data["uri"])
    if document is None or document.version != data.get("version"):
        raise RefusedError(lsp.LSPErrorCodes.ContentModified, "The text has changed since.")
    action["edit"] = workspace_edit(session, document, repairs(session, document))
    return action


def _offered(
    session: Session, params: lsp.CodeActionParams, only: Sequence[str] | None
) -> Iterator[Plain]:
    """Yield the actions of the language, and fixing everything, as a language knows no settings."""
    uri = params.text_document.uri
    selection = session.selection_of(uri)
    inner = None if only is None else [kind for kind in only if kind.partition(".")[0] != "source"]
    for view, start, end in session.places(uri, params.range):
        for action in view.snapshot.actions(start, end, inner):
            hidden = action.fixes and not any(selection.wants(fix[0]) for fix in action.fixes)
            plain = None if hidden else _plain(session, view, action, params.context.diagnostics)
            if plain is not None:
                yield plain


def _plain(
    session: Session, view: View, action: Action, shown: Sequence[lsp.Diagnostic]
) -> Plain | None:
    """Return an action as JSON; None where its edits cannot be written, here or by this client."""
    plain: Plain = {"title": action.title, "kind": action.kind}
    if action.edits or action.elsewhere:
        try:
            edits = outer_edits(view, action.edits)
            plain["edit"] = workspace_edit(session, view.document, edits, action.elsewhere)
        except RefusedError:
            return None
    if action.command is not None:
        plain["command"] = command(action.command, view)
    if action.sentences and session.client.can(f"{_ABILITY}.dataSupport"):
        plain["data"] = {"sentences": list(action.sentences)}
    if action.preferred and session.client.can(f"{_ABILITY}.isPreferredSupport"):
        plain["isPreferred"] = True
    fixed = [(code, view.range(start, end)) for code, start, end in action.fixes]
    message = message_of(view, action.message)
    solved = [
        each for each in shown if (each.code, each.range) in fixed and message in ("", each.message)
    ]
    if solved:
        plain["diagnostics"] = session.server.protocol.plain(solved)
    return plain


def _fix_all(
    session: Session, params: lsp.CodeActionParams, only: Sequence[str] | None
) -> list[Plain]:
    """Return the action that applies all safe fixes, where there is one to apply."""
    uri = params.text_document.uri
    document = session.documents.get(uri)
    if document is None or not wanted(FIX_ALL, only):
        return []
    selection = session.selection_of(uri)
    found = [each for view in document.views for each in view.findings(selection)]
    if not any(each.is_safely_fixed for each in found):
        return []
    action: Plain = {"title": "Apply all safe fixes", "kind": FIX_ALL}
    later = "edit" in session.client.names(f"{_ABILITY}.resolveSupport.properties")
    if later and session.client.can(f"{_ABILITY}.dataSupport"):
        return [{**action, "data": {"uri": uri, "version": document.version}}]
    return [{**action, "edit": workspace_edit(session, document, repairs(session, document))}]


def _words(kinds: Sequence[str] | None) -> list[str] | None:
    """Kinds as plain text: those that the protocol names come as members of an enumeration."""
    if kinds is None:
        return None
    return [kind.value if isinstance(kind, lsp.CodeActionKind) else kind for kind in kinds]
