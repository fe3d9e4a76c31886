"""Results made of the real models, for tests of what is made of results."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from pacbench.environment import Environment, capture
from pacbench.method import Architecture
from pacbench.record import Failure, ImageScore, Record, Seconds
from pacbench.report.run import Results
from pacbench.store import RunFolder, RunInfo
from pacbench.suite.cells import Cell
from pacbench.suite.schema import DataSpec, Limits, Suite
from pacbench.timing import Timing
from pacbench.timing.cost import Cost
from pacbench.timing.peak import Peak

ENVIRONMENT = capture(2)
CLASSES = 3


def cell(method: str, **changes: Any) -> Cell:
    """A cell of a method, registered or not."""
    values: dict[str, Any] = {
        "task": "crf",
        "method": method,
        "label": method,
        "paper_row": method,
        "params": {},
        "axes": {},
        "backend": "native",
        "device": "cpu",
        "threads": 2,
        "data": DataSpec(name="scenes", split="test"),
        "repeats": 4,
        "warmup": 1,
        "seed": 0,
        "limits": Limits(),
        "pictures": 0,
    }
    return Cell.model_validate({**values, **changes})


def counts(iou: float, image: int) -> list[tuple[int, int]]:
    """Intersections and unions whose ratio is ``iou``, of sizes that differ by image and class."""
    sizes = [1000 * (1 + (image + label) % 4) for label in range(CLASSES)]
    return [(round(iou * size), size) for size in sizes]


def record(
    of: Cell,
    scores: Sequence[float] = (0.5,),
    seconds: float = 0.1,
    metric: str = "miou",
    **changes: Any,
) -> Record:
    """A cell that ran: a score per image, timed blocks around ``seconds``."""
    images = [
        ImageScore(
            name=f"image-{index}",
            metrics={metric: score},
            counts=counts(score, index) if metric == "miou" else [],
        )
        for index, score in enumerate(scores)
    ]
    blocks = [seconds * (1 + 0.002 * (i % 5)) for i in range(10)]
    values: dict[str, Any] = {
        "id": of.id,
        "status": "ok",
        "cell": of,
        "protocol": "scenes-1; scored so",
        "metrics": {metric: float(np.mean(scores))},
        "images": images,
        "timing": Timing.of([blocks] * len(images), [[0] * 5 + [1] * 5] * len(images), race="r"),
        "memory": 12_300_000,
        "environment": ENVIRONMENT.id,
        "command": f"pacbench run crf --filter cell={of.id}",
        "started": "2026-01-01T00:00:00+00:00",
        "seconds": Seconds(process_start=1, work=1, total=2),
    }
    return Record.model_validate({**values, **changes})


def failed(of: Cell, status: str = "timeout", message: str = "stopped") -> Record:
    """A cell that gave no result."""
    nothing = {"timing": None, "images": [], "metrics": {}, "memory": None, "protocol": None}
    return record(
        of, status=status, failure=Failure(message=message, tail="<b>the end</b>"), **nothing
    )


def results(
    records: Sequence[Record],
    folder: Path | None = None,
    environment: Environment = ENVIRONMENT,
    **suite: Any,
) -> Results:
    """A run of those records."""
    values = {
        "name": "made",
        "title": "Made for a test",
        "task": records[0].cell.task,
        "data": {"name": "scenes", "split": "test"},
        "methods": [{"name": records[0].cell.method}],
        **suite,
    }
    path = folder or Path("nowhere")
    return Results(
        folders=[RunFolder(path)],
        suite=Suite.model_validate(values),
        environments={environment.id: environment},
        records=list(records),
        peaks=[],
        warnings=[],
    )


def crf_results(folder: Path | None = None, **suite: Any) -> Results:
    """Unaries, Full-CRF and two PAC-CRFs on six images, as in the paper's table."""
    base = [0.50, 0.52, 0.47, 0.55, 0.51, 0.49]

    def gained(by: float) -> list[float]:
        return [score + by + 0.002 * (i % 3) for i, score in enumerate(base)]

    records = [
        record(cell("unary", label="Unaries only", backend="none"), base, 1e-7),
        record(cell("full_crf", label="Full-CRF", backend="pydensecrf"), gained(0.02), 0.5),
        record(
            cell(
                "pac_crf",
                label="PAC-CRF, 32",
                paper_row="pac_crf_32",
                params={"dilations": [32], "steps": 5, "weights": None},
            ),
            gained(0.03),
            0.2,
            stages={"set-up": 0.01, "step": 0.04},
        ),
        record(
            cell(
                "pac_crf",
                label="PAC-CRF, 16-64",
                paper_row="pac_crf_16_64",
                params={"dilations": [16, 64], "steps": 5, "weights": None},
            ),
            gained(0.04),
            0.35,
            stages={"set-up": 0.02, "step": 0.07},
        ),
    ]
    return results(records, folder, **{"name": "crf", "paper_table": "tab_crf", **suite})


