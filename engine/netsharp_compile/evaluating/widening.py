"""The cheapest mixed widths with which a network passes its gate: the layer that gains most is
raised first.

Knows widths and the errors that they cause, but not how networks are planned or evaluated.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from netsharp_compile.refusal import CompileError
from netsharp_compile.widths import OperandWidth

if TYPE_CHECKING:
    from netsharp_compile.evaluating.gate import GateVerdict
    from netsharp_compile.integers import IntegerNetwork
    from netsharp_compile.widths import CompileSettings

#: Weights that are tried where no widths of operands suffice.
_WIDEST_WEIGHTS = "int16"
#: A raised layer that leaves more than this part of the error gains nothing: differences below a
#: thousandth are those of other roundings.
_NO_GAIN = 0.999


@dataclass(frozen=True, slots=True)
class MixedWidths:
    """Widths of layers and inputs by name, other weights or None, and what the gate says then."""

    layers: tuple[tuple[str, str], ...]
    weights: str | None
    gate: GateVerdict

    @property
    def flags(self) -> str:
        """Return the options of the command that ask for these widths."""
        found = [f"--layer {name}={width}" for name, width in self.layers]
        return " ".join([*found, *([f"--weights {self.weights}"] if self.weights else [])])


@dataclass(frozen=True, slots=True)
class WidthSearch:
    """The functions of settings that a search needs: their network, its error on some rows of the
    calibration, and the result of the gate.
    """

    planned: Callable[[CompileSettings], IntegerNetwork]
    error: Callable[[IntegerNetwork], float]
    verdict_of: Callable[[IntegerNetwork], GateVerdict]

    def found(
        self, settings: CompileSettings, layers: Sequence[str], source: str
    ) -> tuple[CompileSettings, MixedWidths] | None:
        """Return settings that pass, and how they differ; None where no raised widths do.

        ``layers`` may be raised, and ``source``, the input.
        """
        kinds = dict.fromkeys((settings.weights, _WIDEST_WEIGHTS))
        for weights in kinds:
            current = replace(settings, weights=weights)  # type: ignore[arg-type]
            network = self.planned(current)
            left = self.error(network)
            verdict = self.verdict_of(network)
            while not verdict.is_met:
                tried = [*self._raised(current, layers)]
                if not tried:
                    break
                error, place = min((error, place) for place, (error, _) in enumerate(tried))
                if error > _NO_GAIN * left:
                    break
                left, current = tried[place]
                verdict = self.verdict_of(self.planned(current))
            if verdict.is_met:
                changed = tuple(one for one in current.layers if one not in settings.layers)
                if current.features != settings.features and current.features is not None:
                    changed = ((source, current.features), *changed)
                other = weights if weights != settings.weights else None
                return current, MixedWidths(changed, other, verdict)
        return None

    def _raised(
        self, settings: CompileSettings, layers: Sequence[str]
    ) -> list[tuple[float, CompileSettings]]:
        """Return settings with the width of each layer, and of the features, raised by one step,
        with their error.
        """
        found = []
        up = OperandWidth.of(settings.features or settings.activations).raised()
        options = [] if up is None else [replace(settings, features=str(up))]
        for name in layers:
            up = settings.width_of(name).raised()
            if up is not None:
                widths = {**dict(settings.layers), name: str(up)}
                options.append(replace(settings, layers=tuple(widths.items())))
        for option in options:
            try:
                found.append((self.error(self.planned(option)), option))
            except CompileError:
                continue  # Of a table that was not allowed.
        return found
