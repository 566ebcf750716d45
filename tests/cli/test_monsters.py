"""Numbers of thousands of digits and shapes of thousands of dimensions, wherever one is read.

Each place gets each: the answer is a finding, a figure or a sentence, in bounded CPU time.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from netsharp_lsp.__main__ import main
from netsharp_lsp.text.numbers import BEYOND, whole_number
from tests.costs import within

# Each takes seconds, or a process of its own.
pytestmark = pytest.mark.costly

NUMBERS = {
    "digits": "9" * 5000,
    "zeros": "0" * 5000 + "1",
    "negative": "-" + "9" * 5000,
    "fraction": "0." + "9" * 5000,
    "infinite": "1e999",
    "exponent": "1e" + "9" * 5000,
    "hexadecimal": "0x" + "f" * 5000,
    "nan": "nan",
    "other digits": "٣",
    "superscript": "²",
    "underscore": "1_000",
    "nothing": "-0",
}
NETWORK = "input D [2];\nhidden H [5] sigmoid from D all;\noutput O [2] softmax from H all;\n"
BUILDER = "command=T\nT={ action='train'; modelPath='m'; BrainScriptNetworkBuilder={ %s } }\n"
#: A file and its text, `@` for the number; the other files are around them.
TEXTS = {
    "a.nn": "const X = @ * @ + 2 % @;\ninput A [@, X];\n"
    "output O [2] from A all { Weights=[@]; };\n",
    "b.nn": "input A [8,8];\nhidden H [2,3,3] from A convolve { InputShape=[8,8]; "
    "KernelShape=[@,3]; Stride=[@,2]; MapCount=@; Padding=[@,0]; }\noutput O [2] from H all;\n",
    "c.nn": "input A [30];\nhidden H [30] from A where (s,d) => s[@] % @ == d[0] * @;\n"
    "output O [2] from H all; // netsharp: ignore[NS@]\n",
    "d.cntk": "command=T\nT=[ action=train\n modelPath=m.@\n"
    " SimpleNetworkBuilder=[ layerSizes=@:2*@ ]\n"
    " SGD=[ epochSize=@\n minibatchSize=@:@*@\n learningRatesPerMB=@ ]\n"
    " reader=[ readerType=UCIFastReader\n file=x\n contextWindow=@:@\n"
    " features=[dim=@\n start=@] labels=[start=@\n dim=@\n labelDim=@] ] ]\n",
    "e.cntk": BUILDER % "a=@; b=Input{@}; c=[1..@]; g=a*a-a/a; p=Splice((b:b),axis=@); q=c[@]; "
    "k=Convolution(b,b,(@:@)); n=Slice(@,@,b); o=Reshape(b,@); u=Constant(@); z=o*b; "
    "outputNodes=(z:p:k:n:u)",
    "f.cntk": "command=T\nT=[ action=train\n modelPath=m\n"
    " NDLNetworkBuilder=[ networkDescription=f.ndl ] ]\n",
    "f.ndl": "x=Input(@*@)\nI=ImageInput(@,@,@)\nw=Parameter(@,@,initValueScale=@)\n"
    "C=Convolution(w,I,@,@,@,@,@)\nD=PastValue(@,@,x,timeStep=@)\nt=Times(w,x)\nOutputNodes=(t)\n",
    "g.cntk": "command=T\nT=[ action=edit\n editPath=g.mel ]\n",
    "g.mel": "m=LoadModel(m,format=cntk)\nSetNodeInput(CE, @, L)\nSetNodeInput(*, @, L)\n"
    "SetProperty(x,learningRateMultiplier,@)\nModelParameter(@,@)\n",
    "h.py": 'import netsharp\nn = """\ninput A [@];\n"""\nrx_neural_net(n, num_hidden_nodes=@)\n',
    "i.R": 'n <- "input A [@];"\nrxNeuralNet(netDefinition=n, numHiddenNodes=@)\n',
}
FLAGS = (
    ("check", "ok.nn", "--features=@"),
    ("describe", "ok.nn", "--outputs=@", "--hidden-nodes=@"),
    ("fmt", "--diff", "ok.nn", "--lines=@-@"),
    ("fmt", "--diff", "ok.nn", "--lines=1-@"),
    ("check", "h.py::@"),
    ("config", "a=@:@*@", "--format", "json"),
    ("check", "d.cntk", "--set", "x=@"),
    ("explain", "@"),
    ("run", "ok.nn", "--train", "t.csv", "--label=@", "--epochs=1", "--quiet"),
    ("run", "ok.nn", "--train", "t.csv", "--label=y", "--rows=@", "--epochs=1", "--quiet"),
    ("predict", "none", "--data", "t.csv", "--rows=@"),
    ("describe", "k.cntk", "--log", "log"),
)
SETTINGS = ("features=@\n", "outputs=[@]\n", "[[cntk.run]]\nfiles=['d.cntk']\nset=['a=@']\n")
SHAPES = ("1,", "1000000000000,")
SECONDS = 20


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "ok.nn").write_text(NETWORK)
    rows = "".join(f"0.{number},1,{'pq'[number % 2]}\n" for number in range(20))
    (tmp_path / "t.csv").write_text(f"a,b,y\n{rows}")
    network = "f=Input{2}; z=Tanh(f); outputNodes=(z)"
    (tmp_path / "k.cntk").write_text(BUILDER % network)
    return tmp_path


def ask(capsys: pytest.CaptureFixture[str], *arguments: str) -> None:
    """Run a command in bounded time; what it says is its own words."""
    code = within(SECONDS, lambda: main(list(arguments)))
    output = capsys.readouterr()
    where = [one[:60] for one in arguments]
    assert code in (0, 1, 2), where
    assert "internal error" not in output.err, (where, output.err[-300:])
    assert "invalid " not in output.err, (where, output.err[:200])


@pytest.mark.drawn
@pytest.mark.parametrize("name", NUMBERS)
def test_numbers_in_texts(name: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for file, text in TEXTS.items():
        (folder / file).write_text(text.replace("@", NUMBERS[name]))
    for file in TEXTS:
        ask(capsys, "check", file)
        ask(capsys, "fmt", "--diff", file)
        if not file.endswith(".mel"):
            ask(capsys, "describe", file)
        if file.endswith(".cntk"):
            ask(capsys, "config", file, "--format", "json")
            ask(capsys, "migrate", file)


@pytest.mark.drawn
@pytest.mark.parametrize("name", NUMBERS)
def test_numbers_in_flags_and_settings(
    name: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for file, text in TEXTS.items():
        (folder / file).write_text(text.replace("@", "2"))
    log = (
        "Validating --> f = InputValue() :  -> [@ x *]\nValidating --> z = Tanh (f) : [@] -> [@]\n"
    )
    (folder / "log").write_text(log.replace("@", NUMBERS[name]))
    for flags in FLAGS:
        ask(capsys, *(flag.replace("@", NUMBERS[name]) for flag in flags))
    for text in SETTINGS:
        (folder / "netsharp.toml").write_text(text.replace("@", NUMBERS[name]))
        ask(capsys, "check", "ok.nn", "d.cntk")
    (folder / "netsharp.toml").unlink()
    (folder / "ok.toml").write_text(f"[train]\nhidden_nodes = {NUMBERS[name]}\n")
    ask(capsys, "check", "ok.nn")


@pytest.mark.parametrize("size", SHAPES)
def test_thousands_of_dimensions(
    size: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shape = (size * 5000).rstrip(",")
    parts = shape.replace(",", ":")
    texts = {
        "a.nn": f"input A [{shape}];\noutput O [2] from A all;\n",
        "b.nn": f"input A [{shape}];\nhidden H [{shape}] from A convolve {{ InputShape=[{shape}]; "
        f"KernelShape=[{shape}]; }}\noutput O [2] from H all;\n",
        "a.cntk": BUILDER % f"f=Input{{({parts})}}; z=Tanh(f); W=ParameterTensor{{({parts})}}; "
        "y=W*f; k=KhatriRaoProduct(f,f); l=KhatriRaoProduct(k,k); outputNodes=(z:y:l)",
        "b.cntk": TEXTS["f.cntk"],
        "f.ndl": f"x=Input({shape})\nw=Parameter({shape})\nt=Times(w,x)\nOutputNodes=(t)\n",
    }
    for file, text in texts.items():
        (folder / file).write_text(text)
    for file in texts:
        ask(capsys, "check", file)
        ask(capsys, "describe", file)
        ask(capsys, "describe", file, "--format", "svg")
        ask(capsys, "fmt", "--diff", file)


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("0", 0),
        ("0012", 12),
        ("9" * 18, 10**18 - 1),
        ("1" + "0" * 18, BEYOND),
        ("9" * 5000, BEYOND),
        ("0" * 5000, 0),
        ("", None),
        ("-1", None),
        ("1_0", None),
        ("²", None),
        ("٣", None),
        ("1.0", None),
    ],
)
def test_whole_numbers(text: str, number: int | None) -> None:
    assert whole_number(text) == number
