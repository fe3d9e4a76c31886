"""Runs every operator and its gradients at awkward sizes: python awkward_sizes.py KIND LIBRARY.

KIND is "cpu" or "emulated". For the sanitizers, which say what goes wrong; prints "clean" if it
comes to its end.
"""

import itertools
import sys

import torch

from pacbench import kernels
from pacbench.kernels import Pairwise, _cuda, _library, _native
from pacbench.kernels.arguments import Window

WINDOWS = [
    ((3, 3), 1, 1, 1),
    ((5, 3), (2, 3), (2, 1), 1),
    ((3, 5), 1, (64, 128), 64),
    ((5, 1), 1, (34, 3), (16, 17)),
]


def run_operators(dtype, shape, window):
    (b, c, o, h, w), (k, *taps) = shape, window

    def random(*shape):
        return torch.randn(shape, dtype=dtype, requires_grad=True)

    image, guide, weight, bias = random(b, c, h, w), random(b, 2, h, w), random(o, c, *k), random(o)
    outputs = [kernels.pac_conv2d(image, guide, weight, bias, *taps)]
    kernel = kernels.adapting_kernel(image, k, *taps, channel_wise=True)
    outputs += [
        kernels.pac_conv2d(image, guide, random(1, 1, *k), None, *taps),
        kernels.pacconv2d(image, kernel, weight, bias, *taps),
        kernels.pac_pool2d(image, image, k, *taps, channel_wise=True),
    ]
    stride, padding, dilation = taps
    try:
        size = Window.of(k, *taps, transposed=True).output_size((h, w))
    except ValueError:  # the padding leaves no output
        size = None
    if size:
        arguments = (stride, padding, 0, dilation)
        large = random(b, 2, *size)
        outputs += [
            kernels.pac_conv_transpose2d(image, large, filters, None, *arguments)
            for filters in (random(c, o, *k), random(1, 1, *k))
        ]
    torch.autograd.backward([output.sum() for output in outputs])


def run_mean_field_step(labels, height, width):
    unary, guide = torch.randn(1, labels, height, width), torch.randn(1, 3, height, width)
    kernel = torch.rand(1, 1, 3, 3, height, width)
    terms = [
        Pairwise(torch.randn(labels, labels, 5, 5), guide=guide, dilation=2),
        Pairwise(torch.randn(1, 1, 3, 3), kernel, compatibility=torch.randn(labels, labels)),
        Pairwise(torch.randn(1, 1, 3, 3), kernel, dilation=16),
    ]
    kernels.mean_field_step(unary, unary.softmax(1), terms, "softmax")


def main(kind, path):
    kernels.set_backend("native")
    torch.set_num_threads(2)
    shapes = [(2, 3, 9, 5, 59), (1, 1, 1, 1, 1), (1, 5, 2, 1, 97), (1, 131, 2, 1, 49)]
    if kind == "emulated":
        _native.library = _cuda.CudaLibrary(path)
        dtypes, shapes = [torch.float32], shapes[:3]
    else:
        _native.library = _library.Library(path)
        dtypes = [torch.float32, torch.float64]
    for arguments in itertools.product(dtypes, shapes, WINDOWS):
        run_operators(*arguments)
    run_mean_field_step(21, 9, 35)
    run_mean_field_step(67, 3, 5)
    print("clean")


if __name__ == "__main__":
    main(*sys.argv[1:])
