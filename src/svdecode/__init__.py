"""Decode from few samples of very many features.

svdecode learns a low-dimensional representation of the data and the classifiers that read it
together, and shows where in the brain the decision comes from.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from svdecode import datasets, study
    from svdecode.decoding import decode
    from svdecode.gensvd import GenSVD
    from svdecode.imaging import SVDMDecoder
    from svdecode.study import Study
    from svdecode.svdm import SVDMClassifier, SVDMClassifierCV, TraceNormSVDM
    from svdecode.tensor import DecomposedTensorSVC, KernelCCA, TensorDecomposition, TensorSVC

__version__ = "0.1.0.dev0"

__all__ = [
    "DecomposedTensorSVC",
    "GenSVD",
    "KernelCCA",
    "SVDMClassifier",
    "SVDMClassifierCV",
    "SVDMDecoder",
    "Study",
    "TensorDecomposition",
    "TensorSVC",
    "TraceNormSVDM",
    "__version__",
    "datasets",
    "decode",
    "study",
]

_HOMES = {
    "DecomposedTensorSVC": "svdecode.tensor",
    "GenSVD": "svdecode.gensvd",
    "KernelCCA": "svdecode.tensor",
    "SVDMClassifier": "svdecode.svdm",
    "SVDMClassifierCV": "svdecode.svdm",
    "SVDMDecoder": "svdecode.imaging",
    "Study": "svdecode.study",
    "TensorDecomposition": "svdecode.tensor",
    "TensorSVC": "svdecode.tensor",
    "TraceNormSVDM": "svdecode.svdm",
    "decode": "svdecode.decoding",
}
_MODULES = {"datasets": "svdecode.datasets", "study": "svdecode.study"}


def __getattr__(name: str) -> Any:
    """Import a public name when it is first asked for: `import svdecode` alone waits for nothing."""
    if name in _HOMES:
        value = getattr(import_module(_HOMES[name]), name)
    elif name in _MODULES:
        value = import_module(_MODULES[name])
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(set(globals()) | set(__all__))
