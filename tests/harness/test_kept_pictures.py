"""Pictures are kept of the samples with the most edges, the same for every cell."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np

from pacbench.data.base import datasets
from pacbench.runner import Trace, run_group
from pacbench.suite import load_suite
from pacbench.tasks import tasks

WriteSuite = Callable[..., Path]


def test_the_samples_with_the_most_edges_are_kept(write_suite: WriteSuite, tmp_path: Path) -> None:
    size = {"size": [24, 32]}
    path = write_suite(
        data={"name": "scenes", "split": "val", "limit": 5, "params": size},
        methods=[{"name": "copies"}, {"name": "unary"}],
        outputs={"figures": [], "tables": [], "pictures": 2},
    )
    cells = load_suite(str(path)).cells("cpu", 1, {})
    trace = Trace(tmp_path / "pictures", "environment", lambda _: "command")
    for cell in cells:
        (record,) = run_group([cell], trace)
        assert record.ok
    dataset = datasets["scenes"](datasets["scenes"].Params(**size), split="val", seed=0)
    samples = [dataset[index] for index in range(5)]
    task = tasks["crf"](samples[0], None)
    edges = [task.edges(sample) for sample in samples]
    most = np.argsort(edges, kind="stable")[-2:]
    assert set(most) != {0, 1}  # or the first would do
    kept = {folder.name for folder in (tmp_path / "pictures").iterdir()}
    assert kept == {samples[index].name for index in most}
    for folder in (tmp_path / "pictures").iterdir():
        names = {"image.png", "truth.png", *(f"{cell.id}.png" for cell in cells)}
        assert {file.name for file in folder.iterdir()} == names


def test_edges_of_labels_are_where_both_sides_are_known() -> None:
    dataset = datasets["scenes"](datasets["scenes"].Params(size=(24, 32)), split="val", seed=0)
    sample = dataset[0]
    task = tasks["crf"](sample, None)
    labels = np.zeros((24, 32), np.uint8)
    labels[:, 20:] = 3
    labels[:, 25:] = 255
    assert task.edges(replace(sample, labels=labels)) == 24
    assert task.edges(replace(sample, labels=None)) == 0
