"""The rules on NDL beyond their pages: what follows from nothing else, and what is not reported."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from netsharp_lsp.cntk.checking.check import diagnostics_by_file
from netsharp_lsp.cntk.ndl.functions import FUNCTIONS
from netsharp_lsp.cntk.rules import RULES
from netsharp_lsp.cntk.rules.ndl.faults import ELSEWHERE, KINDS
from netsharp_lsp.cntk.run.experiment import Experiment, SingleFile
from netsharp_lsp.diagnostics.model import Diagnostic
from netsharp_lsp.workspace import Run
from tests.cntk.collection import FILES, CntkFile
from tests.cntk.texts import Memory
from tests.costs import within

#: More CPU time than any text here takes.
CPU_SECONDS = 2
BUILDER = "command = T\nT = [ action = train ; NDLNetworkBuilder = [\n{}\n] ]\n"
LAYER = "Layer(in1, rows, cols) = [\n W = Parameter(rows, cols)\n h = Times(W, in1)\n]\n"
X = "x = Input(2, tag=feature)\n"


def own(found: dict[str, list[Diagnostic]], name: str) -> list[Diagnostic]:
    return [one for one in found.get(name, ()) if one.code.startswith("ND")]


def alone(text: str) -> list[tuple[str, str]]:
    data = text.encode()
    found = diagnostics_by_file(SingleFile("a.ndl", "ndl", Memory({"a.ndl": data})))
    return [(one.code, data[one.start : one.end].decode()) for one in own(found, "a.ndl")]


def run(builder: str, **files: str) -> list[tuple[str, str, str]]:
    """Code, file and marked text of everything about a configuration's network."""
    texts = {f"{stem}.ndl": text.encode() for stem, text in files.items()}
    texts["a.cntk"] = BUILDER.format(builder).encode()
    experiment = Experiment(Run(("configFile=a.cntk",)), Memory(texts))
    found = diagnostics_by_file(experiment)
    return [
        (one.code, name, texts[name][one.start : one.end].decode())
        for name in sorted(texts)
        for one in own(found, name)
        if one.code != "ND001"
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("h = Tanh(x)\n", []),
        ("h = tanh(X)\n", [("ND030", "X")]),
        ("h = Tanh(x) g = Exp(h), f = Log(g) ; e = Abs(f)\n", []),
        ("W = Parameter(3, 2, INIT=Gaussian)\nh = Times(W, x)\n", []),
        (
            "W = Parameter(3, 2, init=normal, inti=2)\nh = Times(W, x)\n",
            [
                ("ND015", "init=normal"),
                ("ND020", "inti"),
            ],
        ),
        (
            "h = PastValue(2, x, defaultHiddenActivation=0.1)\n",
            [
                ("ND020", "defaultHiddenActivation"),
            ],
        ),
        (
            "h = ClassificationError(x, x, x, x)\n",
            [
                ("ND008", "ClassificationError(x, x, x, x)"),
            ],
        ),
        ("h = Tanh(Tanh(Tahn(x)))\n", [("ND002", "Tahn")]),
        ("h = Slice(0, 1, x)\n", [("ND002", "Slice")]),
        ("f = .5\nh = RowRepeat(x, f)\n", [("ND012", "f")]),
        ("c = Constant(-1)\nh = Plus(c, x)\n", [("ND037", "-")]),
        ("c = Constant( -1)\nh = Plus(c, x)\n", []),
        ("c = RowStack(:x:x)\n", []),
        (
            "e = SumElements(x, tag=eval) e2 = SumElements(x, tag=evalNodes)\n",
            [
                ("ND024", "eval"),
                ("ND024", "evalNodes"),
            ],
        ),
        ("e = SumElements(x, tag=multiSeq)\n", [("ND024", "multiSeq")]),
        ("e = SumElements(x, tag=labels)\n", [("ND025", "labels")]),
        ("e = SumElements(x)\ncriterionNode = (e)\n", [("ND028", "criterionNode")]),
        ("e = SumElements(x)\nCriteriaNodes = (e)\n", []),
        ("e = SumElements(x)\nmyNodes = (e)\n", []),
        ("featLabels = Input(1, tag=label)\n", []),
        ("labelled = Input(1, tag=feature)\n", [("ND029", "feature")]),
        ("n = 3\nm = n\nW = Parameter(m, 2)\nh = Times(W, x)\n", []),
        (f"{LAYER}L = Layer(x, 3, 2)\nt = Tanh(L)\n", []),
        (f"{LAYER}L = Layer(x, 3, 2, tag=output)\n", []),
        (
            f"{LAYER}L = Layer(x, 3, cols=2)\n",
            [
                ("ND009", "Layer(x, 3, cols=2)"),
            ],
        ),
        (f"{LAYER}L = Layer(x, 3, 2, 1)\n", [("ND009", "Layer(x, 3, 2, 1)")]),
        (f"{LAYER}layer = Layer(x, 3, 2)\nk = Layer(layer, 3, 3)\n", [("ND038", "Layer")]),
        (f"{LAYER}L = Layer(x, 3, 2)\nt = Tanh(L.Q)\n", [("ND019", "L.Q")]),
        (f"{LAYER}L = Layer(x, 3, 2)\nt = Tanh(L.w)\n", []),
        ("h = Tanh(y)\n", [("ND006", "y")]),
        ("h = Tanh(x\n", [("ND057", "(")]),
        ("h = Tanh(x) // top\n", [("ND055", "//")]),
        ("if = Tanh(x)\n", [("ND004", "if")]),
        ("then = Tanh(x)\n", [("ND035", "then")]),
        ("IF = Tanh(x)\n", [("ND004", "IF")]),
    ],
)
def test_one_cause_is_reported_once(text: str, expected: list[tuple[str, str]]) -> None:
    assert alone(X + text) == expected


