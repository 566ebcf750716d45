"""Files in memory, and configurations of our own that laws run over."""

from __future__ import annotations

from pathlib import Path

from netsharp_lsp.cntk.configuration.meaning.configuration import Configuration, resolve

TYPE_CHECKING = False
if TYPE_CHECKING:
    from netsharp_lsp.workspace import Count, Counted

CORPUS = Path(__file__).parents[1] / "corpus" / "cntk"


class Memory:
    """Files by their path."""

    def __init__(self, files: dict[str, bytes]) -> None:
        self.files = files

    def read(self, path: str) -> bytes | None:
        return self.files.get(path)

    def counted(self, path: str, count: Count[Counted]) -> Counted | None:
        data = self.read(path)
        return None if data is None else count((data,))

    def exists(self, path: str) -> bool:
        return path in self.files or any(name.startswith(f"{path}/") for name in self.files)

    def kind(self, path: str) -> str | None:
        if path in self.files:
            return "file"
        return "folder" if self.exists(path) else None

    def locate(self, path: str) -> str:
        return path

    def outside(self, path: str) -> bool:
        return path.startswith(("/", "../"))


def configuration(text: str, *more: str, **files: str) -> Configuration:
    """A text as `a.cntk`, further items after it, and other files by their stem."""
    held = {f"{stem}.cntk": content.encode() for stem, content in files.items()}
    return resolve(["a.cntk", *more], Memory({"a.cntk": text.encode(), **held}))


def shown(resolved: Configuration) -> dict[str, str | None]:
    """Every path with its value."""
    return {value.path: value.value for value in resolved.values()}


def kinds(resolved: Configuration) -> list[str]:
    """The kinds of the faults, after everything was looked up."""
    resolved.values()
    return [fault.kind for fault in resolved.faults]


#: Complete configurations, each with something of its own.
TEXTS = {
    "digits": """\
# Two commands and a network beside them.
command = Train:Test   # in this order
RunDir = "out"
modelPath = "$RunDir$/models/digits.dnn"
deviceId = -1
Train = {
    action = "train"
    BrainScriptNetworkBuilder = {
        h = Sigmoid (W * features + b)  # layer
        W = Parameter (10, 784)
        b = Parameter (10, 1)
        features = Input {784} ; z = h
    }
    SGD = {
        minibatchSize = 128:256*3:1024
        learningRatesPerSample = 0.01*5:0.005
        maxEpochs = 8
        AutoAdjust = { autoAdjustMinibatch = true ; loadBestModel }
    }
    reader = {
        readerType = "CNTKTextFormatReader" ; file = "$RunDir$/train.txt"
        input = {
            features = { dim = 784 ; format = "dense" }
            labels   = { dim = 10 ; format = "dense" }
        }
    }
}
Test = { action = "test" ; reader = { file = "test.txt" ; randomize = false } }
""",
    "sections": """\
command = speechTrain
ndlMacros = "$Lib$/macros.ndl"
Lib = lib
speechTrain = [
    action = train
    NDLNetworkBuilder = [
        run = network
    ]
    SGD = [ maxEpochs=2, epochSize=100 ]
]
network = [
    FF(x, R, C) = [
        W = Parameter(R, C, init="uniform") ; b = Parameter(R, 1)
        T = Times(W, x)
        P = Plus(T, b)
    ]
    f = Input(20) ; l = Input(3)
    L1 = FF(f, 3, 20)
    ce = CrossEntropyWithSoftmax(l, L1)
    FeatureNodes = (f) ; criteriaNodes = (ce)
]
""",
    "words": """\
command = write
write = [
    action = "write"
    inputs = (;c:\\a;d:\\b)
    names = (a:b:(c:d))
    empty = ""
    path = "..\\up:$HOME_DIR$"
    v=1#INF # kept
    flagged
    format = [ prologue = "[" ; epilogue = "]" ]
]
]
""",
    "deep": "a = [ b = { c = [ d = ( 1 : 2 ) ] } ]\nx = 1, y = 2; z\n",
    "empty": "",
    "comments": "# one\n   # two\n\n",
}


def corpus() -> dict[str, bytes]:
    """Our texts, and the files of the shared corpus where there are some."""
    found = {name: text.encode() for name, text in TEXTS.items()}
    for path in sorted(CORPUS.rglob("*.cntk")) if CORPUS.is_dir() else ():
        found[str(path.relative_to(CORPUS))] = path.read_bytes()
    return found