def depth_results(folder: Path | None = None, **suite: Any) -> Results:
    """Bicubic, DJF, PAC-lite and PAC at three factors."""
    levels = {"bicubic": 4.0, "djf_ours": 2.0, "pac_lite": 1.8, "pac": 1.5}
    records = []
    for row, level in levels.items():
        for factor in (4, 8, 16):
            of = cell(
                row,
                task="upsample",
                label=row.upper(),
                axes={"factor": factor},
                protocol={"target": "depth", "factor": factor},
            )
            errors = [level * factor / 4 * (1 + 0.05 * i) for i in range(5)]
            records.append(
                record(
                    of,
                    errors,
                    level / 100,
                    "rmse_cm",
                    protocol=f"scenes-1; depth,center,x{factor}; rmse:cm",
                    architecture=None
                    if row == "bicubic"
                    else Architecture(parameters=56_000, layers={"encoder": ["C32", "C1"]}),
                    cost=Cost(flops=2e9, bytes=1e8),
                )
            )
    return results(
        records, folder, **{"name": "depth", "paper_table": "tab_upsample_depth", **suite}
    )


def operator_results(device: str = "cpu") -> Results:
    """An operator and a copy of memory on a machine whose peak is known."""
    of = cell("pac_conv2d", task="op", threads=1, device=device, paper_row=None)
    made = record(of, metrics={}, images=[], cost=Cost(flops=2e9, bytes=1e8))
    copy = record(
        of.model_copy(update={"method": "memory_copy", "label": "memory copy"}),
        metrics={}, images=[], cost=Cost(flops=0, bytes=1e8),
    )  # fmt: skip
    peak = Peak(threads=1, flops_per_second=5e10, bytes_per_second=5e9)
    return replace(results([made, copy], name="ops"), peaks=[peak])


def write_run(made: Results, root: Path) -> Path:
    """The run folder that holds these results."""
    info = RunInfo(
        suite=made.suite.name,
        command=f"pacbench run {made.suite.name}",
        only={},
        device="cpu",
        threads=2,
        cells=[record.id for record in made.records],
    )
    text = made.suite.model_dump_json(exclude_defaults=True)
    folder = RunFolder.create(root, made.suite.name, text, made.environment, info)
    with folder.writer() as writer:
        for each in made.records:
            writer.append(each)
    return folder.path


def flow_results(folder: Path | None = None, **suite: Any) -> Results:
    """Seven methods on two images at a factor of 4; JBU and SDF are best, PAC is trained."""
    levels = {
        "bilinear": 2.0, "mrf": 1.5, "gf": 1.6, "jbu": 0.8, "sdf": 0.9, "djf_ours": 1.4, "pac": 1.2,
    }  # fmt: skip
    records = [
        record(
            cell(
                method,
                task="upsample",
                label=method.upper(),
                params={"weights": "made" if method == "pac" else None},
                protocol={"target": "flow", "factor": 4},
            ),
            [level, 1.1 * level],
            level / 100,
            "epe",
            protocol="scenes-1; flow,bilinear,x4; epe:px",
        )
        for method, level in levels.items()
    ]
    return results(records, folder, **{"name": "flow", "paper_table": "tab_upsample_flow", **suite})


def write_pictures(made: Results, folder: Path, size: tuple[int, int] = (48, 64)) -> None:
    """Pictures of two samples in the run folder, as workers keep them: noise, but of the kind."""
    random = np.random.default_rng(0)
    for sample in ("image-0", "image-1"):
        place = folder / "pictures" / sample
        place.mkdir(parents=True, exist_ok=True)
        Image.fromarray(_blocks(random, size)).save(place / "image.png")
        for each in made.records:
            if each.ok and each.cell.task == "upsample":
                _write_maps(random, size, place, each)
            elif each.ok:
                Image.fromarray(_blocks(random, size)).save(place / f"{each.id}.png")
                Image.fromarray(_blocks(random, size)).save(place / "truth.png")


def _write_maps(
    random: np.random.Generator, size: tuple[int, int], place: Path, of: Record
) -> None:
    """An output that is off by as much as its score; a corner of the truth is not known."""
    channels = 2 if of.cell.protocol["target"] == "flow" else 1
    truth = np.linspace(1, 3, channels * size[0] * size[1], dtype=np.float32)
    truth = truth.reshape(channels, *size)
    noise = random.normal(size=truth.shape) * next(iter(of.metrics.values())) / 100
    np.save(place / f"{of.id}.npy", (truth + noise).astype(np.float32))
    np.save(place / f"input,{str(of.protocol).split('; ')[1]}.npy", truth)
    truth[:, :4, :4] = np.nan
    np.save(place / "truth.npy", truth)


def _blocks(random: np.random.Generator, size: tuple[int, int]) -> NDArray[np.uint8]:
    """(H, W, 3) squares of eight pixels in any colour."""
    height, width = size
    blocks = random.integers(0, 255, (height // 8, width // 8, 3), dtype=np.uint8)
    return blocks.repeat(8, axis=0).repeat(8, axis=1)
