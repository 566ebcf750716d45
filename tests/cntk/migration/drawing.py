"""Networks of NDL drawn at random: macros, spellings, separators, options, files and sections."""

from __future__ import annotations

from tests.cntk.migration import moving

TYPE_CHECKING = False
if TYPE_CHECKING:
    from random import Random

UNARY = ("Tanh", "Sigmoid", "Exp", "ReLU", "RectifiedLinear", "Softmax", "Cos", "Abs", "Dropout")
BINARY = ("Plus", "Minus", "ElementTimes", "ColumnElementTimes", "RowElementTimes", "Equal")
STARTS = (
    "",
    ", init=uniform",
    ", init = Gaussian",
    ", init=fixedValue, value=0.5",
    ', value=1, init="FixedValue"',
)
TRAINING = ("", ", needGradient=false", ", computeGradient=true", ", bogus=3", ", randomSeed=3")
ENDS = ("\n", "\n", "; \n", " ; ", ", ", "  # comment\n", ",\n")
NAMES = ("h", "W", "t", "y", "Out", "array", "new", "q_")


class Drawing:
    """One network of vectors of five numbers, as the files of an experiment."""

    def __init__(self, random: Random) -> None:
        self.random = random
        self.macros: list[str] = []

    def files(self) -> dict[str, str]:
        """The configuration and its files."""
        macros = "\n".join(self._macro(number) for number in range(self.random.randint(0, 3)))
        network = self._joined(self._network())
        kind = self.random.randrange(4)
        if kind == 0 and macros:
            around = moving.AROUND.replace(
                "networkDescription", 'ndlMacros = "m.ndl"\n        networkDescription'
            )
            return {"train.cntk": around, "m.ndl": f"{macros}\n", "network.ndl": network}
        if kind == 1:
            return {"train.cntk": moving.AROUND, "network.ndl": f"{macros}\n{network}"}
        sections = f"net = [\n{network}\n]\nmac = [\n{macros or 'count = 3'}\n]\n"
        if kind == 2:
            text = f"load = mac\nrun = net\n{sections}"
            return {"train.cntk": moving.AROUND, "network.ndl": text}
        inline = f"NDLNetworkBuilder = [\n load=mac\n run = net\n{sections}]\n"
        return {"train.cntk": f"command = Train\nTrain = [\n    action = train\n{inline}]\n"}

    def _macro(self, number: int) -> str:
        random = self.random
        name = f"{random.choice(('Layer', 'FF', 'Cell'))}{number}"
        if random.random() < 0.25:
            text = f"{name}(x) = {self._unary('x')}"
        else:
            _, lines = self._body("x", random.randint(1, 4))
            if random.random() < 0.3:
                lines.append(f"{name}=Exp(x)")
            opening, closing = random.choice(("[]", "{}"))
            sign = random.choice((" = ", " =", " ", "\n"))
            text = f"{name}(x){sign}{opening}\n{self._joined(lines)}\n{closing}"
        self.macros.append(name)
        return text

    def _network(self) -> list[str]:
        random = self.random
        names, lines = self._body("features", random.randint(2, 7))
        last = self._spelt(names[-1])
        features = random.choice(
            ("features = Input(5, tag=feature)", "Features=Input(5,tag=Feature)")
        )
        labels = random.choice(("labels = Input(5, tag=label)", "labels = InputValue(5)"))
        tag = random.choice(("", ", tag=criterion", ", tag=Criteria"))
        lines = [features, labels, *lines, f"ce = SquareError(labels, {last}{tag})"]
        if random.random() < 0.4:
            lines.append(f"err = ErrorPrediction(labels, {last}, tag=eval)")
        if random.random() < 0.4:
            lines.append("CriterionNodes = (ce)")
        if random.random() < 0.4:
            lines.append(f"OutputNodes = ({', '.join(names[1:3])})")
        if random.random() < 0.3:
            lines.append(f"stack = RowStack({', '.join(names[:3])})")
        return lines

    def _body(self, given: str, count: int) -> tuple[list[str], list[str]]:
        """Names of vectors, the first of which is given, and the statements of the others."""
        names, lines = [given], []
        for number in range(count):
            name = f"{self.random.choice(NAMES)}{number}"
            value = self._expression(names, 0)
            if self.macros and self.random.random() < 0.4:
                macro = self.random.choice(self.macros)
                value = f"{self._spelt(macro)}({self._spelt(self.random.choice(names))})"
                name = macro if self.random.random() < 0.3 and macro not in names else name
            lines.append(f"{name} = {value if '(' in value else self._unary(value)}")
            names.append(name)
        return names, lines

    def _expression(self, names: list[str], depth: int) -> str:
        kind = self.random.random()
        if kind < 0.3 or depth > 2:
            return self._spelt(self.random.choice(names))
        one = self._expression(names, depth + 1)
        if kind < 0.55:
            return self._unary(one)
        if kind < 0.8:
            separator = self.random.choice((", ", ":", " , "))
            function = self._spelt(self.random.choice(BINARY))
            return f"{function}({one}{separator}{self._expression(names, depth + 1)})"
        if kind < 0.9:
            options = self.random.choice(STARTS) + self.random.choice(TRAINING)
            return f"Times({self._spelt('Parameter')}(5, 5{options}), {one})"
        columns, step = self.random.choice(("", "1, ")), self.random.choice(("", ", delayTime=2"))
        return f"{self.random.choice(('Delay', 'FutureValue'))}(5, {columns}{one}{step})"

    def _unary(self, value: str) -> str:
        return f"{self._spelt(self.random.choice(UNARY))}({value})"

    def _spelt(self, name: str) -> str:
        return self.random.choice((name, name, name, name.lower(), name.upper()))

    def _joined(self, lines: list[str]) -> str:
        return "".join(f"    {line}{self.random.choice(ENDS)}" for line in lines)
