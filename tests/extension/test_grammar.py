"""The TextMate grammar beside the parser: over the whole corpus both classify tokens alike."""

from __future__ import annotations

from pathlib import Path

import pytest
from tree_sitter import Language, Parser, Query, QueryCursor

from netsharp_grammar._netsharp import language
from netsharp_lsp.context import Context
from netsharp_lsp.ide.answers import TOKEN_KINDS
from netsharp_lsp.language import language_by_id
from tests.collection import SAMPLES
from tests.extension.conftest import Program

NETSHARP = Language(language())
HIGHLIGHTS = Path(__file__).parents[2] / "grammar" / "netsharp" / "queries" / "highlights.scm"
#: What the parser's query calls something, and which scopes may stand for that in a text of one
#: line after the other: a name is only told apart from another by what surrounds it.
SCOPES = {
    "keyword": ("keyword.control.", "variable.other.enummember."),
    "comment": ("comment.",),
    "number": ("constant.numeric.",),
    "boolean": ("keyword.control.boolean.",),
    "operator": ("keyword.operator.", "punctuation.separator."),
    "punctuation.bracket": ("punctuation.section.",),
    "punctuation.delimiter": ("punctuation.terminator.", "punctuation.separator."),
    "property": ("variable.other.property.", "variable.other.constant."),
    "type": ("entity.name.type.layer.",),
    "constant": ("variable.other.constant.", "variable.other.property."),
    "variable.parameter": ("variable.parameter.", "variable.other."),
}
#: In which colour VS Code shows what the server calls something, where a theme has none of its own:
#: that of a scope.  The grammar gives the same one, or a word would change its colour as soon as
#: the server answers.
FALLBACKS = {
    "keyword": "keyword.control.",
    "class": "entity.name.type.",
    "property": "variable.other.property.",
    "function": "support.function.",
    "enumMember": "variable.other.enummember.",
    "number": "constant.numeric.",
    "operator": "keyword.operator.",
    "comment": "comment.",
}
#: Texts without a fault: any scope is right for a text that is not Net#.
SOUND = [sample for sample in SAMPLES if sample.group in ("guide", "valid", "good")]
#: Where one line alone does not decide: a name is on another line than what makes it a layer's.
BROKEN_LINES = {"valid/one_token_a_line", "valid/comments_everywhere"}


