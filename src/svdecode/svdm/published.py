"""What a fit publishes, and how it reads new samples: the half of the estimators behind the minimization."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from svdecode._checks import FloatArray, read_samples, refuse_non_finite
from svdecode.reduction import Reduction
from svdecode.svdm.common import KernelClassifier
from svdecode.svdm.convex import certify
from svdecode.svdm.escape import remembered
from svdecode.svdm.fitting import Fit
from svdecode.svdm.labels import Labels, Targets, decide
from svdecode.svdm.reading import READOUTS, coordinates, linear_map, reader
from svdecode.svdm.schemes import can_rebalance

SETTLED = 1e-3  # stationarity residual from which a certificate is worth its digits


class ReadsSamples(ClassNamePrefixFeaturesOutMixin, TransformerMixin, KernelClassifier):
    """Names of results, and coordinates, scores and labels of samples."""

    readout: str

    @property
    def _n_features_out(self) -> int:
        raise NotImplementedError

    def _set_results(self, fit: Fit, targets: Targets) -> None:
        """What the fit says of itself."""
        result = fit.result
        self.classes_ = targets.classes
        self.objective_ = result.objective
        self.objective_history_ = result.history
        self.init_objectives_ = fit.start_objectives
        self.stationarity_ = float("nan") if fit.is_unheld else result.stationarity
        self.optimality_gap_, self._escape = float("nan"), None
        if can_rebalance(fit.objective):
            settled = result.stationarity <= SETTLED
            certificate = certify(fit.objective, result.factors, result.multipliers, thorough=settled)
            self.optimality_gap_ = max(result.objective - certificate.bound, 0.0)
            self._escape = remembered(fit, certificate)
        self.n_iter_ = result.n_iter
        self.converged_ = result.converged
        self.scale_ = fit.scale
        self._multilabel = targets.multilabel

    def _set_reading(self, fit: Fit, reduction: Reduction) -> None:
        """What new samples need: plain arrays, for a kernel the reduction too; and the spare coordinates."""
        factors = fit.result.factors
        read = READOUTS[self.readout](fit.objective, factors)
        self._reader = reader(fit.objective, read)
        spare = (0, self._n_features_out - len(read.W))
        self.training_coordinates_ = np.pad(factors.Z, ((0, 0), spare))
        self.discriminants_ = np.pad(np.vstack([read.bias, read.Theta]), (spare, (0, 0)))
        self._reduction: Reduction | None = None
        if not self._is_linear:
            self._reduction, self._basis, self._origin = reduction, read.W, read.mean
            return
        lacking = [] if self._escape is None else [self._escape.pop("image")]
        lifted, mean = reduction.lift_with_mean(fit.scale * np.vstack([*lacking, read.W, read.mean]))
        if self._escape is not None:
            self._escape["component"], lifted = lifted[0], lifted[1:]
        self.components_ = np.pad(lifted[:-1], (spare, (0, 0))) if spare[1] else lifted[:-1]
        self.mean_ = mean + lifted[-1]
        to_scores = linear_map(self._reader) @ read.Theta / fit.scale**2
        self.coef_ = to_scores.T @ lifted[:-1]
        self.intercept_ = read.bias - self.coef_ @ self.mean_

    def _coordinates(self, X: Any) -> FloatArray:
        """Label-free coordinates, without the spare ones."""
        check_is_fitted(self)
        X = read_samples(self, X, reset=False)
        if self._reduction is not None:
            inner = (self._reduction.transform(X) / self.scale_ - self._origin) @ self._basis.T
        else:
            images = self.components_[: len(self._reader["quadratic"])]
            with np.errstate(over="ignore", invalid="ignore"):
                inner = np.asarray(X @ images.T - self.mean_ @ images.T) / self.scale_**2
            if not np.isfinite(inner).all():
                refuse_non_finite(X)
        return coordinates(self._reader, inner)

    def transform(self, X: Any) -> FloatArray:
        """Coordinates of samples, without their labels.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n_samples, n_features)
            New samples (for "precomputed", their kernel values with the training samples).

        Returns
        -------
        array of shape (n_samples, n_components)
            z* = argmin of the objective over z without the hinge.
        """
        Z = self._coordinates(X)
        return np.pad(Z, ((0, 0), (0, self._n_features_out - Z.shape[1])))

    def decision_function(self, X: Any) -> FloatArray:
        """Scores of samples.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n_samples, n_features)
            New samples.

        Returns
        -------
        array of shape (n_samples,) or (n_samples, k)
            z*Θ + b; one column a class, a single score for two classes.
        """
        scores = self._scores(X)
        return scores[:, 0] if scores.shape[1] == 1 else scores

    def _scores(self, X: Any) -> FloatArray:
        Z = self._coordinates(X)
        return np.asarray(Z @ self.discriminants_[1 : 1 + Z.shape[1]] + self.discriminants_[0])

    def predict(self, X: Any) -> Labels:
        """Labels of samples.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n_samples, n_features)
            New samples.

        Returns
        -------
        array of shape (n_samples,) or (n_samples, k)
            Classes, or a multi-label indicator.
        """
        return decide(self._scores(X), self.classes_, multilabel=self._multilabel)
