"""What a text takes of memory grows little by its words; beyond limits it is refused."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

if sys.platform == "win32":
    pytest.skip("forks and limits of a process are POSIX", allow_module_level=True)

from netsharp_engine.graph import GraphError
from netsharp_engine.limits import Limit
from netsharp_lsp.embedded.finding import find_regions
from netsharp_lsp.limits import (
    BUNDLES,
    CNTK_WORDS,
    EXPLAINED_BYTES,
    LAYERS,
    OPEN_BRACKETS,
    TEXT_NAMES,
    TEXT_WORDS,
)
from netsharp_lsp.netsharp.lower import build_graph
from netsharp_lsp.specification import read_specification
from netsharp_lsp.text.extent import refused
from netsharp_lsp.text.json_text import listed, to_json
from tests.bounds.measuring import Forks, Measurement
from tests.server.wire import Wire, serving

# Each takes seconds, or a process of its own.
pytestmark = pytest.mark.costly

MIB = 2**20
DEEP = b"[\n" * 100_000
COMMANDS = [
    ("a.nn", ("fmt", "check", "describe")),
    ("a.cntk", ("fmt", "check", "describe", "config")),
    ("a.bs", ("fmt", "check")),
    ("a.ndl", ("fmt", "check")),
    ("a.mel", ("fmt", "check")),
    ("a.py", ("fmt", "check", "describe")),
]


@pytest.fixture(scope="module")
def forks() -> Iterator[Forks]:
    with Forks() as running:
        yield running


@pytest.fixture
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("texts")


def asked(forks: Forks, folder: Path, name: str, text: bytes, *command: str) -> Measurement:
    (folder / name).write_bytes(text)
    return forks.run((*command, name), folder, len(text))


def in_host(text: bytes) -> bytes:
    return b'# language=Net#\nnet = """input A [3];\n' + text + b'"""\n'


@pytest.mark.parametrize(("name", "commands"), COMMANDS, ids=lambda one: str(one))
def test_brackets_that_no_one_writes_are_refused(
    name: str, commands: tuple[str, ...], forks: Forks, folder: Path
) -> None:
    text = in_host(DEEP) if name == "a.py" else DEEP
    for command in commands:
        found = asked(forks, folder, name, text, command)
        assert found.exit == 2, (command, found)
        assert str(OPEN_BRACKETS) in found.output, (command, found)
        assert found.memory < 100 * MIB, (command, found)
        assert (folder / name).read_bytes() == text


@pytest.mark.parametrize(
    ("name", "most"),
    [
        *(("a.nn", TEXT_NAMES), ("a.nn", TEXT_WORDS)),
        *((f"a.{one}", CNTK_WORDS) for one in ("cntk", "bs", "ndl", "mel")),
    ],
)
def test_more_words_than_anyone_writes_are_refused(
    name: str, most: Limit, forks: Forks, folder: Path
) -> None:
    text = (b"1 " if most is TEXT_WORDS else b"a ") * (most.most + 1)
    for command in ("fmt", "check"):
        found = asked(forks, folder, name, text, command)
        assert str(most) in found.output, (command, found)
        assert (found.exit, found.memory < 100 * MIB) == (2, True), (command, found)


#: Text that is right, and text that is damaged everywhere, with the words of each piece.
CNTK_PIECES = [
    *(("bs", piece) for piece in ((b";", 1), (b"a\n", 2), (b"a b\n", 3), (b"x=a+b\n", 6))),
    *(("bs", piece) for piece in ((b"f(a,b)=[..]\n", 11), (b"x=(a+[b].c)\n", 12), (b"()", 2))),
    *((one, piece) for one in ("cntk", "mel", "ndl") for piece in ((b";", 1), (b"x=a\n", 4))),
]
#: Here numbers do not count.
TEXT_PIECES = [(b"a ", 1), (b"input A [2];\n", 5), (b"A from B all;", 5)]
#: With the limit that holds, and the MiB of a whole process.
PIECES = [
    *((suffix, piece, CNTK_WORDS, 1_250) for suffix, piece in CNTK_PIECES),
    *(("nn", piece, TEXT_NAMES, 1_250) for piece in TEXT_PIECES),
    ("nn", (b";", 1), TEXT_NAMES, 1_700),
    *(("nn", piece, TEXT_WORDS, 1_500) for piece in ((b"1,", 2), (b"1 ", 1))),
]


@pytest.mark.parametrize(("suffix", "piece", "most", "mib"), PIECES, ids=str)
def test_a_text_at_its_limit_takes_a_bounded_memory(
    suffix: str, piece: tuple[bytes, int], most: Limit, mib: int, forks: Forks, folder: Path
) -> None:
    unit, words = piece
    few, many = 20_000 // words, 80_000 // words
    for command in (("check",), ("fmt", "--check")):
        small, large = (
            asked(forks, folder, f"a.{suffix}", unit * count, *command) for count in (few, many)
        )
        each = (large.memory - small.memory) / ((many - few) * words)
        assert small.memory + each * most.most < mib * MIB, (command, each)


@pytest.mark.parametrize("name", ["a.nn", "a.bs", "a.py"])
def test_what_cannot_be_formatted_is_not_checked_where_it_is_long(
    name: str, forks: Forks, folder: Path
) -> None:
    words = EXPLAINED_BYTES.most // 2 + 1
    text = b"] " * words if name == "a.bs" else b"a " * words
    text = in_host(text) if name == "a.py" else text
    found = asked(forks, folder, name, text, "fmt", "--check")
    assert (found.exit, found.memory < 700 * words) == (name == "a.bs", True), found
    assert str(EXPLAINED_BYTES) in found.output


def test_a_weight_takes_little_of_the_formatter(forks: Forks, folder: Path) -> None:
    def memory(count: int) -> int:
        values = b", ".join(b"0.%d" % (number % 1000) for number in range(count))
        text = b"input A [%d];\noutput B [1] from A all { Weights = [%b]; }\n" % (count, values)
        found = asked(forks, folder, "a.nn", text, "fmt", "--check")
        assert found.exit == 1
        return found.memory

    few, many = 50_000, 200_000
    assert (memory(many) - memory(few)) / (many - few) < 700


def test_a_statement_of_ndl_is_kept_once(forks: Forks, folder: Path) -> None:
    def memory(count: int) -> int:
        text = b"".join(b"n%d = Plus(n%d, n%d)\n" % (n + 1, n, n) for n in range(count))
        found = asked(forks, folder, "a.ndl", text, "check")
        assert found.exit == 0
        return found.memory

    few, many = 5_000, 25_000
    assert (memory(many) - memory(few)) / (many - few) < 4_200


def test_a_report_takes_no_memory_for_each_finding(forks: Forks, folder: Path) -> None:
    text = b"".join(b"const C%d = %d;\n" % (number, number) for number in range(15_000))
    memory = {
        form: asked(forks, folder, "a.nn", text, "check", "--format", form).memory
        for form in ("json", "gitlab", "sarif")
    }
    assert max(memory.values()) - memory["json"] < 20 * MIB, memory


def test_a_list_is_written_as_a_whole_would_be() -> None:
    for count in (0, 1, 63, 64, 65, 200):
        items = [{"n": number, "text": f"a\n{number}\udcff", "l": [{}]} for number in range(count)]
        whole = to_json({"a": items}, indent=2)
        assert '{\n  "a": ' + "".join(listed(items, 1)) + "\n}" == whole


def chained(layers: int) -> bytes:
    hidden = "".join(
        f"hidden H{n} [2] from {f'H{n - 1}' if n else 'A'} all;\n" for n in range(layers)
    )
    return f"input A [2];\n{hidden}output B [2] from H{layers - 1} all;\n".encode()


def test_more_layers_than_anyone_trains_are_refused_before_they_are_looked_at(
    forks: Forks, folder: Path
) -> None:
    (folder / "t.csv").write_text("a,b,label\n1,2,x\n2,3,y\n")
    command = ("run", "--train", "t.csv", "--label", "label", "--model", "m.safetensors")
    found = asked(forks, folder, "a.nn", chained(30_000), *command)
    assert (found.exit, str(LAYERS) in found.output) == (2, True), found
    assert found.cpu < 6
    assert found.memory < 300 * MIB
    assert not (folder / "m.safetensors").exists()
    with pytest.raises(GraphError, match=str(LAYERS)):
        build_graph(chained(LAYERS.most).decode(), {})


def test_more_bundles_than_anyone_trains_are_refused_before_they_are_looked_at(
    forks: Forks, folder: Path
) -> None:
    bundles = "from A all; " * (BUNDLES.most + 1)
    text = f"input A [2];\nhidden H [2] {{ {bundles} }}\noutput B [2] from H all;\n".encode()
    (folder / "t.csv").write_text("a,b,label\n1,2,x\n2,3,y\n")
    command = ("run", "--train", "t.csv", "--label", "label", "--model", "m.safetensors")
    found = asked(forks, folder, "a.nn", text, *command)
    assert (found.exit, str(BUNDLES) in found.output) == (2, True), found
    assert found.cpu < 6
    assert found.memory < 300 * MIB
    assert not (folder / "m.safetensors").exists()


def test_what_is_refused_is_counted_well() -> None:
    most = OPEN_BRACKETS.most
    assert refused(b"(" * most) is None
    assert refused(b"]" * 10 * most + b"([" * (most // 2)) is None
    assert refused(b"[]" * 10 * most + b"[(])" * most) is None
    assert str(OPEN_BRACKETS) in str(refused(b"]" * 10 * most + b"(" * (most + 1)))
    assert str(OPEN_BRACKETS) in str(refused(b"[a]" * 50_000 + b"{ \n" * (most + 1)))
    words = TEXT_WORDS.most
    assert refused(b"a" * 2 * words + b" " * words) is None
    assert refused(b"1.5e5 " * words) is None
    assert str(TEXT_WORDS) in str(refused(b"1e5 " * words + b"\n"))
    assert str(TEXT_WORDS) in str(refused(b"," * (words + 1)))
    names = TEXT_NAMES.most
    assert refused(b"-1.5,\r\n" * (words // 5)) is None
    assert refused(b"a1 .5e-3, " * names + b"\n" * 9) is not None
    assert refused(b"a1 " * names + b"2, " * 9) is None
    assert str(TEXT_NAMES) in str(refused(b"a1 " * names + b";"))


def test_python_code_reports_a_text_that_is_refused() -> None:
    with pytest.raises(ValueError, match=str(OPEN_BRACKETS)):
        read_specification(DEEP.decode())


def test_a_host_that_nests_too_deep_reports_it(forks: Forks, folder: Path) -> None:
    host = b"# language=Net#\nnet = " + b"(" * 3000 + b"'input A [3];'" + b")" * 3000 + b"\n"
    regions = find_regions("python", host)
    assert isinstance(regions, str)
    for command in ("check", "fmt", "describe"):
        found = asked(forks, folder, "a.py", host, command)
        assert (found.exit, regions in found.output) == (2, True), (command, found)
    assert (folder / "a.py").read_bytes() == host


def diagnosed(wire: Wire, name: str, text: str, language: str) -> str:
    """The one message of a server about a document, which it refuses to format."""
    uri = f"file:///nowhere/{name}"
    wire.open(uri, text, language)
    (reported,) = wire.published(uri, 1)
    options = {"tabSize": 2, "insertSpaces": True}
    answer = wire.exchange(
        "textDocument/formatting", {"textDocument": {"uri": uri}, "options": options}
    )
    assert answer["error"]["message"] == reported["message"]
    symbols = {"textDocument": {"uri": uri}}
    assert not wire.request("textDocument/documentSymbol", symbols)
    message: str = reported["message"]
    return message


def test_a_server_refuses_what_the_command_line_refuses() -> None:
    with serving() as wire:
        for name, language in (("a.nn", "netsharp"), ("a.cntk", "cntk"), ("a.bs", "brainscript")):
            assert str(OPEN_BRACKETS) in diagnosed(wire, name, DEEP.decode(), language)
        assert str(OPEN_BRACKETS) in diagnosed(wire, "a.py", in_host(DEEP).decode(), "python")
        deep = "# language=Net#\nnet = " + "(" * 3000 + "'input A [3];'" + ")" * 3000 + "\n"
        assert "too deep" in diagnosed(wire, "b.py", deep, "python")

        uri = "file:///nowhere/c.nn"
        wire.open(uri, "input A [3];\noutput B [1] sigmoid from A all;\n")
        assert wire.published(uri, 1) == []
        end = {"line": 2, "character": 0}
        wire.send(wire.change(uri, 2, {"range": {"start": end, "end": end}, "text": DEEP.decode()}))
        (reported,) = wire.published(uri, 2)
        assert str(OPEN_BRACKETS) in reported["message"]
        last = {"line": 2 + DEEP.count(b"\n"), "character": 0}
        wire.send(wire.change(uri, 3, {"range": {"start": end, "end": last}, "text": ""}))
        assert wire.published(uri, 3) == []
