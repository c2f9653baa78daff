"""What SVDMClassifier and SVDMClassifierCV share as scikit-learn estimators."""

from __future__ import annotations

import warnings
from typing import Any

from sklearn.base import ClassifierMixin
from sklearn.exceptions import ConvergenceWarning

from svdecode.svdm.fitting import Fit, Weights
from svdecode.svdm.labels import accuracy

#: what a stored `SVDMClassifier`, `SVDMClassifierCV` or `TraceNormSVDM` asks skops to trust; the last three
#: only where the kernel is not "linear"
TRUSTED_TYPES = (
    "svdecode.svdm.estimator.SVDMClassifier",
    "svdecode.svdm.search.SVDMClassifierCV",
    "svdecode.svdm.trace_norm.TraceNormSVDM",
    "svdecode.reduction.core.Reduction",
    "svdecode.reduction.kernels.KernelRows",
    "svdecode.reduction.rows.LinearRows",
)

ADVICE = "Raise max_iter or tol, or use solver='splitting'"


class KernelClassifier(ClassifierMixin):
    """A classifier with a `kernel` that takes labels of all kinds, unknown ones too."""

    kernel: Any
    _advice = ADVICE

    @property
    def _is_linear(self) -> bool:
        return isinstance(self.kernel, str) and self.kernel == "linear"

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Accuracy.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n_samples, n_features)
            New samples.
        y : array of shape (n_samples,) or (n_samples, k)
            Their labels; rows of which none is known do not count.
        sample_weight : array of shape (n_samples,), optional
            Weights of the samples.

        Returns
        -------
        float
            Share of samples with the right class; of a multi-label y with all known labels right.
        """
        return accuracy(y, self.predict(X), sample_weight)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = isinstance(self.kernel, str) and self.kernel == "precomputed"
        tags.classifier_tags.multi_label = True
        return tags


def warn_of(fit: Fit, weights: Weights, advice: str = ADVICE) -> None:
    """Say what is weak about a fit, to the caller of `SVDMClassifier.fit`.

    Parameters
    ----------
    fit : Fit
        The fit.
    weights : Weights
        What was asked for.
    advice : str
        What to do about a fit that did not converge.
    """
    if fit.is_unheld:
        warnings.warn(
            f"formulation={weights.formulation!r} with basis_norm={weights.basis_norm!r} has no minimizer: "
            "nothing holds Z while W or Θ shrink; start and stopping rule define the result",
            UserWarning,
            stacklevel=4,
        )
    if not fit.result.converged:
        if weights.formulation in ("boxed", "svm"):
            advice = "Its objective need not have a minimizer: stopping='decrease' is the papers' rule"
        warnings.warn(
            f"the fit did not converge: {fit.result.message} ({fit.result.n_iter} iterations, optimality "
            f"residual {fit.result.stationarity:.1e}). {advice}",
            ConvergenceWarning,
            stacklevel=4,
        )
