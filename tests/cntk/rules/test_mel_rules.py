"""The rules on edits in MEL beyond their pages: what is known of models, what is not reported."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from netsharp_lsp.cntk.checking.check import diagnostics_by_file
from netsharp_lsp.cntk.run.experiment import Experiment, SingleFile
from netsharp_lsp.workspace import Run
from tests.cntk.collection import FILES
from tests.cntk.layered import LAYER, NETWORK
from tests.cntk.texts import Memory
from tests.costs import within

#: More CPU time than any text here takes.
CPU_SECONDS = 2
#: A network with one hidden layer of NDL, and edits that add layers to it one by one.
CONFIGURATION = """\
command = Train1:Add2:Train2:Add3:Last
ndlMacros = "macros.ndl"
Train1 = [
    action = train
    modelPath = "one/net"
    NDLNetworkBuilder = [ networkDescription = "net.ndl" ]
]
Add2 = [
    action = edit ; currLayer = 1 ; newLayer = 2
    currModel = "one/net" ; newModel = "two/net.0" ; editPath = "add.mel"
]
Train2 = [
    action = train
    modelPath = "two/net"
    NDLNetworkBuilder = [ networkDescription = "net.ndl" ]
]
Add3 = [
    action = edit ; currLayer = 2 ; newLayer = 3
    currModel = "two/net" ; newModel = "three/net.0" ; editPath = "add.mel"
]
Last = [ action = edit ; editPath = "last.mel" ]
"""
MACROS = f"""\
{LAYER}Stack(in2, dim) = [
    first = Layer(in2, dim, dim)
    second = Layer(first.y, dim, dim)
]
"""
ADD = """\
m = LoadModel("$currModel$", format=cntk)
SetDefaultModel(m)
H$newLayer$ = Layer(H$currLayer$.y, 8, 8)
SetInput(z, 1, H$newLayer$.y)
SaveModel(m, "$newModel$")
"""
LOADED = 'm = LoadModel("{}")\n'
SAVED = 'SaveModel(m, "new")\n'


def files_of(last: str, add: str = ADD) -> dict[str, str]:
    """The files of the run."""
    return {
        "a.cntk": CONFIGURATION,
        "macros.ndl": MACROS,
        "net.ndl": NETWORK,
        "add.mel": add,
        "last.mel": last,
        # Matrices for the weights of the last layer, which has two rows of eight.
        "fits.txt": "1 2 3 4 5 6 7 8\n" * 2,
        "odd.txt": "1 2 3\n" * 2,
        "ragged.txt": "1 2 3 4 5 6 7 8\n1\n",
    }


def reported(last: str, add: str = ADD) -> list[tuple[str, str, str]]:
    """The codes, places and messages of the last edit and of the one that adds layers."""
    files = files_of(last, add)
    memory = Memory({name: text.encode() for name, text in files.items()})
    experiment = Experiment(Run(("configFile=a.cntk",), declared=False), memory)
    found = diagnostics_by_file(experiment)
    return [
        (one.code, files[name].encode()[one.start : one.end].decode(), one.message)
        for name in ("add.mel", "last.mel")
        for one in found.get(name, ())
        if one.code.startswith(("ME", "ND"))
    ]


def codes(last: str, add: str = ADD) -> list[tuple[str, str]]:
    return [(code, place) for code, place, _ in reported(last, add)]


def alone(text: str) -> list[tuple[str, str]]:
    files = Memory({"a.mel": text.encode()})
    found = diagnostics_by_file(SingleFile("a.mel", "mel", files)).get("a.mel", [])
    data = text.encode()
    own = [one for one in found if one.code.startswith(("ME", "ND"))]
    return [(one.code, data[one.start : one.end].decode()) for one in own]


def test_nothing_is_reported_of_nodes_that_a_faulty_builder_did_not_come_to() -> None:
    files = {
        "a.cntk": """command = Train:Edit
Train = {
    action = "train" ; modelPath = "m"
    BrainScriptNetworkBuilder = { x = Input {3} ; z = Sigmoid (y) }
}
Edit = { action = "edit" ; editPath = "a.mel" }
""",
        "a.mel": LOADED.format("m") + "SetProperty(m.z, output, true)\n" + SAVED,
    }
    memory = Memory({name: text.encode() for name, text in files.items()})
    experiment = Experiment(Run(("configFile=a.cntk",), declared=False), memory)
    found = diagnostics_by_file(experiment)
    assert "BS020" in [one.code for one in found["a.cntk"]]
    assert found.get("a.mel", []) == []


def test_nothing_is_reported_of_nodes_that_come_from_a_saved_model() -> None:
    files = {
        "a.cntk": """command = Train:Edit
