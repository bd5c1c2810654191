"""Studies in shards, and studies merged into one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import lasthop as lh
from lasthop.study.merge import merge, shortfall
from lasthop.study.study import Study
from lasthop.study.sweep import Sweep
from studies import csv

if TYPE_CHECKING:
    from pathlib import Path


def test_shards_merge_into_the_whole(small: Path, tmp_path: Path) -> None:
    sc = lh.load(small)
    for i in (1, 2, 3):
        Sweep(sc.sweep(out=tmp_path / str(i)), shard=(i, 3)).run()
    joined = merge(tmp_path / "all", [tmp_path / "1", tmp_path / "2", tmp_path / "3"])
    assert csv(joined) == csv(sc.sweep(out=tmp_path / "whole").run())


def test_a_study_names_its_shard_until_it_has_another_part(small: Path, tmp_path: Path) -> None:
    sc = lh.load(small)
    Sweep(sc.sweep(out=tmp_path / "1"), shard=(1, 3)).run()
    Sweep(sc.sweep(out=tmp_path / "1"), shard=(1, 3)).run()
    again = f"12 of 18 runs are missing; this is shard 1/3; lasthop merge OUT {tmp_path / '1'} ... joins it"
    assert str(shortfall(Study.open(tmp_path / "1"))).startswith(again)
    Sweep(sc.sweep(out=tmp_path / "1"), shard=(3, 3)).run()
    assert shortfall(Study.open(tmp_path / "1")) == "6 of 18 runs are missing; sweep again to run them"
    assert shortfall(sc.sweep(out=tmp_path / "1").run()) is None


def test_shards_of_different_seeds_do_not_merge(small: Path, tmp_path: Path) -> None:
    for seed in (1, 2):
        lh.load(small).sweep(1, tmp_path / str(seed), seed=seed).run()
    with pytest.raises(lh.StudyError, match="not the seed of"):
        merge(tmp_path / "all", [tmp_path / "1", tmp_path / "2"])
    assert not (tmp_path / "all").exists()


def test_shards_of_different_settings_do_not_merge(small: Path, tmp_path: Path) -> None:
    lh.load(small).sweep(1, tmp_path / "1").run()
    lh.load(small).set({"run.duration": "1 s"}).sweep(1, tmp_path / "2").run()
    with pytest.raises(lh.StudyError, match="not the settings of"):
        merge(tmp_path / "all", [tmp_path / "1", tmp_path / "2"])
    assert not (tmp_path / "all").exists()


@pytest.mark.parametrize("other", ["points", "replications", "settings", "seed"])
def test_a_merge_does_not_plan_the_study_it_goes_to_anew(small: Path, tmp_path: Path, other: str) -> None:
    sc = lh.load(small)
    whole = sc.sweep(2, tmp_path / "whole", seed=1).run()
    where = ["links.path.loss.rate=1 %"] if other == "points" else []
    changed = sc.set({"run.duration": "1 s"}) if other == "settings" else sc
    part = lh.Study.create(
        changed,
        tmp_path / "part",
        replications=1 if other == "replications" else 2,
        seed=2 if other == "seed" else 1,
        where=where,
    ).run()
    with pytest.raises(lh.StudyError, match=f"holds a study without the {other} of .+new directory") as error:
        merge(whole.path, [part.path])
    assert error.value.exit_code == 4
    assert csv(Study.open(whole.path)) == csv(whole)


def test_a_merge_goes_on_in_a_study_of_the_same_plan(small: Path, tmp_path: Path) -> None:
    sc = lh.load(small)
    for i in (1, 2):
        Sweep(sc.sweep(out=tmp_path / str(i)), shard=(i, 2)).run()
    merge(tmp_path / "all", [tmp_path / "1"])
    joined = merge(tmp_path / "all", [tmp_path / "2"])
    assert csv(joined) == csv(sc.sweep(out=tmp_path / "whole").run())
