"""Bombs of CNTK's configurations, with the networks in them."""

from __future__ import annotations

from tests.bounds.bombs import Bomb, of_text, repeated


def _trained_in_turn(n: int) -> bytes:
    """`n` commands, each of which trains a model of its own."""
    names = ":".join(f"C{i}" for i in range(n))
    train = "action = train ; SimpleNetworkBuilder = [ layerSizes = 2:2 ]"
    blocks = "".join(f"C{i} = [ {train} ; modelPath = m{i} ]\n" for i in range(n))
    return f"command = {names}\n{blocks}".encode()


def _read_in_turn(n: int) -> bytes:
    """`n` commands, each of which tests the model of the first."""
    names = ":".join(f"C{i}" for i in range(n))
    train = "C0 = [ action = train ; SimpleNetworkBuilder = [ layerSizes = 2:2 ] ; modelPath = m ]"
    blocks = "".join(f"C{i} = [ action = test ; modelPath = m.{i} ]\n" for i in range(1, n))
    return f"command = {names}\n{train}\n{blocks}".encode()


def _cntk() -> list[Bomb]:
    def of(name: str, unit: str, before: str = "", after: str = "", most: int = 0) -> list[Bomb]:
        return repeated("cntk", name, unit, before, after, most)

    brain = "command = T\nT = [ action = train ; BrainScriptNetworkBuilder = [\n"
    ndl = "command = T\nT = [ action = train ; NDLNetworkBuilder = [ run = N ] ]\nN = [\n"
    return [
        *of("a column of signs", "a   = 1\nbcd = 2  # x\n"),
        *of("columns in turn", "a   = 1\nbc  = 2\nd   = 3\ne     = 4\nf     = 5\ng     = 6\n"),
        *of("columns around brackets", "a   = [\nb  = 1\ncd = 2\ne  = 3\n]\n"),
        *of("columns in brackets", "a   = [\nb   = 1\nbcd = 2\n"),
        *of("elements of a list", "{n}:", "command = T\nT = [ SGD = [ minibatchSize = ", "1 ] ]"),
        *of("repeated elements", "1*2:", "command = T\nT = [ SGD = [ minibatchSize = ", "1 ] ]"),
        *of("one great repetition", "9", "command = T\nT = [ SGD = [ minibatchSize = 1*", " ] ]"),
        *of("variables in a chain", "v{n} = $v{m}$\n", "command = $v0$\n"),
        *of("variables that double", "v{n} = $v{m}$$v{m}$\n", "command = $v0$\n", most=2**16),
        *of("variables of a variable", "$a$", "a = b\nc = "),
        *of("variables of a long one", "$a$", f"a = {'b' * 1000}\nc = "),
        *of("unknown variables", "a{n} = $b{n}$\n"),
        *of(
            "unknown keys", "SGDx{n} = 1\n", "command = T\nT = [ action = train ; SGD = [\n", "] ]"
        ),
        *of("commands", "C{n}:", "command = "),
        *of("commands that are", "C{n} = [ action = train ]\n", "command = C1\n"),
        *of(
            "commands that train",
            "C{n} = [ action = train ; SimpleNetworkBuilder = [ layerSizes = 2:2 ] ]\n"
            "command = C{n}\n",
            "",
        ),
        *of("commands that are unlisted", "C{n} = [ action = train ; SGD = [ a = 1 ] ]\n"),
        *of_text("cntk", "commands that train in turn", _trained_in_turn, 2**13),
        *of_text("cntk", "commands that read in turn", _read_in_turn, 2**13),
        *of("slashes on a line", "a // b ", "command = T\n"),
        *of("slashes on lines", "a // b\n", "command = T\n"),
        *of("signs on lines", "a# #b\n", "command = T\n"),
        *of("blanks behind a sign", " ", "a#", "b"),
        *of("lone closers on a line", "a = [ b ) ] ", "x = (\n"),
        *of("networks that end otherwise", "XNetworkBuilder = [ /* [ */ ]\n", "command = T\n"),
        *of("networks on a line", "BrainScriptNetworkBuilder = [ a = ( ] ; ", "T = [ ", "]"),
        *of("the same key", "key = 1\n"),
        *of("the same section", "A = [ b = 1 ]\n"),
        *of("sections within sections", "a{n} = [\n"),
        *of("closed sections within sections", "a = [", "", "b = 1"),
        *of("a long key", "x", "", " = 1"),
        *of("a long value", "x", "command = T\nT = [ action = ", "]"),
        *of("a long unknown key", "x", "command = T\nT = [ action = train ; SGD = [ ", " = 1 ] ]"),
        *of("a long unknown command", "x", "command = "),
        *of(
            "a long number", "9", "command = T\nT = [ action = train ; SGD = [ maxEpochs = ", " ] ]"
        ),
        *of("a long variable", "x", "a = $", "$"),
        *of("includes of nothing", "include=nothing{n}.cntk\n"),
        *of("includes of itself", "include=bomb.cntk\n", most=2**12),
        *of("nodes in BrainScript", "n{m} = n{n} + 1\n", f"{brain}n0 = Input {{2}}\n", "] ]"),
        *of(
            "layers in BrainScript",
            "n{m} = DenseLayer {2} (n{n})\n",
            f"{brain}n0 = Input {{2}}\n",
            "] ]",
        ),
        *of(
            "nodes beside each other in BrainScript",
            "n{n} = Sigmoid (x)\n",
            f"{brain}x = Input {{2}}\n",
            "] ]",
        ),
        *of("constants in BrainScript", "n{m} = n{n} + 1\n", f"{brain}n0 = 1\n", "] ]"),
        *of("values that double", "n{m} = n{n} + n{n}\n", f"{brain}n0 = Input {{2}}\n", "] ]"),
        *of("arrays that double", "n{m} = (n{n}:n{n})\n", f"{brain}n0 = (1:2)\n", "] ]", 2**12),
        *of("texts that double", "n{m} = n{n} + n{n}\n", f"{brain}n0 = 'x'\n", "] ]", 2**12),
        *of(
            "functions in functions",
            "f{m} (x) = f{n} (f{n} (x))\n",
            f"{brain}x = Input {{2}}\nf0 (x) = x + 1\n",
            "] ]",
            2**12,
        ),
        *of(
            "unknown functions in BrainScript",
            "n{n} = DenseLayr{n} {2} (x)\n",
            f"{brain}x = Input {{2}}\n",
            "] ]",
        ),
        *of(
            "unknown names in BrainScript",
            "n{n} = feture{n} + 1\n",
            f"{brain}features = Input {{2}}\n",
            "] ]",
        ),
        *of("a sum in BrainScript", "x + ", f"{brain}x = Input {{2}}\ny = ", "x ] ]"),
        *of("brackets in BrainScript", "(", f"{brain}x = ", "1 ] ]"),
        *of("records in BrainScript", "[ a = ", f"{brain}x = ", "1 ] ]"),
        *of(
            "loops in BrainScript",
            "n{n} = PastValue (2, n{m}) + x\n",
            f"{brain}x = Input {{2}}\n",
            "] ]",
        ),
        *of(
            "a loop in BrainScript",
            "n{m} = n{n} + 1\n",
            f"{brain}n0 = PastValue (2, last)\n",
            "last = n0 ] ]",
        ),
        *of("dimensions in BrainScript", "1:", f"{brain}x = Input {{ (", "1) } ] ]"),
        *of("an array in BrainScript", "9", f"{brain}x = array [0..", "] (i => i) ] ]", 64),
        *of("nodes in NDL", "n{m} = Plus(n{n}, n{n})\n", f"{ndl}n0 = Input(2)\n", "]"),
        *of(
            "unknown functions in NDL", "n{m} = Pluz{n}(n{n}, n{n})\n", f"{ndl}n0 = Input(2)\n", "]"
        ),
        *of(
            "unknown names in NDL",
            "n{n} = Plus(feture{n}, x)\n",
            f"{ndl}features = Input(2)\n",
            "]",
        ),
        *of(
            "macros in NDL",
            "f{m}(x) = [ a = f{n}(x) ; b = f{n}(a) ]\n",
            "command = T\nT = [ action = train ; NDLNetworkBuilder = [ load = L ; run = N ] ]\n"
            "N = [ x = Input(2) ; y = f20(x) ]\nL = [ f0(x) = [ y = Plus(x, x) ]\n",
            "]",
            2**12,
        ),
        *of(
            "layers of SimpleNetworkBuilder",
            "2:",
            "command = T\nT = [ action = train ; SimpleNetworkBuilder = [ layerSizes = ",
            "2 ] ]",
        ),
        *of(
            "streams of a reader",
            "f{n} = [ dim = 2 ]\n",
            "command = T\nT = [ action = train ; reader = [ readerType = UCIFastReader\n",
            "] ]",
        ),
        *of(
            "a great count of layers",
            "9",
            "command = T\nT = [ action = train ; SimpleNetworkBuilder = [ layerSizes = 2*",
            " ] ]",
            64,
        ),
    ]


BOMBS: tuple[Bomb, ...] = (*_cntk(),)
