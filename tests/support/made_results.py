"""Results made of the real models, for tests of what is made of results."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
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


def write_pictures(made: Results, folder: Path, size: tuple[int, int] = (48, 64)) -> None:
    """Pictures of two samples in the run folder, as workers keep them: noise, but of the kind."""
    random = np.random.default_rng(0)
    height, width = size
    for sample in ("image-0", "image-1"):
        place = folder / "pictures" / sample
        place.mkdir(parents=True, exist_ok=True)
        names = ["image", "truth"]
        for each in made.records:
            if each.ok:
                names.append(each.id)
                if each.cell.task == "upsample":
                    part = str(each.protocol).split("; ")[1]
                    names += [f"{each.id}-error", f"input,{part}"]
        for name in dict.fromkeys(names):
            blocks = random.integers(0, 255, (height // 8, width // 8, 3), dtype=np.uint8)
            pixels = blocks.repeat(8, axis=0).repeat(8, axis=1)
            Image.fromarray(pixels).save(place / f"{name}.png")
