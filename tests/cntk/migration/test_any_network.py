"""Networks drawn at random are migrated and proven equal, and a second time nothing changes."""

from __future__ import annotations

from random import Random

import pytest

from tests.cntk.migration.drawing import Drawing
from tests.cntk.migration.moving import units_of


@pytest.mark.costly
@pytest.mark.parametrize("first", range(0, 120, 10))
def test_any_network_is_proven_equal(first: int) -> None:
    for seed in range(first, first + 10):
        texts = {name: text.encode() for name, text in Drawing(Random(seed)).files().items()}
        (unit,) = units_of(texts)
        plan = unit.migrated()
        statuses = [one.status for one in plan.networks]
        assert statuses == ["equal"], (seed, plan.networks, [one.message for one in plan.todo])
        texts.update(unit.changed())
        assert units_of(texts) == [], seed
