"""What is beyond a limit is refused, or left open, with a sentence that names the limit."""

from __future__ import annotations

import pytest

from netsharp_engine.graph import GraphError
from netsharp_lsp.cntk.checking.analysis import diagnostics_of
from netsharp_lsp.context import Context
from netsharp_lsp.description.uncounted import uncounted
from netsharp_lsp.limits import (
    CNTK_WORDS,
    CONDITION_EVALUATIONS,
    FILTERED_EDGES,
    INCLUDES,
    KEY_PARTS,
    OPEN_BRACKETS,
    SETTINGS_BYTES,
    SPECIFICATION_BYTES,
)
from netsharp_lsp.netsharp.describe import describe_network
from netsharp_lsp.netsharp.lower import build_graph
from netsharp_lsp.netsharp.meaning.steps.revision import resolve
from netsharp_lsp.netsharp.reading.parser import parse
from netsharp_lsp.project.run_file import read_run_file
from netsharp_lsp.settings import SettingsError, read_settings
from netsharp_lsp.workspace import GivenFiles, Run, Workspace

#: Nothing is known of it for whole ranges of nodes.
SCATTERED = "s[0] * s[0] * d[0] % 99991 == 3"


def filtered(size: int, condition: str, layers: int = 1) -> str:
    hidden = " ".join(
        f"hidden H{n} [{size}] from A where (s, d) => {condition};" for n in range(layers)
    )
    bundles = " ".join(f"from H{n} all;" for n in range(layers))
    return f"input A [{size}]; {hidden} output B [1] {{ {bundles} }}"


@pytest.mark.costly
def test_edges_that_take_too_long_stay_open() -> None:
    text = filtered(30_000, SCATTERED)
    described = describe_network(resolve(parse(text.encode()), Context()))
    assert described["layers"][1]["bundles"][0]["connections"] is None
    assert described["connections"] is None
    (sentence,) = uncounted(described)
    assert str(CONDITION_EVALUATIONS) in sentence
    with pytest.raises(GraphError, match=str(CONDITION_EVALUATIONS)):
        build_graph(text, {})


@pytest.mark.costly
def test_all_costly_conditions_of_a_network_share_what_they_may_take() -> None:
    text = filtered(3_000, SCATTERED, layers=4)
    described = describe_network(resolve(parse(text.encode()), Context()))
    counts = [layer["bundles"][0]["connections"] for layer in described["layers"][1:5]]
    assert counts == [87, 87, None, None]


def test_conditions_that_ranges_tell_are_counted_between_large_layers() -> None:
    text = filtered(60_000, "s[0] == d[0]", layers=4)
    described = describe_network(resolve(parse(text.encode()), Context()))
    assert described["connections"] == 4 * 60_000 + 4 * 60_000


def test_a_condition_of_many_operations_costs_more() -> None:
    terms = " || ".join(f"s[0] * d[0] % {n + 2} == {n}" for n in range(100))
    network = resolve(parse(filtered(1_000, terms).encode()), Context())
    assert describe_network(network)["connections"] is None


def test_more_edges_than_are_trained_are_refused() -> None:
    with pytest.raises(GraphError, match=str(FILTERED_EDGES)):
        build_graph(filtered(4_000, "s[0] >= 0 || d[0] >= 0"), {})


def test_includes_that_double_are_refused() -> None:
    files = {f"i{n}.bs": f"include 'i{n + 1}.bs'\n".encode() * 2 for n in range(30)}
    files["i30.bs"] = b"a = 1\n"
    workspace = Workspace("i0.bs", GivenFiles(files))
    found = diagnostics_of("brainscript", files["i0.bs"], workspace)
    (refused,) = [one for one in found if one.code == "BS066"]
    assert str(INCLUDES) in refused.message
    assert {one.code for one in found} <= {"BS066", "BS013"}


