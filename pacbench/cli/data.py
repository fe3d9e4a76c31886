"""`pacbench data`: what datasets there are, and getting, checking and looking at them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from pacbench.data.base import Dataset, datasets
from pacbench.errors import UserError

app = typer.Typer(
    name="data", help="List, fetch, check and look at datasets.", no_args_is_help=True
)

Name = Annotated[str, typer.Argument(help="Name of a dataset.", show_default=False)]
Root = Annotated[
    Path | None, typer.Option("--root", help="Folder of its files.", show_default="data/NAME")
]

Settings = Annotated[
    list[str] | None,
    typer.Option("--set", help="A parameter, as in a suite: --set depth=depth_png."),
]

MARKS = {True: "ok  ", False: "BAD ", None: "-   "}


@app.command("list", epilog="Example: pacbench data list")
def list_() -> None:
    """List all datasets."""
    for name in datasets:
        info = datasets[name].info
        typer.echo(f"{name:8} {info.version:6} {','.join(info.tasks):22} {info.summary}")


@app.command(epilog="Example: pacbench data info nyu")
def info(name: Name) -> None:
    """Tell what a dataset is, its terms, and its parameters in a suite."""
    cls = datasets[name]
    about = cls.info
    typer.echo(f"{about.name}, version {about.version}: {about.summary}")
    typer.echo(f"tasks:   {', '.join(about.tasks)}")
    splits = (
        f"{split} ({cls.counts[split]})" if split in cls.counts else split for split in about.splits
    )
    typer.echo(f"splits:  {', '.join(splits)}")
    typer.echo(f"licence: {about.licence}")
    for source in cls.sources:
        typer.echo(f"source:  {source.url} (md5 {source.md5})")
    typer.echo("parameters:")
    for field, spec in cls.Params.model_fields.items():
        default = (
            "required"
            if spec.is_required()
            else _plain(spec.get_default(call_default_factory=True))
        )
        typer.echo(f"  {field}: {default}\n      {spec.description}")


@app.command(epilog="Example: pacbench data verify nyu --root ~/datasets/nyu")
def verify(name: Name, root: Root = None, settings: Settings = None) -> None:
    """Check files, checksums and samples per split; exit code 1 if something is missing."""
    from pacbench.data.verify import params_for
    from pacbench.data.verify import verify as checks_of

    cls = datasets[name]
    checks = checks_of(cls, params_for(cls, root, settings or []))
    for check in checks:
        typer.echo(f"{MARKS[check.ok]} {check.what}: {check.detail}")
    if any(check.ok is False for check in checks):
        raise typer.Exit(1)


@app.command(epilog="Example: pacbench data fetch sintel --root ~/datasets/sintel")
def fetch(
    name: Name,
    root: Root = None,
    url: Annotated[
        list[str] | None,
        typer.Option("--url", help="Mirror, one for each source in their order."),
    ] = None,
) -> None:
    """Download and unpack a dataset. An interrupted download goes on where it stopped."""
    from pacbench.data.fetch import fetch as fetch_source

    cls = datasets[name]
    if not cls.sources:
        raise UserError(f"dataset '{name}' is not downloaded: {cls.info.summary}")
    mirrors = url or [source.url for source in cls.sources]
    if len(mirrors) != len(cls.sources):
        raise UserError(
            f"dataset '{name}' has {len(cls.sources)} sources, --url was given {len(mirrors)} "
            f"times; the sources are {', '.join(source.filename for source in cls.sources)}"
        )
    folder = root or Path("data") / name
    typer.echo(f"{name}: {cls.info.licence}")
    for source, mirror in zip(cls.sources, mirrors, strict=True):
        path = fetch_source(source, folder, mirror)
        typer.echo(f"{path}: checked{', unpacked' if source.archive else ''}")


@app.command(epilog="Example: pacbench data show scenes --index 3 --out scene.png")
def show(
    name: Name,
    index: Annotated[int, typer.Option("--index", help="Which sample.")] = 0,
    split: Annotated[str | None, typer.Option("--split", help="Its first split if none.")] = None,
    seed: Annotated[int, typer.Option("--seed", help="Of generated data.")] = 0,
    root: Root = None,
    settings: Settings = None,
    out: Annotated[
        Path | None, typer.Option("--out", help="Picture to write.", show_default="NAME-INDEX.png")
    ] = None,
) -> None:
    """Make a picture of a sample: image, depth, flow, labels and unaries side by side."""
    from pacbench.data.show import figure_of
    from pacbench.data.verify import params_for

    cls = datasets[name]
    params = params_for(cls, root, settings or [])
    dataset = cls(params, split=split or _first_split(cls), seed=seed)
    try:
        sample = dataset[index]
    except IndexError as error:
        raise UserError(f"{error}; --index is 0 to {len(dataset) - 1}") from error
    path = out or Path(f"{name}-{index}.png")
    try:
        figure_of(sample).savefig(path)
    except (OSError, ValueError) as error:
        raise UserError(f"cannot write the picture {path}: {error}") from error
    typer.echo(str(path))


def _first_split(cls: type[Dataset]) -> str:
    return cls.info.splits[0]


def _plain(value: Any) -> str:
    """A default as it would stand in YAML."""
    if hasattr(value, "model_dump"):
        value = value.model_dump(mode="json")
    return json.dumps(value, default=str)
