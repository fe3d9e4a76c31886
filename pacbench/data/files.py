"""Which files of a folder belong together: matched by their stem, or listed in a CSV."""

from __future__ import annotations

import csv
from dataclasses import dataclass, replace
from pathlib import Path

from pacbench.data.formats import DEPTH_SUFFIXES, FLOW_SUFFIXES, IMAGE_SUFFIXES
from pacbench.errors import UserError, did_you_mean

SPLITS = ("train", "val", "test")
SUFFIXES = {"depth": DEPTH_SUFFIXES, "flow": FLOW_SUFFIXES, "labels": IMAGE_SUFFIXES}
COLUMNS = ("image", "depth", "flow", "labels", "logits", "split")


@dataclass(frozen=True)
class FileList:
    """The files of one sample."""

    name: str
    image: Path
    depth: Path | None = None
    flow: Path | None = None
    labels: Path | None = None
    logits: Path | None = None


def by_stem(root: Path, images: str, folders: dict[str, str], split: str) -> list[FileList]:
    """Images and what has the same file name but for its suffix.

    Args:
        folders: subfolder of each kind: depth, flow, labels.

    Raises:
        UserError: a folder or a partner of an image is missing.
    """
    base = _split_root(root, split)
    image_files = _files_of(base / images, IMAGE_SUFFIXES)
    if not image_files:
        raise UserError(f"dataset 'folder': no image in {base / images}")
    partners = {kind: _files_of(base / folder, SUFFIXES[kind]) for kind, folder in folders.items()}
    for kind, files in partners.items():
        alone = sorted(set(image_files) - set(files))
        if alone:
            raise UserError(
                f"dataset 'folder': {len(alone)} of {len(image_files)} images have no {kind} in "
                f"{base / folders[kind]}, for example {image_files[alone[0]].name}"
            )
    return [
        FileList(stem, image, **{kind: files[stem] for kind, files in partners.items()})
        for stem, image in image_files.items()
    ]


def by_csv(root: Path, listing: Path, split: str) -> list[FileList]:
    """The rows of a CSV whose column split, if there is one, names the split.

    Raises:
        UserError: a column or a file that is missing, or a path that leads out of the root.
    """
    path = listing if listing.is_absolute() else root / listing
    if not path.is_file():
        raise UserError(f"dataset 'folder': csv is missing: {path}")
    with path.open(newline="", encoding="utf-8") as file:
        reader = csv.DictReader(file)
        columns = list(reader.fieldnames or ())
        unknown = [column for column in columns if column not in COLUMNS]
        if "image" not in columns or unknown:
            hint = did_you_mean(unknown[0], COLUMNS) if unknown else ""
            raise UserError(
                f"{path}: its columns are {', '.join(columns) or 'none'}{hint}; "
                f"'image' is needed, allowed are {', '.join(COLUMNS)}"
            )
        if "split" not in columns:
            _need_all(split, f"{path} has no column 'split'")
        rows = [row for row in reader if split == "all" or row.get("split") == split]
    if not rows:
        raise UserError(f"{path} lists no sample of split '{split}'")
    samples = [_listed(root, row) for row in rows]
    names = [sample.name for sample in samples]
    if len(set(names)) == len(names):
        return samples
    # frame10.png of several folders: the number in the list tells them apart.
    return [
        replace(sample, name=f"{number:05d}-{sample.name}") for number, sample in enumerate(samples)
    ]


def _listed(root: Path, row: dict[str, str]) -> FileList:
    paths: dict[str, Path] = {}
    for kind in COLUMNS[:-1]:
        if row.get(kind):
            relative = Path(row[kind])
            if relative.is_absolute() or ".." in relative.parts:
                raise UserError(f"dataset 'folder': {relative} of the csv leads out of {root}")
            path = root / relative
            if not path.is_file():
                raise UserError(f"dataset 'folder': the csv names a file that is missing: {path}")
            paths[kind] = path
    if "image" not in paths:
        raise UserError(f"dataset 'folder': the csv has a row without an image: {row}")
    return FileList(name=paths["image"].stem, **paths)


def _split_root(root: Path, split: str) -> Path:
    if split != "all" and (root / split).is_dir():
        return root / split
    there = [name for name in SPLITS if (root / name).is_dir()]
    if there:
        wanted = "no folder" if split != "all" else "only folders of splits, no split"
        raise UserError(f"dataset 'folder': {root} has {wanted} '{split}'; it has {there}")
    _need_all(split, f"{root} has no folder '{split}'")
    return root


def _need_all(split: str, why: str) -> None:
    if split != "all":
        raise UserError(f"dataset 'folder': {why}; use 'split: all' for everything in it")


def _files_of(folder: Path, suffixes: tuple[str, ...]) -> dict[str, Path]:
    """Files by stem, sorted; one stem with two suffixes is an error."""
    if not folder.is_dir():
        raise UserError(f"dataset 'folder': no such folder: {folder}")
    found: dict[str, Path] = {}
    for path in sorted(folder.iterdir()):
        if path.suffix.lower() in suffixes:
            if path.stem in found:
                raise UserError(f"{found[path.stem]} and {path.name} have the same stem")
            found[path.stem] = path
    return found
