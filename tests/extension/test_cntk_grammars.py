"""The TextMate grammars of CNTK's languages beside the parsers: both call words the same."""

from __future__ import annotations

import pytest

from netsharp_lsp.context import Context
from netsharp_lsp.ide.answers import TOKEN_KINDS
from netsharp_lsp.language import language_by_id
from tests.cntk.collection import FILES, CntkFile
from tests.extension.conftest import Program

#: Which scopes may represent each of the server's token types.  Where a line alone does not decide
#: (a value may be a name, a word of an option or a path), any scope of a value may.
VALUES = ("constant.", "string.unquoted.", "variable.other.", "support.function.")
SCOPES = {
    "comment": ("comment.",),
    "string": ("string.", "constant.other.", "meta.embedded."),
    "keyword": ("keyword.",),
    "number": ("constant.",),
    "enumMember": ("constant.",),
    "macro": ("variable.other.substitution.", "constant.other.value."),
    "property": ("variable.other.", "support.function.", "keyword.control.include."),
    "function": ("support.function.", "variable.other.property."),
    "parameter": VALUES,
    "variable": VALUES,
    "class": ("entity.name.type.",),
}
SOUND = [file for file in FILES if not file.broken and b"\r" not in file.data]
#: Where one line alone does not decide: a call's bracket, a key's equals sign or the other quote of
#: a string is on another line, indices are between a function and its parameters, or the spelling
#: of a key is unusual.
PARTED = {
    "configurations/byte_order_mark.cntk",
    "configurations/included.cntk",
    "configurations/odd_keys.config",
    "configurations/values.config",
    "networks/newlines_join.bs",
    "networks/parameters.bs",
}


def tokens_of_the_server(text: str, language: str) -> list[tuple[int, int, str, str]]:
    """What the server calls each token: line, column in UTF-16, kind, the words."""
    data = text.encode()
    snapshot = language_by_id(language).open(data, Context())
    found = []
    for start, end, kind, _ in snapshot.tokens(0, len(data)):
        before = data[:start].decode()
        column = len(before.rpartition("\n")[2].encode("utf-16-le")) // 2
        words = data[start:end].decode()
        found.append((before.count("\n"), column, TOKEN_KINDS[kind], words))
    return found


@pytest.mark.parametrize("language", ["cntk", "brainscript", "ndl", "mel"])
def test_the_server_and_the_grammar_agree(tokenize: Program, language: str) -> None:
    files = [file for file in SOUND if file.id == language and is_text(file)]
    texts = [file.data.decode().removeprefix("\ufeff") for file in files]
    faults, same = [], 0
    for file, text, tokens in zip(files, texts, tokenize(f"source.{language}", texts), strict=True):
        for line, column, kind, words in tokens_of_the_server(text, language):
            if kind not in SCOPES or file.name in PARTED:
                continue
            named = next(
                (n for at, start, end, n in tokens if at == line and start <= column < end), []
            )
            if any(scope.startswith(SCOPES[kind]) for scope in named):
                same += 1
            else:
                faults.append(
                    f"{file.name}:{line + 1}:{column + 1} {words!r}: {kind} has {named[1:]}"
                )
    assert faults == []
    assert same > 100


def is_text(file: CntkFile) -> bool:
    try:
        file.data.decode()
    except UnicodeDecodeError:
        return False
    return True


def test_a_network_inside_a_configuration_is_coloured_to_its_end(tokenize: Program) -> None:
    network = "a = if x then {b=1} else c // }"
    text = f"T = {{\n BrainScriptNetworkBuilder = {{\n  {network}\n }}\n  action = train\n}}"
    (tokens,) = tokenize("source.cntk", [text])
    inside = {line for line, _, _, names in tokens if "meta.embedded.block.brainscript" in names}
    assert inside == {2, 3} or inside == {2}
    words = [names for line, start, _, names in tokens if line == 2 and start == 6]
    assert any("keyword.control.brainscript" in names for names in words)
    after = [names for line, _, _, names in tokens if line == 4]
    assert any("variable.other.property.cntk" in names for names in after)