def highlighted(text: str) -> dict[tuple[int, int], str]:
    """Each captured stretch of a text as (line, column in UTF-16) of its start, with its name."""
    query = Query(NETSHARP, HIGHLIGHTS.read_text(encoding="utf-8"))
    tree = Parser(NETSHARP).parse(text.encode())
    lines = text.encode().split(b"\n")
    found = {}
    for name, nodes in QueryCursor(query).captures(tree.root_node).items():
        for node in nodes:
            row, column = node.start_point
            before = lines[row][:column].decode()
            found[row, len(before.encode("utf-16-le")) // 2] = name
    return found


def test_every_keyword_number_comment_and_mark_has_its_scope(tokenize: Program) -> None:
    texts = [sample.text.decode().replace("\r\n", "\n").replace("\r", "\n") for sample in SOUND]
    faults = []
    compared = dict.fromkeys(SCOPES, 0)
    for sample, text, tokens in zip(SOUND, texts, tokenize("source.netsharp", texts), strict=True):
        scopes = {(line, start): names for line, start, _, names in tokens}
        for place, kind in highlighted(text).items():
            if kind in SCOPES and not (
                sample.name in BROKEN_LINES and kind in ("type", "constant")
            ):
                compared[kind] += 1
                named = scopes.get(place, [])
                if not any(name.startswith(SCOPES[kind]) for name in named):
                    faults.append(f"{sample.name} {place}: {kind} has {named[1:]}")
    assert faults == []
    assert all(compared.values()), compared


def tokens_of_the_server(text: str) -> list[tuple[int, int, str]]:
    """What the server calls each token: line, column in UTF-16, kind."""
    data = text.encode()
    snapshot = language_by_id("netsharp").open(data, Context())
    found = []
    for start, _, kind, _ in snapshot.tokens(0, len(data)):
        before = data[:start].decode()
        column = len(before.rpartition("\n")[2].encode("utf-16-le")) // 2
        found.append((before.count("\n"), column, TOKEN_KINDS[kind]))
    return found


def test_no_word_changes_its_colour_when_the_server_answers(tokenize: Program) -> None:
    sound = [sample for sample in SOUND if sample.name not in BROKEN_LINES]
    texts = [sample.text.decode().replace("\r\n", "\n").replace("\r", "\n") for sample in sound]
    changed, same = [], 0
    for sample, text, tokens in zip(sound, texts, tokenize("source.netsharp", texts), strict=True):
        scopes = {(line, start): names[-1] for line, start, _, names in tokens}
        for line, column, kind in tokens_of_the_server(text):
            named = scopes.get((line, column), "")
            # A comment begins with the mark that makes it one.
            named = named.replace("punctuation.definition.comment", "comment")
            if kind in FALLBACKS and not named.startswith(FALLBACKS[kind]):
                changed.append(f"{sample.name}:{line + 1}:{column}: {kind} is {named}")
            same += kind in FALLBACKS
    assert same > 5000
    assert changed == []


def test_every_letter_has_a_scope(tokenize: Program) -> None:
    texts = [sample.text.decode() for sample in SOUND]
    for sample, text, tokens in zip(SOUND, texts, tokenize("source.netsharp", texts), strict=True):
        lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
        bare = [
            lines[line][start:end]
            for line, start, end, scopes in tokens
            if len(scopes) == 1 and lines[line][start:end].strip()
        ]
        assert bare == [], sample.name


@pytest.mark.parametrize(
    ("host", "text", "line"),
    [
        ("text.html.markdown", "Text\n\n```netsharp\ninput A [3];\n```\nInput.", 3),
        ("text.html.markdown", "~~~ {.net#}\ninput A [3];\n~~~\nInput.", 1),
        ("source.python", 'f(net_definition="""\ninput A [3]; // it\'s\n""")\ninput()', 1),
        ("source.r", 'rxNeuralNet(netDefinition = "\ninput A [3]; // c")\ninput', 1),
    ],
)
def test_injected_into_other_languages(tokenize: Program, host: str, text: str, line: int) -> None:
    (tokens,) = tokenize(host, [text])
    declared = [token for token in tokens if "keyword.control.declaration.netsharp" in token[3]]
    assert [token[:3] for token in declared] == [[line, 0, 5]]
    last = text.count("\n")
    assert not [token for token in tokens if token[0] == last and len(token[3]) > 1]


def test_a_comment_in_an_injected_string_ends_with_the_string(tokenize: Program) -> None:
    (tokens,) = tokenize("source.r", ['netDefinition = "input A [3]; // c")\nB'])
    assert tokens[-1][3] == ["source.r"]


#: Strings that are specifications by what they say: the host, and the text around the keyword.
STRINGS = [
    ("source.python", 'NET = """\n', 'input A [3];\noutput B [2] from A all; // it\'s\n"""\nx()'),
    ("source.python", "NET = '''", "input { A [3]; }\n// \"\"\n'''\nx()"),
    ("source.python", 'NET = ("', 'input A auto;\\n" "from all")\nx()'),
    ("source.python", 'NET = """\n', 'const { Side = 3; }\ninput A [Side];"""\nx()'),
    ("source.r", 'net <- "\n', 'input A [3];\n"\nx()'),
    ("source.r", "net <- '", "input A [3];'\nx()"),
    ("source.r", 'net <- r"(\n', 'input A [3]; // c\n)"\nx()'),
    ("source.sql", "SET @c = N'net <- \"\n", "input A [3]; // c\n\"\n';\nGO"),
]


@pytest.mark.parametrize(("host", "before", "text"), STRINGS)
def test_strings_that_are_checked_are_coloured(
    tokenize: Program, host: str, before: str, text: str
) -> None:
    whole = before + text
    (tokens,) = tokenize(host, [whole])
    row, column = before.count("\n"), len(before.rpartition("\n")[2])
    word = next(token for token in tokens if token[0] == row and token[1] >= column)
    assert word[1:3] == (column, column + len(text.split()[0])) or word[1] == column
    assert "keyword.control.declaration.netsharp" in word[3]
    assert_quotes_are_the_host_s(tokens)
    last = whole.count("\n")
    assert not [token for token in tokens if token[0] == last and len(token[3]) > 1]


@pytest.mark.parametrize(
    ("host", "text"),
    [
        ("source.python", 'f(net_definition="""\ninput A [3];\n""")'),
        ("source.r", "f(netDefinition = 'input A [3];')"),
    ],
)
def test_quotes_after_a_parameter_keep_their_colour(
    tokenize: Program, host: str, text: str
) -> None:
    (tokens,) = tokenize(host, [text])
    assert_quotes_are_the_host_s(tokens)


def assert_quotes_are_the_host_s(tokens: list[tuple[int, int, int, list[str]]]) -> None:
    """Every quote is a mark in the scope of a string; themes know that scope alone."""
    marks = [t for t in tokens if any("definition.string." in name for name in t[3])]
    ends = {name.split(".")[3] for t in marks for name in t[3] if "definition.string." in name}
    assert ends & {"begin", "end"} == {"begin", "end"}
    for token in marks:
        assert any(name.startswith("string.quoted.") for name in token[3]), token
        assert "meta.embedded.block.netsharp" not in token[3]


@pytest.mark.parametrize(
    "text",
    [
        '"""Read the input of a layer.\n\ninput: a number\noutput [B] from A\n"""',
        'JS = """\nconst { a, b } = require("x");\ninput.value = 3;\n"""',
        'SQL = "input"',
    ],
)
def test_other_strings_stay_strings(tokenize: Program, text: str) -> None:
    (tokens,) = tokenize("source.python", [text])
    assert not [token for token in tokens if any("netsharp" in name for name in token[3])]


FENCE = "```{kind}\ninput A [3]; // it's\noutput B [2] from A all;\n```\nInput.\n"
#: Chunks: how one begins, and the text before and after a specification in it.
CHUNKS = {
    "r": ("{r}", 'net <- "', '"'),
    "r with options": ("{r net, echo=FALSE}", "net <- '", "'"),
    "raw r": ("{r}", 'net <- r"(', ')"'),
    "python": ("{python}", 'net = """', '"""'),
}


@pytest.mark.parametrize(
    "host", ["text.html.rmarkdown", "text.html.markdown.rmarkdown", "text.html.quarto"]
)
def test_fences_and_chunks_of_documents_are_coloured(tokenize: Program, host: str) -> None:
    """Documents of R Markdown, whose grammar had another name once, and of Quarto."""
    texts = [FENCE.replace("{kind}", kind) for kind in ("netsharp", "{.net#}", "{netsharp}")]
    if host != "text.html.rmarkdown":
        texts += [
            f"Text\n\n```{kind}\n{before}\ninput A [3];\noutput B [2] from A all;\n{after}\n"
            f"x = 1\n```\nInput.\n"
            for kind, before, after in CHUNKS.values()
        ]
    for text, tokens in zip(texts, tokenize(host, texts), strict=True):
        found = [
            token[:2] for token in tokens if "keyword.control.declaration.netsharp" in token[3]
        ]
        lines = text.split("\n")
        declared = [n for n, line in enumerate(lines) if line.startswith(("input ", "output "))]
        assert found == [[line, 0] for line in declared], text
        last = [token for token in tokens if token[0] >= declared[-1] + 3]
        assert not any("netsharp" in scope for token in last for scope in token[3]), text
