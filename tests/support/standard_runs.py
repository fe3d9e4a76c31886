"""Made runs of the standard suites, with as many pictures, as large, as real ones keep."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import cv2
import numpy as np
from made_results import record, results
from numpy.typing import NDArray

from pacbench.data.base import Sample, datasets
from pacbench.report.run import Results
from pacbench.suite.cells import Cell
from pacbench.suite.expand import expand
from pacbench.suite.load import load_suite
from pacbench.tasks import tasks
from pacbench.worker import save_pictures

COARSE = 6
"""How many times coarser than the truth made outputs are, at least."""

CLASSES = 21
"""Of the scenes."""


def made_run(suite_path: Path, overrides: list[str], folder: Path) -> Results | None:
    """A run of a suite, of which each cell gave a rough answer; None if it keeps no pictures."""
    suite = load_suite(str(suite_path), overrides).suite
    if not suite.outputs.pictures:
        return None
    cells, problems = expand(suite, "cpu", 2)
    assert not problems
    dataset = datasets[suite.data.name]
    data = dataset(dataset.Params(**suite.data.params), split=suite.data.split, seed=suite.seed)
    samples = [data[index] for index in range(suite.outputs.pictures)]
    records = []
    for number, cell in enumerate(cells):
        task = tasks[cell.task]
        protocol = task.Protocol(**cell.protocol)
        scorer = task(samples[0], protocol)
        metric = task.goal_of(protocol)
        scores = [0.5 + 0.01 * number] * int(suite.data.limit or 1)
        shown = f"{data.protocol}; {scorer.protocol}"
        seconds = 0.1 + 0.01 * number
        records.append(record(cell, scores, seconds, metric, protocol=shown))
        for sample in samples:
            pictures = scorer.pictures(_rough(sample, cell, COARSE + number), sample)
            save_pictures(pictures, folder / "pictures" / sample.name, cell.id)
    return replace(results(records, folder), suite=suite)


def _rough(sample: Sample, cell: Cell, times: int) -> NDArray[np.float32]:
    """The truth that many times coarser, as depth or flow (C, H, W), or as scores of labels."""
    if cell.task == "upsample":
        truth = sample.flow if cell.protocol["target"] == "flow" else sample.depth[None]
        return np.stack([_coarse(channel, times) for channel in truth])
    labels = _coarse(sample.labels, times, cv2.INTER_NEAREST)
    return (labels == np.arange(CLASSES, dtype=np.uint8)[:, None, None]).astype(np.float32)


def _coarse(
    values: NDArray[np.float32], times: int, method: int = cv2.INTER_CUBIC
) -> NDArray[np.float32]:
    height, width = values.shape
    small = cv2.resize(values, (width // times, height // times), interpolation=cv2.INTER_NEAREST)
    return np.asarray(cv2.resize(small, (width, height), interpolation=method))