#: More words than three files of a configuration may have together, and quickly read.
LONG = b"# " + b"a " * (CNTK_WORDS.most * 2 // 5) + b"\n"


def reported(language: str, files: dict[str, bytes], code: str) -> list[str]:
    """The messages of a code about the first of some files."""
    name = next(iter(files))
    workspace = Workspace(name, GivenFiles(files), (Run((name,)),) if language == "cntk" else ())
    found = diagnostics_of(language, files[name], workspace)
    return [one.message for one in found if one.code == code]


@pytest.mark.parametrize(
    ("language", "include", "code"),
    [("brainscript", "include 'i{}.bs'", "BS066"), ("cntk", "include=i{}.bs", "CK018")],
)
def test_files_that_are_included_have_no_more_words_together_than_one_text(
    language: str, include: str, code: str
) -> None:
    parts = {f"i{n}.bs": LONG + b"a%d = 1\n" % n for n in range(3)}
    for count in (2, 3):
        lines = "".join(include.format(n) + "\n" for n in range(count))
        refused = reported(language, {"first": lines.encode(), **parts}, code)
        assert len(refused) == (count == 3), refused
        assert all("i2.bs" in one and str(CNTK_WORDS) in one for one in refused)


def test_scripts_of_one_network_in_ndl_have_no_more_words_together_than_one_text() -> None:
    network = b"run = n\nn = [\n f = Input(2)\n OutputNodes = (f)\n]\n"
    macros = {
        f"m{n}.ndl": LONG + b"load = l\nl = [\n M%d(x) = [ y = Tanh(x) ]\n]\n" % n for n in range(3)
    }
    for count in (2, 3):
        names = "+".join(f"m{n}.ndl" for n in range(count))
        first = (
            'command = T\nT = { action = "train" ; modelPath = "m" ; SGD = { maxEpochs = 1 }\n'
            f'NDLNetworkBuilder = {{ networkDescription = "n.ndl" ; ndlMacros = "{names}" }} }}\n'
        )
        workspace = Workspace(
            "first",
            GivenFiles({"first": first.encode(), "n.ndl": network, **macros}),
            (Run(("first",)),),
        )
        found = diagnostics_of("cntk", first.encode(), workspace)
        refused = [one.message for one in found if "together" in one.message]
        assert bool(refused) == (count == 3), [one.message for one in found]
        assert all(".ndl" in one and str(CNTK_WORDS) in one for one in refused)


@pytest.mark.parametrize(
    ("data", "why"),
    [(b"[\n" * (OPEN_BRACKETS.most + 1), OPEN_BRACKETS), (LONG * 3, CNTK_WORDS)],
)
def test_a_file_that_is_not_read_alone_is_not_read_where_it_is_included(
    data: bytes, why: object
) -> None:
    files = {"first": b"include 'deep.bs'\n", "deep.bs": data}
    (message,) = reported("brainscript", files, "BS066")
    assert "deep.bs" in message
    assert str(why) in message
    assert reported("brainscript", files, "BS018") == []


@pytest.mark.parametrize(
    ("data", "limit"),
    [(b"#" * (SETTINGS_BYTES.most + 1), SETTINGS_BYTES), (b"a" + b".a" * 300, KEY_PARTS)],
)
def test_settings_of_a_size_that_no_one_writes_are_refused(
    data: bytes, limit: object, tmp_path_factory: pytest.TempPathFactory
) -> None:
    file = tmp_path_factory.mktemp("settings") / "netsharp.toml"
    file.write_bytes(data)
    with pytest.raises(SettingsError, match=str(limit)):
        read_settings(str(file))


@pytest.mark.parametrize(
    ("data", "limit"),
    [
        (b"#" * (SETTINGS_BYTES.most + 1), SETTINGS_BYTES),
        (b"a" + b".a" * 300 + b" = 1", KEY_PARTS),
        (b"a = {b" + b".b" * 300, KEY_PARTS),
    ],
)
def test_run_files_are_bounded_as_settings_are(
    data: bytes, limit: object, tmp_path_factory: pytest.TempPathFactory
) -> None:
    file = tmp_path_factory.mktemp("run") / "a.toml"
    file.write_bytes(data)
    assert str(limit) in str(read_run_file(str(file)))


def test_a_run_file_may_name_many_files_on_one_line(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    file = tmp_path_factory.mktemp("run") / "a.toml"
    named = [f"part{number}.csv" for number in range(500)]
    file.write_text(f"[data]\ntrain = {named}\n")
    found = read_run_file(str(file))
    assert not isinstance(found, str)
    assert found.data["train"] == named


def test_a_specification_that_no_memory_holds_is_refused(
    tmp_path_factory: pytest.TempPathFactory, capsys: pytest.CaptureFixture[str]
) -> None:
    from netsharp_lsp.__main__ import main

    file = tmp_path_factory.mktemp("large") / "large.nn"
    with file.open("wb") as stream:
        stream.truncate(SPECIFICATION_BYTES.most + 1)
    assert main(["check", str(file)]) == 2
    assert str(SPECIFICATION_BYTES) in capsys.readouterr().err
