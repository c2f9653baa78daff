"""Two views and more: the tensor-kernel SVM and its decomposition, kernel CCA, retrieval."""

from svdecode.tensor.retrieval import Retrieval, rank_training_samples, retrieval_scores, retrieve
from svdecode.tensor.vision import VisualWords

__all__ = ["Retrieval", "VisualWords", "rank_training_samples", "retrieval_scores", "retrieve"]