def test_an_unknown_name_is_more_severe_where_the_run_is_known() -> None:
    text = f"{X}h = Tanh(y)\ng = Tahn(x)\n"
    data = text.encode()
    single = diagnostics_by_file(SingleFile("n.ndl", "ndl", Memory({"n.ndl": data})))
    assert {one.severity for one in own(single, "n.ndl")} == {"hint"}
    found = run('networkDescription = "n.ndl"', n=text)
    assert found == [("ND006", "n.ndl", "y"), ("ND002", "n.ndl", "Tahn")]


def test_sections_share_their_variables_and_files_of_macros_do_not() -> None:
    text = (
        "load = sizes\nrun = net\nsizes = [ rows = 3 ; spare = 4 ]\n"
        f"net = [\n {X} W = Parameter(rows, 2)\n h = Twice(Times(W, x))\n]\n"
    )
    macros = "limit = 7\nTwice(in1) = [ h = Plus(in1, in1) ]\n"
    found = run('ndlMacros = "m.ndl"\nnetworkDescription = "n.ndl"', n=text, m=macros)
    assert found == [("ND031", "n.ndl", "spare"), ("ND040", "n.ndl", "Times(W, x)")]


def test_an_inline_network_is_marked_in_the_configuration() -> None:
    found = run(f"run = net\nnet = [\n{X}h = Tahn(x)\n]")
    assert found == [("ND002", "a.cntk", "Tahn")]


def test_what_a_variable_gives_is_not_repaired() -> None:
    texts = {
        "a.cntk": ("F = Tahn\n" + BUILDER.format('networkDescription = "n.ndl"')).encode(),
        "n.ndl": f"{X}h = $F$(x)\n".encode(),
    }
    found = diagnostics_by_file(Experiment(Run(("configFile=a.cntk",)), Memory(texts)))
    fixes = [(one.code, one.fix) for one in own(found, "n.ndl") if one.code == "ND002"]
    assert [code for code, _ in fixes] == ["ND002"]
    assert all(fix is None or fix.edits[0].text == "Tanh" for _, fix in fixes)


