"""Trains the unary network on generated scenes: ``python -m pacbench.data.unary.train``.

About a quarter of an hour on two cores. The same torch on the same kind of CPU gives the same file.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import sys
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from tqdm import tqdm

from pacbench.data.draws import Draws
from pacbench.data.scenes.dataset import Scenes, ScenesParams
from pacbench.data.scenes.kinds import CLASSES
from pacbench.data.unary.network import CHECKPOINT, build_network, network_logits

CROP = 256
BATCH = 8
SEED = 1
"""Of the scenes and of the training: suites train their CRFs on other scenes than these."""


def make_scene(index: int) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
    """Image and labels of one training scene."""
    sample = Scenes(ScenesParams(count=index + 1, unary=None), "train", SEED)[index]
    if sample.labels is None:
        raise AssertionError("scenes have labels")
    return sample.image, sample.labels


def batches(scenes: int, steps: int) -> Iterator[tuple[NDArray[np.uint8], NDArray[np.uint8]]]:
    """Crops around objects of all classes alike, half of them mirrored.

    Yields:
        (B, 3, 256, 256) images and (B, 256, 256) labels.
    """
    with ProcessPoolExecutor(os.cpu_count(), get_context("spawn")) as pool:
        made = pool.map(make_scene, range(scenes), chunksize=16)
        pictures = list(tqdm(made, total=scenes, desc="scenes", file=sys.stderr))
    holders: list[list[int]] = [[] for _ in range(CLASSES)]
    for number, (_, label) in enumerate(pictures):
        for held in np.flatnonzero(np.bincount(label.ravel(), minlength=CLASSES)):
            holders[held].append(number)
    draws = Draws(SEED)
    for _ in range(steps):
        images = np.empty((BATCH, 3, CROP, CROP), dtype=np.uint8)
        labels = np.empty((BATCH, CROP, CROP), dtype=np.uint8)
        for slot in range(BATCH):
            wanted = draws.choice([held for held in range(1, CLASSES) if holders[held]])
            image, label = pictures[draws.choice(holders[wanted])]
            rows, columns = np.nonzero(label == wanted)
            pixel = draws.below(len(rows))
            top = _near(draws, int(rows[pixel]), label.shape[0])
            left = _near(draws, int(columns[pixel]), label.shape[1])
            step = draws.choice((1, -1))
            images[slot] = image[:, top : top + CROP, left : left + CROP][..., ::step]
            labels[slot] = label[top : top + CROP, left : left + CROP][..., ::step]
        yield images, labels


def _near(draws: Draws, centre: int, size: int) -> int:
    """Where a crop begins that has ``centre`` somewhere in its middle half."""
    start = centre - draws.between(CROP // 4, 3 * CROP // 4)
    return min(max(start, 0), size - CROP)


def train(scenes: int, steps: int, out: Path) -> None:
    """Writes the network's weights as float16 and prints the checksum of the file."""
    import torch
    from torch.nn import functional

    torch.manual_seed(SEED)
    network = build_network(CLASSES)
    optimizer = torch.optim.AdamW(network.parameters(), lr=3e-3, weight_decay=1e-4)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=3e-3, total_steps=steps)
    with tqdm(total=steps, desc="steps", file=sys.stderr) as progress:
        for images, labels in batches(scenes, steps):
            picture = torch.from_numpy(images).contiguous(memory_format=torch.channels_last)
            # One pixel in four by four of the labels is enough for an output of stride 8.
            logits = network_logits(network, picture, (CROP // 4, CROP // 4))
            target = torch.from_numpy(labels[:, 2::4, 2::4].astype(np.int64))
            loss = functional.cross_entropy(logits, target)
            optimizer.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            optimizer.step()
            schedule.step()
            progress.update()
            progress.set_postfix(loss=f"{loss.item():.3f}", refresh=False)
    state = {
        key: value.contiguous().half() if value.is_floating_point() else value
        for key, value in network.state_dict().items()
    }
    torch.save(state, out)
    print(
        f"{out}: {out.stat().st_size} bytes, sha256 {hashlib.sha256(out.read_bytes()).hexdigest()}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m pacbench.data.unary.train", description=__doc__
    )
    parser.add_argument("--scenes", type=int, default=1200, help="training scenes (%(default)s)")
    parser.add_argument("--steps", type=int, default=3000, help="of 8 crops each (%(default)s)")
    parser.add_argument("--out", type=Path, default=CHECKPOINT, help="file to write (%(default)s)")
    options = parser.parse_args()
    import torch

    torch.set_num_threads(1)  # sums in one order: the same file whatever the number of cores
    train(options.scenes, options.steps, options.out)


if __name__ == "__main__":
    main()