Train = {
    action = "train" ; modelPath = "m"
    BrainScriptNetworkBuilder = {
        old = BS.Network.Load ("saved") ; z = Sigmoid (old.h) ; featureNodes = old.x
        criterionNodes = z
    }
}
Edit = { action = "edit" ; editPath = "a.mel" }
""",
        "a.mel": LOADED.format("m") + "SetProperty(m.h, output, true)\n" + SAVED,
    }
    memory = Memory({name: text.encode() for name, text in files.items()})
    experiment = Experiment(Run(("configFile=a.cntk",), declared=False), memory)
    assert diagnostics_by_file(experiment).get("a.mel", []) == []


def test_edits_go_from_command_to_command() -> None:
    everything = LOADED.format("three/net.0")
    for name in ("H1.W", "h2.y", "H3.p", "H2.W", "z", "CE"):
        everything += f"SetProperty({name}, output, true)\n"
    assert codes(everything + SAVED) == []


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("SetProperty(H4.y, output, true)", ("ME010", "H4.y")),
        ("SetProperty(H1, output, true)", ("ME010", "H1")),
        ("SetProperty(H3.*, output, true)", None),
        ("SetProperty(h3.*, output, true)", ("ME011", "h3.*")),
        ("SetProperty(H*.y, output, true)", None),
        ("SetProperty(H*.*y, output, true)", ("ME011", "H*.*y")),
        ("SetProperty(m.z, output, true)", None),
        ("SetProperty(m, output, true)", None),
        ("SetInput(z, 1, H2.y)", None),
        ("SetInput(z, 2, H2.y)", ("ME015", "2")),
        ("SetInput(z, -1, H2.y)", ("ME015", "-1")),
        ("SetInput(z, 1, H*.y)", ("ME026", "H*.y")),
        ("SetInput(H*.t, 1, H1.y)", None),
        ("SetInputs(ce, labels, z)", None),
        ("SetInputs(ce, labels, z, x)", ("ME015", "SetInputs(ce, labels, z, x)")),
        ("SetInputs(H1.y, H1.p)", None),
        ("Rename(H1*, F1*)", None),
        ("Rename(H1*, H2*)", ("ME023", "H2*")),
        ("Rename(z, Z)", ("ME023", "Z")),
        ("Copy(z, z)", ("ME023", "z")),
        ("Copy(z, z2)", ("ME031", "Copy(z, z2)")),
        ("Copy(z, z2)\nSetInputs(z2, W, H3.y)", None),
        ("Copy(H1.W, *.W)", ("ME023", "*.W")),
        ("Copy(H1.W, *.V)", ("ME011", "*.V")),
        ("SetProperty(H1.W, freezeParameters, true)", None),
        ("SetProperty(H1.t, freezeParameters, true)", ("ME028", "freezeParameters")),
        ("SetProperty(H1.*, learningRateMultiplier, 0)", None),
        ("SetProperty(H1.t, learningRateMultiplier, 0)", ("ME027", "learningRateMultiplier")),
        ("SetProperty(H1.W, learningRateMultiplier, -1)", ("ME014", "-1")),
        ("SetProperty(H1.W, learningRateMultiplier, 0.5)", None),
        ("SetProperty(z, recurrent, true)", ("ME027", "recurrent")),
        ("ReviseParameter(z, w.txt)", ("ME027", "z")),
        ("ReviseParameter(W, w.txt)", None),
        ("ReviseParameter(W, fits.txt)", None),
        ("ReviseParameter(W, $Dir$/odd.txt)", None),
        ("ReviseParameter(W, odd.txt)", ("ME032", "odd.txt")),
        ('ReviseParameter(W, "ragged.txt")', ("ME032", "ragged.txt")),
        ("Rename(W, V)\nReviseParameter(V, odd.txt)", ("ME032", "odd.txt")),
        ("e = ClassificationError(labels, z)", None),
        ("e = ClassificationError(lables, z)", ("ME010", "lables")),
        ("e = ClassificationError(labels, z, tag=evaluation)", None),
        ("e = ClassificationEror(labels, z)", ("ND002", "ClassificationEror")),
        ("e = Times(W, H3.y, ini=uniform)", ("ND020", "ini")),
        ("e = Times(Parameter(2, 8), H3.y)", ("ND041", "Parameter(2, 8)")),
        ("mean = Mean(x)", ("ND004", "mean")),
        ("e = Times(W)", ("ND008", "Times(W)")),
        ("L = Layer(x, 8)", ("ND009", "Layer(x, 8)")),
        ("V = Parameter(2, 8, init=guassian)", ("ND015", "init=guassian")),
        ("c = Constant(-1)", ("ND037", "-")),
        ("S = Stack(H3.y, 8)\nSetInput(z, 1, S.second.y)", None),
        ("S = Stack(H3.y, 8)\nSetInput(z, 1, S.third.y)", ("ME010", "S.third.y")),
        (
            'n = LoadModel("one/net")\nSetInput(m.z, 1, n.H1.y)',
            (
                "ME025",
                "SetInput(m.z, 1, n.H1.y)",
            ),
        ),
        (
            'n = LoadModel("one/net")\nCopy(n.H1.*, m.K1.*)\nSetInput(z, 1, K1.y)',
            ("ME031", "Copy(n.H1.*, m.K1.*)"),
        ),
        (
            'n = LoadModel("one/net")\nCopy(n.H1.*, m.K1.*)\nSetInput(z, 1, K1.y)\n'
            "SetInput(K1.t, 1, x)",
            None,
        ),
        ('n = LoadModel("one/net.7")\nDump(n, all.txt)', None),
        ('n = LoadModel("four/net")\nDump(n, all.txt)', ("ME016", "four/net")),
        ("DeleteNode(H3.W)\nSetProperty(H3.W, output, true)", ("ME010", "H3.W")),
        ('UnloadModel(m)\nm = LoadModel("one/net")', None),
    ],
)
def test_what_the_run_knows_of_nodes(line: str, expected: tuple[str, str] | None) -> None:
    found = codes(f"{LOADED.format('three/net.0')}{line}\n{SAVED}")
    assert found == ([] if expected is None else [expected])


def test_a_fault_of_an_edit_is_reported_for_each_command_that_has_it() -> None:
    wrong = ADD.replace("H$currLayer$.y", "K$currLayer$.y")
    found = reported(LOADED.format("three/net.0") + SAVED, wrong)
    assert [(code, place) for code, place, _ in found] == [("ME010", "K$currLayer$.y")] * 2
    assert "'K1.y'" in found[0][2]
    assert "'K2.y'" in found[1][2]


def test_members_of_a_macro_are_named() -> None:
    ((_, _, message),) = reported(f"{LOADED.format('one/net')}SetInput(z, 1, H1)\n{SAVED}")
    assert "'H1': the command 'Train1' writes the model" in message
    assert "H1.W, H1.b, H1.t, H1.p, H1.y" in message


def test_a_model_of_a_command_that_runs_later_is_no_missing_file() -> None:
    text = CONFIGURATION.replace("command = Train1:Add2:Train2:Add3:Last", "command = Last")
    files = {**files_of(f"{LOADED.format('one/net')}SetProperty(q, output, true)\n{SAVED}")}
    files["a.cntk"] = text
    memory = Memory({name: content.encode() for name, content in files.items()})
    found = diagnostics_by_file(Experiment(Run(("configFile=a.cntk",), declared=False), memory))
    assert [one for one in found.get("last.mel", ()) if one.code == "ME016"] == []


def test_nothing_follows_from_one_fault() -> None:
    text = "SetProperty(z, output, true)\n" + LOADED.format("nowhere") + SAVED
    assert codes(text) == [("ME007", "z"), ("ME016", "nowhere")]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("m = LoadModel(a)\nSetProperty(anything, output, true)\nSaveModel(m, b)", []),
        ("m = LoadModel(a)\nUnloadModel(m)\nSaveModel(m, b)", [("ME008", "m")]),
        ("m = LoadModel(a)\nUnloadModel(n)", [("ME008", "n")]),
        ("m = LoadModel(a)\nUnloadModel(m)\nh = 3", [("ME007", "h")]),
        ("LoadModel(a)\nSaveDefaultModel(b)", []),
        ("LoadModel(a)\nSetDefaultModel(default)\nSaveDefaultModel(b)", []),
        ("m = CreateModel()\nx = Input(2)\nh = Tanh(x)\nSaveModel(m, b)", []),
        ("m = CreateModel()\nx = Input(2)\nh = Tanh(y)\nSaveModel(m, b)", [("ME010", "y")]),
        ("m = CreateModel(a)\nSaveDefaultModel(b)", [("ME003", "(a)"), ("ME007", "b")]),
        ("m = [ x = Input(2) ; h = Tanh(x) ]\nRename(h, h2)\nSaveModel(m, b)", []),
        ("m = [ x = Input(2) ]\nRename(h, h2)\nSaveModel(m, b)", [("ME010", "h")]),
        ("m = LoadModel($a$)\nSetInput($b$, 1, c)\nSaveModel(m, $d$, format=$e$)", []),
        ("m = LoadModel(a)\nSaveModel(m, b, fromat=cntk)", [("ME005", "fromat")]),
        ("m = LoadModel(a)\nSaveModel(m, b, form=cn)", []),
        (
            "m = LoadModel(a)\nSaveModel(m, b, format=cntk, 3)",
            [("ME003", "(m, b, format=cntk, 3)")],
        ),
        ("m = LoadModel(a)\nSave(m, b)", [("ME002", "Save")]),
        ("m = LoadModel(a)\nSaveM(m, b)", [("ME002", "SaveM")]),
        ("m = Load(a)\nDump(m, b)", [("ME002", "Load")]),
        ("m = LoadModl(a)\nDump(m, b)", [("ME001", "LoadModl")]),
        ("m = LoadModel(a)\nDump(m, b) // done", [("ND055", "//")]),
    ],
)
def test_files_alone(text: str, expected: list[tuple[str, str]]) -> None:
    assert alone(text) == expected


#: The codes in the texts of the collection, which are not meant to be run.
COLLECTION = {
    "mel/add_layer.mel": [],
    "mel/bare.mel": ["ME007"],
    "mel/copy.mel": ["ME025", "ME025"],
    "mel/dump.mel": [],
    "mel/properties.mel": ["ME013", "ME013", "ME020"],
    "mel/quantities.mel": [],
    "mel/snippet.mel": ["ME009", "ME003"],
}
TEXTS = [file for file in FILES if file.id == "mel"]


@pytest.mark.parametrize("file", TEXTS, ids=lambda file: file.name)
def test_the_collection(file: object) -> None:
    name, data = file.name, file.data  # type: ignore[attr-defined]
    found = diagnostics_by_file(SingleFile("a.mel", "mel", Memory({"a.mel": data})))
    given = [one.code for one in found.get("a.mel", ()) if one.code.startswith("ME")]
    assert given == COLLECTION.get(name, given if "broken" in name else None)


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_whatever_an_edit_does_to_a_text_it_is_checked(data: st.DataObject) -> None:
    file = data.draw(st.sampled_from(TEXTS))
    text = file.data
    for _ in range(data.draw(st.integers(1, 3))):
        start = data.draw(st.integers(0, len(text)))
        end = data.draw(st.integers(start, min(len(text), start + 12)))
        new = data.draw(
            st.sampled_from((b"", b"(", b")", b"*", b"=", b"m", b",", b'"', b"\n", b"["))
        )
        text = text[:start] + new + text[end:]
    found = within(
        CPU_SECONDS,
        lambda: diagnostics_by_file(SingleFile("a.mel", "mel", Memory({"a.mel": text}))),
    )
    for one in found.get("a.mel", ()):
        assert 0 <= one.start <= one.end <= len(text)


@pytest.mark.costly
@settings(max_examples=80, deadline=None)
@given(st.data())
def test_whatever_is_done_to_the_files_of_a_run_it_is_checked(data: st.DataObject) -> None:
    everything = "CopySubTree(ce, m, k)\nDelete(H1.*)\nt = [ q = Input(3) ; r = Tanh(q) ]\n"
    files = files_of(f"{LOADED.format('three/net.0')}{everything}{SAVED}")
    name = data.draw(st.sampled_from(sorted(files)))
    text = files[name]
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, min(len(text), start + 12)))
    new = data.draw(st.sampled_from(("", "(", ")", "*", "=", "m", ",", '"', "\n", "[", "$a$", ".")))
    files[name] = text[:start] + new + text[end:]
    held = {file: content.encode() for file, content in files.items()}
    run = Run(("configFile=a.cntk",))
    found = within(CPU_SECONDS, lambda: diagnostics_by_file(Experiment(run, Memory(held))))
    for file, diagnostics in found.items():
        for one in diagnostics:
            assert 0 <= one.start <= one.end <= len(held.get(file, b"")) or file not in held