def test_deprecation_is_reported_once_for_each_builder() -> None:
    text = BUILDER.format("run = net\nnet = [ x = Input(2, tag=feature) h = Tanh(x) ]")
    text = text.replace("command = T", "command = T:U") + text.partition("\n")[2].replace(
        "T =", "U ="
    )
    found = diagnostics_by_file(
        Experiment(Run(("configFile=a.cntk",)), Memory({"a.cntk": text.encode()}))
    )
    assert [one.code for one in own(found, "a.cntk")].count("ND001") == 2


def test_every_kind_of_fault_has_a_code_or_is_reported_elsewhere() -> None:
    RULES.load()
    assert not ELSEWHERE & KINDS.keys()
    assert dict(KINDS.values()).items() <= RULES.severities.items()


#: Errors and warnings in the texts of the collection that CNTK could run.
COLLECTION = {
    "ndl/attention_pool.ndl": ["ND007", "ND041", "ND041"],
    "ndl/load_run.ndl": [],
    "ndl/macro_of_macros.ndl": ["ND039", "ND040"],
    "ndl/nested_calls.ndl": ["ND041"] * 4,
    "ndl/normalized.ndl": ["ND020", "ND020"],
    "ndl/speech.ndl": ["ND004", "ND059"],
    "ndl/two_layers_by_hand.ndl": ["ND050", "ND050"],
    "ndl/with_defaults.ndl": ["ND009", "ND009", "ND010"],
}
TEXTS = [file for file in FILES if file.id == "ndl"]


@pytest.mark.parametrize("file", TEXTS, ids=lambda file: file.name)
def test_the_collection(file: CntkFile) -> None:
    found = diagnostics_by_file(SingleFile("a.ndl", "ndl", Memory({"a.ndl": file.data})))
    severe = [one.code for one in own(found, "a.ndl") if one.severity in ("error", "warning")]
    if not file.broken:
        assert sorted(set(severe)) == sorted(set(COLLECTION.get(file.name, ())))


@pytest.mark.parametrize("file", TEXTS, ids=lambda file: file.name)
def test_every_fault_of_an_evaluation_is_reported(file: CntkFile) -> None:
    experiment = SingleFile("a.ndl", "ndl", Memory({"a.ndl": file.data}))
    built = experiment.builders.build_file("a.ndl", "ndl", file.data)
    assert {fault.kind for fault in built.faults} <= KINDS.keys() | ELSEWHERE


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_whatever_is_done_to_a_text_it_is_checked(data: st.DataObject) -> None:
    file = data.draw(st.sampled_from(TEXTS))
    text = file.data
    for _ in range(data.draw(st.integers(1, 3))):
        start = data.draw(st.integers(0, len(text)))
        end = data.draw(st.integers(start, min(len(text), start + 12)))
        new = data.draw(
            st.sampled_from((b"", b"(", b")", b"*", b"=", b"x", b",", b'"', b"\n", b"["))
        )
        text = text[:start] + new + text[end:]
    found = within(
        CPU_SECONDS,
        lambda: diagnostics_by_file(SingleFile("a.ndl", "ndl", Memory({"a.ndl": text}))),
    )
    for one in found.get("a.ndl", ()):
        assert 0 <= one.start <= one.end <= len(text)


def test_messages_of_options_name_the_function_in_full() -> None:
    for function in FUNCTIONS.values():
        if function.short:
            calls = alone(f"{X}h = {function.short}(x, qqqqqq=1)\n")
            assert ("ND020", "qqqqqq") in calls, function.name


@pytest.mark.parametrize(
    ("line", "severity", "safe"),
    [("// the top", "error", True), ("// top = Tanh(x)", "warning", False)],
)
def test_what_follows_slashes_may_be_read_as_a_statement(
    line: str, severity: str, safe: bool
) -> None:
    (one,) = [one for one in everything(f"{X}h = Tanh(x)\n{line}\n") if one.code == "ND055"]
    assert one.fix is not None
    assert (one.severity, one.fix.safe) == (severity, safe)


