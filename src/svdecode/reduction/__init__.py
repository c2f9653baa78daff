"""The front door: rows of X as coordinates in their own span, and back again."""

from svdecode.reduction.core import Reduction, reduce_rows
from svdecode.reduction.kernels import kernel_matrix
from svdecode.reduction.shared import SharedGram

__all__ = ["Reduction", "SharedGram", "kernel_matrix", "reduce_rows"]
