"""PAC operators for today's PyTorch: plain torch (``reference``) or compiled (``native``).

>>> output = pac_conv2d(image, guide, weight, padding=2)                      # fastest that runs
>>> output = pac_conv2d(image, guide, weight, padding=2, backend="reference")

``set_backend`` or the environment variable PACBENCH_BACKEND choose for the whole process.
"""

from pacbench.kernels.backend import can_run, get_backend, set_backend
from pacbench.kernels.functional import (
    adapting_kernel,
    pac_conv2d,
    pac_conv_transpose2d,
    pac_pool2d,
    pacconv2d,
    pacconv_transpose2d,
    pacpool2d,
)
from pacbench.kernels.mean_field import mean_field_step
from pacbench.kernels.mean_field_reference import Pairwise
from pacbench.kernels.permutohedral import PermutohedralLattice, permutohedral_filter
from pacbench.kernels.permutohedral_taps import gaussian_weight

__all__ = [
    "Pairwise",
    "PermutohedralLattice",
    "adapting_kernel",
    "can_run",
    "gaussian_weight",
    "get_backend",
    "mean_field_step",
    "pac_conv2d",
    "pac_conv_transpose2d",
    "pac_pool2d",
    "pacconv2d",
    "pacconv_transpose2d",
    "pacpool2d",
    "permutohedral_filter",
    "set_backend",
]
