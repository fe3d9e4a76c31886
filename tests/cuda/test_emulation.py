"""The emulation of CUDA finds what it is there for: races, bad indices, memory never written."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import torch
from emulation import KERNELS, SOURCES, EmulatedLibrary, build, emulated_library
from sanitized import run_awkward_sizes, why_not
from torch import Tensor

from pacbench import kernels
from pacbench.kernels import Pairwise, _native, mean_field_ops

HEADERS = sorted(KERNELS.glob("csrc/*.cuh"))
BARRIERS = [
    pytest.param(source, line, id=f"{source.name}:{line}")
    for source in (*SOURCES, *HEADERS)
    for line, text in enumerate(source.read_text().splitlines(), start=1)
    if "__syncthreads();" in text
]
# What a library needs to run PAC's forward pass; the other kernels may be left out.
FORWARD = ("conv.cu", "conv_grad_weight.cu", "library.cu")
SANITIZED = ("-O1", "-g1", "-fsanitize=address")


@pytest.fixture
def library(monkeypatch: pytest.MonkeyPatch) -> Iterator[EmulatedLibrary]:
    try:
        emulated = emulated_library()
    except OSError as reason:
        pytest.skip(str(reason))
    monkeypatch.setattr(_native, "library", emulated)
    yield emulated
    emulated.skip_barrier(None)


def gradients(function: Callable[..., Tensor], *leaves: Tensor) -> list[Tensor]:
    """The result of ``function`` and the gradients of its arguments."""
    leaves = tuple(leaf.detach().requires_grad_() for leaf in leaves)
    output = function(*leaves)
    return [output.detach(), *torch.autograd.grad(output.square().sum(), leaves)]


def convolution(height: int = 20, width: int = 70) -> list[Tensor]:
    """PAC of a guide and its gradients: more tiles than blocks, more channels than are staged.

    Three warps, so that no thread stages just what it uses itself.
    """
    shapes = (1, 11, height, width), (1, 2, height, width), (17, 11, 3, 3)
    return gradients(
        lambda image, guide, weight: kernels.pac_conv2d(
            image, guide, weight, padding=1, backend="native"
        ),
        *map(torch.randn, shapes),
    )


def convolution_with_kernel_per_channel() -> list[Tensor]:
    shapes = (1, 3, 20, 40), (1, 3, 3, 3, 20, 40), (9, 3, 3, 3)
    return gradients(
        lambda image, kernel, weight: kernels.pacconv2d(
            image, kernel, weight, padding=1, backend="native"
        ),
        *map(torch.randn, shapes),
    )


def pooling() -> list[Tensor]:
    return gradients(
        lambda image, guide, alpha, power: kernels.pac_pool2d(
            image,
            guide,
            3,
            padding=1,
            kernel_type="inv",
            inv_alpha=alpha,
            inv_lambda=power,
            backend="native",
        ),
        torch.randn(1, 2, 20, 70),
        torch.randn(1, 2, 20, 70),
        torch.tensor(0.3),
        torch.tensor(1.7),
    )


def mean_field_step() -> list[Tensor]:
    labels, size = 21, (12, 70)  # six warps, whose rows are not those that they stage
    unary, guide = torch.randn(1, labels, *size), torch.randn(1, 2, *size)
    kernel = torch.rand(1, 1, 3, 3, *size)
    terms = [
        Pairwise(torch.randn(labels, labels, 3, 3), guide=guide),
        Pairwise(torch.randn(1, 1, 3, 3), kernel, compatibility=torch.randn(labels, labels)),
        Pairwise(torch.randn(1, 1, 3, 3), kernel),
    ]
    return [mean_field_ops.mean_field_step(unary, unary.softmax(1), terms, "softmax")]


# What runs the kernels of each file.
RUNS: dict[str, tuple[Callable[[], list[Tensor]], ...]] = {
    "conv.cu": (convolution, convolution_with_kernel_per_channel),
    "pool.cu": (pooling,),
    "adapting_kernel.cu": (pooling,),
    "adapting_kernel_grad.cu": (pooling,),
    "mean_field.cu": (mean_field_step,),
}


def results(file: Path) -> list[Tensor]:
    torch.manual_seed(0)
    return [result for run in RUNS.get(file.name, (convolution,)) for result in run()]


def test_any_order_of_threads_gives_the_same_bits(library: EmulatedLibrary) -> None:
    for source in map(Path, RUNS):
        first = results(source)
        library.seed(1)
        for one, another in zip(first, results(source), strict=True):
            assert torch.equal(one, another)


@pytest.mark.parametrize(("file", "line"), BARRIERS)
def test_every_barrier_is_needed(file: Path, line: int, library: EmulatedLibrary) -> None:
    """Without it results change: the emulation would find it missing."""
    expected = results(file)
    library.skip_barrier(file, line)
    try:
        actual = results(file)
    except RuntimeError as error:  # threads that no longer agree on where they wait
        assert "wait at different barriers" in str(error)  # noqa: PT017
        return
    assert not all(map(torch.equal, expected, actual))


def changed_library(folder: Path, file: str, old: str, new: str, *flags: str) -> Path:
    """The library with one place of a source file changed."""
    source = KERNELS / "csrc" / file
    text = source.read_text()
    assert text.count(old) == 1, f"{file} has {text.count(old)} places like: {old}"
    changed = folder / file
    changed.write_text(text.replace(old, new))
    others = [KERNELS / "csrc" / name for name in FORWARD if name != file]
    return build(folder, [changed, *others], flags)


CHANGES = {
    "missing-barrier": (
        r"__syncthreads();  // values and weights are there",
        "",
    ),
    "unwritten-shared-memory": (
        "values[d][row * kTileX + lane] = value;",
        "if (from >= 0) values[d][row * kTileX + lane] = value;",
    ),
}


@pytest.mark.parametrize("change", CHANGES)
def test_changed_source_gives_wrong_results(
    change: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = changed_library(tmp_path, "conv.cu", *CHANGES[change], "-O1")
    monkeypatch.setattr(_native, "library", EmulatedLibrary(path))
    arguments = torch.randn(1, 11, 9, 40), torch.randn(1, 2, 9, 40), torch.randn(9, 11, 3, 3)
    expected = kernels.pac_conv2d(*arguments, padding=1, backend="reference")
    actual = kernels.pac_conv2d(*arguments, padding=1, backend="native")
    assert not torch.allclose(actual, expected, atol=1e-2)


@pytest.mark.timeout(900)
@pytest.mark.skipif(why_not() != "", reason=why_not())
def test_no_access_outside_arrays(tmp_path: Path) -> None:
    run = run_awkward_sizes("emulated", build(tmp_path, flags=SANITIZED))
    assert run.stdout == "clean\n", run.stderr


@pytest.mark.timeout(900)
@pytest.mark.skipif(why_not() != "", reason=why_not())
@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("values[d][row * kTileX + lane] = value;", "values[d + kDepth][lane] = value;"),
        ("if (to < 0) continue;\n#pragma unroll\n", "#pragma unroll\n"),
    ],
    ids=["shared", "global"],
)
def test_access_outside_arrays_is_found(old: str, new: str, tmp_path: Path) -> None:
    library = changed_library(tmp_path, "conv.cu", old, new, *SANITIZED)
    run = run_awkward_sizes("emulated", library)
    assert "AddressSanitizer: heap-buffer-overflow" in run.stderr
    assert re.search(r"conv_tiles.*conv\.cu", run.stderr)


def test_failed_launch_is_told(library: EmulatedLibrary) -> None:
    library.fail_next_launch()
    with pytest.raises(
        RuntimeError,
        match=r"pac_cuda_conv_f32: kernel conv_tiles<T>, launched with grid \(\d+, 1, 1\), block "
        r"\(32, 3, 1\) and \d+ bytes of dynamic shared memory: invalid configuration argument",
    ):
        convolution(4, 5)
    convolution(4, 5)  # the next call is not blamed


def test_too_large_images_are_refused(library: EmulatedLibrary) -> None:
    image = torch.zeros(1, 1, 1, 1)
    with pytest.raises(RuntimeError, match=r"pac_cuda_pool: more than 2\^29 channels, or pixels"):
        kernels.pac_conv2d(
            image, image, torch.zeros(1, 1, 3, 3), None, 1, 2**30, 2**30, backend="native"
        )
