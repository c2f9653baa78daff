"""SVMs on projections: of all views together, or of those that a sample has."""

from __future__ import annotations

from collections.abc import Sized
from itertools import combinations
from typing import Any

import numpy as np

from svdecode._checks import FloatArray, check_choice
from svdecode.tensor.classifiers import ViewsClassifier
from svdecode.tensor.svc import fit_svm, product


class ProjectionsClassifier(ViewsClassifier):
    """An SVM on projections of the views, φ̂_v(x) = [Σ_i dual_v[i, t] κ_v(x_i, x)]_t.

    For `use="paired"` its kernel is the product of the views' linear kernels on their projections, and there
    is one more SVM for each set of views that a new sample may be left with. For `use=v` it reads view v.
    """

    use: Any
    scale: Any
    C: Any
    tol: Any
    machines_: dict[str, tuple[FloatArray, FloatArray]]
    training_projections_: list[FloatArray]

    @property
    def _duals(self) -> tuple[FloatArray, ...]:
        """Dual weights of the projections, (n, T) or a class first, a view each."""
        raise NotImplementedError

    def _check_use(self) -> None:
        """Refuse what `use` and `scale` cannot be."""
        n_views = len(self.views) if isinstance(self.views, Sized) else 2
        check_choice(self.use, "use", ("paired", *range(n_views)))
        check_choice(self.scale, "scale", (True, False))

    def _fit_machines(self, kernels: list[FloatArray], signs: FloatArray) -> None:
        self.training_projections_ = [self._project(K, v) for v, K in enumerate(kernels)]
        self.machines_ = {_key(uses): self._machine(uses, signs) for uses in self._uses(len(kernels))}

    def _uses(self, n_views: int) -> list[tuple[int, ...]]:
        """Sets of views on which an SVM is wanted."""
        if self.use != "paired":
            return [(int(self.use),)]
        return [chosen for size in range(n_views, 0, -1) for chosen in combinations(range(n_views), size)]

    def _project(self, kernel: FloatArray, view: int) -> FloatArray:
        """Projections of samples by their kernel values, a class first."""
        dual = self._duals[view]
        return np.stack([kernel @ one for one in (dual if dual.ndim == 3 else dual[None])])

    def _machine(self, uses: tuple[int, ...], signs: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Dual weights (k, n) and biases (k,) of the SVMs on the projections of some views."""
        fits = []
        for j, column in enumerate(signs.T):
            K = product(F @ F.T for F in (self._of_class(v, j) for v in uses))
            size = float(K.diagonal().mean()) if self.scale else 1.0
            size = size if size > 0 else 1.0
            signed, bias = fit_svm(K / size, column, self.C, self.tol)
            fits.append((signed / size, bias))
        return np.array([signed for signed, _ in fits]), np.array([bias for _, bias in fits])

    def _of_class(self, view: int, j: int) -> FloatArray:
        """Projections of the training samples for the problem of class j (kernel CCA: one set for all)."""
        projections = self.training_projections_[view]
        return np.asarray(projections[min(j, len(projections) - 1)])

    def _scores(self, X: Any) -> FloatArray:
        if self.use != "paired":
            return self._of_one_view(X, int(self.use))
        values, present = self._cross(X)
        out = np.empty((len(present), max(1, len(self.classes_) if len(self.classes_) > 2 else 1)))
        for pattern in np.unique(present, axis=0):
            rows = (present == pattern).all(axis=1)
            uses = tuple(int(v) for v in np.flatnonzero(pattern))
            out[rows] = self._apply(uses, {v: self._project(values[v][rows], v) for v in uses})
        return out

    def _of_one_view(self, X: Any, view: int) -> FloatArray:
        blocks = self._read_new(X)
        kernel, present = self.kernels_.cross(blocks, view)
        if not present.all():
            raise ValueError(
                f"X: found NaN in every column of view {view} in row {int(np.argmin(present))}, expected "
                f"that view, on which use={self.use!r} rests"
            )
        return self._apply((view,), {view: self._project(kernel, view)})

    def _apply(self, uses: tuple[int, ...], new: dict[int, FloatArray]) -> FloatArray:
        """Scores of new samples by their projections."""
        weights, biases = self.machines_[_key(uses)]
        columns = [
            product(new[v][min(j, len(new[v]) - 1)] @ self._of_class(v, j).T for v in uses) @ weights[j]
            for j in range(len(biases))
        ]
        return np.asarray(np.column_stack(columns) + biases)

    def _maps(self, lifted: list[FloatArray | None]) -> list[FloatArray | None]:
        """Weights of the SVM of each view alone in the columns of the view, by those of the projections."""
        maps: list[FloatArray | None] = []
        for v, weights in enumerate(lifted):
            if weights is None or _key((v,)) not in self.machines_:
                maps.append(None)
                continue
            by_class = weights if weights.ndim == 3 else weights[None]
            signed = self.machines_[_key((v,))][0]
            maps.append(
                np.stack(
                    [
                        s @ self._of_class(v, j) @ by_class[min(j, len(by_class) - 1)]
                        for j, s in enumerate(signed)
                    ]
                )
            )
        return maps


def _key(uses: tuple[int, ...]) -> str:
    """Name of a set of views (text, which every way of storing takes for a key)."""
    return ",".join(map(str, uses))
