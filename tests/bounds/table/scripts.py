"""Bombs of BrainScript, NDL and MEL in files of their own."""

from __future__ import annotations

from tests.bounds.bombs import Bomb, repeated


def _brainscript() -> list[Bomb]:
    def of(name: str, unit: str, before: str = "", after: str = "", most: int = 0) -> list[Bomb]:
        return repeated("brainscript", name, unit, before, after, most)

    return [
        *of("braces behind a definition", "{", "f(a) = b"),
        *of("brackets behind a definition", "[", "f(a) = b"),
        *of("open brackets in a definition", "(", "f(a) = b"),
        *of("faults on lines", "a{n} = ) \n"),
        *of("placeholders", "... "),
        *of("placeholders on lines", "a = ...\n"),
        *of("unclosed on lines", "a = (\n"),
        *of("crossed on lines", "a = (]\n"),
        *of("definitions", "f{n} (x) = x + 1\n"),
        *of("definitions that call", "f{m} (x) = f{n} (x)\n"),
        *of("unknown functions", "a{n} = Pluz{n} (1, 2)\n"),
        *of("unknown names", "a{n} = b{n}x\n"),
        *of("conditions", "if a then b else ", "x = ", "c"),
        *of("lambdas", "x => ", "f = ", "1"),
        *of("lambdas in brackets", "(x => f (", "f = "),
        *of("lambdas that end on lines", "a = f (x => g (\nx\n)\n)\n"),
        *of("lambdas with lambdas that end on lines", "f (_ => {\nb   = 1\n}.b\n) + ", "a = ", "c"),
        *of("members", ".a", "x = a"),
        *of("indices of indices", "[1]", "x = a"),
        *of("parameters", "a{n}, ", "f (", "b) = 1"),
        *of("arguments", "a{n}, ", "x = f (", "b)"),
        *of("new", "new A { x = ", "x = ", "1"),
        *of("block comments", "/* a */", "x = 1"),
        *of("open block comments on lines", "x = 1 /*\n"),
        *of("a long name", "x", "", " = 1"),
        *of("a long unknown name", "x", "a = b", " + 1"),
        *of("a long call", "x", "a = ", " (1)"),
        *of("a long number", "9", "a = "),
        *of("a long string", "x", "a = '", "'"),
        *of("an open string", "x", "a = '"),
        *of("faults on a line", "a{n} = 13abc; "),
        *of("joints on a line", "(a)[1] + ", "x = ", "1"),
        *of("the same name", "a = 1\n"),
        *of("the same parameter", "a, ", "f (", "a) = 1"),
        *of("includes", "include 'a{n}.bs'\n"),
        *of("arrays", "array [1..2] (i => ", "x = ", "i"),
        *of("junk between definitions", "a = 1 ? b = 2\n"),
        *of("numbers and words", "13abc "),
        *of("hashes behind values", "a = 1 # b\n"),
    ]


def _ndl_and_mel() -> list[Bomb]:
    def ndl(name: str, unit: str, before: str = "", after: str = "", most: int = 0) -> list[Bomb]:
        return repeated("ndl", name, unit, before, after, most)

    def mel(name: str, unit: str, before: str = "", after: str = "", most: int = 0) -> list[Bomb]:
        return repeated("mel", name, unit, before, after, most)

    return [
        *ndl("sections", "A{n} = [ x = Input(2) ]\n"),
        *ndl("statements", "n{n} = Input(2)\n"),
        *ndl(
            "nodes in a chain", "n{m} = Plus(n{n}, n{n})\n", "run = N\nN = [ n0 = Input(2)\n", "]"
        ),
        *ndl("arguments", "x, ", "y = Plus(", "x)"),
        *ndl("options", "a{n} = 1, ", "y = Plus(x, ", "x)"),
        *ndl("macros", "F{n}(x) = [ y = Plus(x, x) ]\n"),
        *ndl("macros that call", "F{m}(x) = [ y = F{n}(x) ]\n"),
        *ndl("unknown functions", "n{n} = Pluz{n}(x)\n"),
        *ndl("unknown names", "n{n} = Plus(feture{n}, y)\n"),
        *ndl("a long name", "x", "", " = Input(2)"),
        *ndl("a long function", "x", "a = ", "(2)"),
        *ndl("a long argument", "x", "a = Plus(", ", 2)"),
        *ndl("a long number", "9", "a = Input(", ")"),
        *ndl("calls in calls", "Plus(x, ", "y = ", "x"),
        *ndl("the same name", "n = Input(2)\n"),
        *ndl("repeats", "1*2:", "y = Input(", "1)"),
        *mel("models", 'm{n} = LoadModel("a{n}.dnn", format=cntk)\n'),
        *mel("set properties", "SetProperty(m.n{n}, output, true)\n", 'm = LoadModel("a.dnn")\n'),
        *mel(
            "copies", "Copy(m.n{n}, m.n{m}, copy=all)\n", "m = CreateModel()\nSetDefaultModel(m)\n"
        ),
        *mel(
            "copies of all", "Copy(m.*, m.n{n}*, copy=all)\n", "m = CreateModel()\nn = Input(2)\n"
        ),
        *mel(
            "statements of NDL",
            "n{m} = Plus(n{n}, n{n})\n",
            "m = CreateModel()\nSetDefaultModel(m)\nn0 = Input(2)\n",
        ),
        *mel("removed nodes", "RemoveNode(n{n})\n", "m = CreateModel()\n"),
        *mel("removed together", "n{n}, ", "m = CreateModel()\nRemoveNode(", "n)"),
        *mel(
            "renamed nodes",
            "Rename(m.n{n}, m.n{m})\n",
            "m = CreateModel()\nSetDefaultModel(m)\nn0 = Input(2)\n",
        ),
        *mel("unknown functions", "SetPropertee{n}(m, x)\n", "m = CreateModel()\n"),
        *mel("inputs", "SetNodeInput(n{n}, 1, n{m})\n", "m = CreateModel()\n"),
        *mel("a long input", "9", "m = CreateModel()\nSetNodeInput(a, ", ", b)"),
        *mel("stars", "*", "m = CreateModel()\nn = Input(2)\nCopy(m.", ", m.a*)"),
        *mel("dumps", 'DumpModel(m, "a{n}")\n', "m = CreateModel()\n"),
        *mel("a long function", "x", "a = ", "(2)"),
        *mel("a long model", "x", "", " = CreateModel()"),
    ]


BOMBS: tuple[Bomb, ...] = (
    *_brainscript(),
    *_ndl_and_mel(),
)
