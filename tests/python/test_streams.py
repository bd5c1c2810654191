"""Named random streams: numpy's Philox, and independent of whatever else is simulated."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

import lasthop as lh
from lasthop import _core

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    ("seed", "name", "replication"), [(1, "links.path.forward.loss", 0), (2**64 - 1, "ü", 7)]
)
def test_a_stream_is_numpys_philox_with_the_key_of_its_name(seed: int, name: str, replication: int) -> None:
    key = np.array(_core.stream_key(seed, name, replication), dtype=np.uint64)
    expected = np.random.Philox(key=key).random_raw(1001)
    assert (_core.philox(seed, name, replication, 1001) == expected).all()


def test_what_is_added_to_a_scenario_shifts_no_draw_of_the_rest(small: Path, tmp_path: Path) -> None:
    more = tmp_path / "more.toml"
    more.write_text(
        small.read_text()
        .replace("[nodes]", "[nodes]\nx = {}\ny = {}")
        .replace(
            "[links.path]",
            '[links.aside]\nkind = "lossy"\nnodes = ["x", "y"]\nrate = "1 Mbit/s"\n'
            'loss = { rate = "5 %" }\n\n[links.path]',
        )
        .replace("[flows.main]", '[flows.aside]\nfrom = "x"\nto = "y"\n\n[flows.main]')
    )
    alone, beside = (lh.load(path).run(point=2).metrics for path in (small, more))
    assert alone["links.path.drops_loss"]
    # Sums over all flows have the new one in them, and no name of a flow or link.
    own = {name: value for name, value in alone.items() if "." in name}
    assert own == {name: beside[name] for name in own}