@pytest.mark.parametrize("name", ["a.ndl", "a.mel"])
def test_a_variable_of_a_file_alone_is_reported_once(name: str) -> None:
    text = b"# $comment$\nm = LoadModel($First$)\nx = Input($second$, $FIRST$) # $third$\n"
    found = diagnostics_by_file(SingleFile(name, name[-3:], Memory({name: text})))
    reported = [text[one.start : one.end] for one in found[name] if one.code == "CK019"]
    assert reported == [b"$First$", b"$second$"]


@pytest.mark.parametrize("path", ["//server/w.txt", '"//server/w.txt"', "http://a/w.txt"])
def test_paths_with_slashes_are_no_comments(path: str) -> None:
    text = f"{X}W = Parameter(2, 2, init=fromFile, initFromFilePath={path})\nh = Times(W, x)\n"
    assert "ND055" not in [one.code for one in everything(text)]


@pytest.mark.parametrize(
    ("call", "read"),
    [("Constant(-1)", "Constant(1)"), ("RowSlice(.5, 1, x)", "RowSlice(5, ...)")],
)
def test_what_is_computed_after_a_lost_character_is_reported(call: str, read: str) -> None:
    (one,) = [one for one in everything(f"{X}h = {call}\n") if one.code == "ND037"]
    assert f"read as {read}" in one.message


@pytest.mark.parametrize(
    ("option", "meant"),
    [
        ("init=guassian", "init=gaussian"),
        ("INIT = unifrom", "INIT = uniform"),
        ("initOnCPUOnly=ture", "initOnCPUOnly=true"),
    ],
)
def test_misspelt_values_are_repaired(option: str, meant: str) -> None:
    text = f"{X}W = Parameter(2, 2, {option})\nh = Times(W, x)\n"
    (one,) = [one for one in everything(text) if one.code == "ND015"]
    assert one.fix is not None
    assert [edit.text for edit in one.fix.edits] == [meant]


def everything(text: str) -> list[Diagnostic]:
    data = text.encode()
    return own(diagnostics_by_file(SingleFile("a.ndl", "ndl", Memory({"a.ndl": data}))), "a.ndl")


def test_an_unknown_macro_of_a_file_alone_is_reported_once_and_not_repaired_unasked() -> None:
    found = everything(f"{LAYER}{X}a = Layers(x, 3, 2)\nb = Layers(a, 3, 3)\n")
    unknown = [one for one in found if one.code == "ND002"]
    assert [one.severity for one in unknown] == ["hint"]
    assert unknown[0].fix is not None
    assert not unknown[0].fix.safe


@pytest.mark.parametrize(
    ("text", "code", "note"),
    [
        (f"{X}w = Tanh(x)\nW = Exp(x)\n", "ND005", "'w' gets its value here."),
        (f"{LAYER}{LAYER}{X}h = Tanh(x)\n", "ND005", "The macro 'Layer' is defined here."),
        (f"{X}h = Layer(x, 3, 2)\n{LAYER}", "ND002", "The macro 'Layer' is defined here."),
        (f"{LAYER}{X}h = Layer(x)\n", "ND009", "The macro 'Layer' is defined here."),
        (f"{LAYER}{X}L = Layer(x, 3, 2)\nt = Tanh(L.Q)\n", "ND019", "The macro 'Layer' is defined"),
        (
            f"{X}h = Tanh(x, tag=output) W = Parameter(2, 2, init=uniform, init=uniform)\n",
            "ND022",
            "It is given here first.",
        ),
    ],
)
def test_places_that_belong_to_a_fault_are_shown(text: str, code: str, note: str) -> None:
    (one,) = [one for one in everything(text) if one.code == code]
    assert [related.message for related in one.related if note in related.message] != []


def test_the_way_into_a_macro_is_shown() -> None:
    found = everything(f"Bad(in1) = [\n h = Tanh(missing)\n]\n{X}b = Bad(x)\n")
    (one,) = [one for one in found if one.code == "ND006"]
    assert [related.message for related in one.related] == ["It is called from here."]
