"""Two views and more: the tensor-kernel SVM and its decomposition, kernel CCA, retrieval."""

from svdecode.tensor.base import TRUSTED_TYPES
from svdecode.tensor.baselines import ConcatenatedSVC, KernelCCASVC
from svdecode.tensor.cca import KernelCCA
from svdecode.tensor.classifiers import TensorSVC
from svdecode.tensor.dts import DecomposedTensorSVC
from svdecode.tensor.estimators import TensorDecomposition
from svdecode.tensor.retrieval import Retrieval, rank_training_samples, retrieval_scores, retrieve
from svdecode.tensor.vision import VisualWords

__all__ = [
    "TRUSTED_TYPES",
    "ConcatenatedSVC",
    "DecomposedTensorSVC",
    "KernelCCA",
    "KernelCCASVC",
    "Retrieval",
    "TensorDecomposition",
    "TensorSVC",
    "VisualWords",
    "rank_training_samples",
    "retrieval_scores",
    "retrieve",
]
