"""TensorDecomposition: validates, dispatches, names the results."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from svdecode._checks import FloatArray, check_choice, check_count, check_number
from svdecode.tensor.base import ViewProjections
from svdecode.tensor.bounds import BOUNDS, bound_curve, smallest, spectrum
from svdecode.tensor.decomposition import Decomposition
from svdecode.tensor.factors import Factors, factor
from svdecode.tensor.multiway import DECOMPOSITIONS, decompose_views, stacked_cores
from svdecode.tensor.selection import chosen_by_lasso
from svdecode.tensor.svc import fit_svms, product, read_labels

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: the view whose eigenvalues a bound looks at: the paper's y
BOUND_VIEW = 1


class TensorDecomposition(ViewProjections, TransformerMixin, BaseEstimator):
    """Decomposition of the tensor-kernel SVM into projections of each view (TD).

    An SVM whose kernel is the product of two views' kernels has a weight matrix W, with a row a feature of
    the first and a column a feature of the second view. Its singular vectors are directions of
    each view, those that tell the classes apart *together*: a space that both views share, in which
    either can be read alone, compared with the other, or shown as a map. They are computed from kernel values
    alone.

    Parameters
    ----------
    views : list
        Which columns of X are a view: an entry a view, each a slice, column numbers, a mask, a column name or
        names; or numbers of columns, which add up to those of X. If X is a list of matrices, one a view,
        only the number of entries counts. Square matrices are the training kernels themselves (then
        `fit(None, y)` will do).
    n_projections : {"bound", "theorem", "theorem_homogeneous", "max", "lasso"} or int, default "bound"
        Number of projections (the paper's T). "bound": where the paper's simplified bound is lowest;
        "theorem": where Theorem 1 is, as printed, "theorem_homogeneous" as it was first published; "max":
        all; "lasso": those that a LASSO on the labels keeps. Above the rank spare projections are zero.
    kernel : {"linear", "rbf", "polynomial", "precomputed"} or callable, or a list, default "linear"
        Inner product in each view. With "precomputed" the columns of a view are its kernel values with the
        training samples.
    C : float, default 1.0
        Upper bound of the SVM's dual weights.
    gamma, degree, coef0 : float, or a list
        Of the kernels; see `svdecode.reduction.kernel_matrix`.
    center : bool, or a list, default True
        Whether the training samples' mean is the origin of each view's feature space, as in the paper.
        Products of centered kernels cancel what each view tells by itself; ``kernel="polynomial",
        degree=1, coef0=1, center=False`` is 1 + γ⟨x, x'⟩, whose products keep it.
    tol : float, default 1e-3
        LIBSVM's stopping tolerance.
    failure_probability : float, default 0.05
        Theorem 1's δ; it shifts the bound and does not change where it is lowest.
    radius : float, optional
        Theorem 1's R; by default the radius of the training samples. It shifts the bound too.
    lasso_view : int, optional
        The view whose projections the LASSO sees (the paper: the brain's); by default the products of both
        views' projections.
    decomposition : {"cp", "tucker"}, default "cp"
        How the weights of more than two views are taken apart (needs the extra [tensor]). "cp": a sum of
        products of one direction a view. "tucker": directions of each view by themselves, and a core that
        says how they go together. Two views have the singular value decomposition.
    random_state : int, RandomState or None, default None
        Seed of the random starts of "cp" for more than two views.

    Attributes
    ----------
    n_projections_ : int
        Number of projections.
    dual_weights_ : tuple of arrays of shape (n_samples, n_projections)
        Weights (β, γ) of the projections on the training samples, a view each. With more than two classes
        there is one decomposition a class against the rest, and a leading axis of classes.
    weights_ : list of arrays of shape (n_projections, m_v)
        The same in the columns of each view, computed when asked for; None where its kernel has none
        (one that is neither "linear" nor "polynomial" of degree 1).
        Those of the first view have length one, those of the second the singular value, if linear.
    singular_values_ : array of shape (n_projections,)
        Singular values of W (υ), descending but for "lasso", which skips some; with a leading axis of classes
        for more than two.
    core_ : array of shape (n_projections, …, n_projections) or None
        With "tucker" and more than two views, an axis a view: f = Σ core_[s, …, t] φ̂_1(x)_s … φ̂_V(x)_t + b,
        a class first for more than two. None where f = Σ_t φ̂_1(x)_t … φ̂_V(x)_t + b.
    classes_ : array
        The classes.
    dual_coef_ : array of shape (k, n_samples)
        The SVM's dual weights with the signs of the labels, α_i c_i.
    intercept_ : array of shape (k,)
        Its bias.
    kernels_ : ViewKernels
        The training samples of each view.

    See Also
    --------
    TensorSVC : The SVM itself.
    DecomposedTensorSVC : Classifies by these projections.
    KernelCCA : Projections that do not know the labels.

    Notes
    -----
    Signs: Σ_i α_i c_i ⟨w_xᵗ, φ_x(x_i)⟩ ≥ 0, so that in the first view high values go with the second class
    (the class, against the rest).

    References
    ----------
    D. R. Hardoon, J. Shawe-Taylor: Decomposing the tensor kernel support vector machine for neuroscience data
    with structured labels. Machine Learning 79, 2010.

    Examples
    --------
    >>> import numpy as np
    >>> from svdecode import TensorDecomposition
    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat([0, 1], 20)
    >>> shared = rng.standard_normal((40, 1)) + y[:, None]
    >>> brain = shared * rng.standard_normal(300) + rng.standard_normal((40, 300))
    >>> picture = shared * rng.standard_normal(20) + rng.standard_normal((40, 20))
    >>> model = TensorDecomposition([300, 20], n_projections=3).fit(np.hstack([brain, picture]), y)
    >>> [weights.shape for weights in model.weights_]
    [(3, 300), (3, 20)]
    >>> model.transform([brain, None], view=0).shape
    (40, 3)
    """

    def __init__(
        self,
        views: Any,
        *,
        n_projections: int | str = "bound",
        kernel: Any = "linear",
        C: float = 1.0,
        gamma: Any = None,
        degree: Any = 3,
        coef0: Any = 1,
        center: Any = True,
        tol: float = 1e-3,
        failure_probability: float = 0.05,
        radius: float | None = None,
        lasso_view: int | None = None,
        decomposition: str = "cp",
        random_state: Any = None,
    ) -> None:
        super().__init__(views, kernel=kernel, gamma=gamma, degree=degree, coef0=coef0, center=center)
        self.n_projections = n_projections
        self.C = C
        self.tol = tol
        self.failure_probability = failure_probability
        self.radius = radius
        self.lasso_view = lasso_view
        self.decomposition = decomposition
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> TensorDecomposition:
        """Fit the SVM and decompose it.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n_samples, n_features), or list of matrices
            Training samples with all their views.
        y : array of shape (n_samples,)
            Class labels.

        Returns
        -------
        TensorDecomposition
            The fitted object.
        """
        self._check()
        pairs = self._read_training(X)
        kernels = [K for K, _ in pairs]
        check_choice(self.lasso_view, "lasso_view", (None, *range(len(kernels))))
        if len(kernels) > 2 and self.decomposition == "tucker" and self.n_projections == "lasso":
            raise ValueError(
                "n_projections: found 'lasso' with decomposition='tucker', where no projection of one view "
                "belongs to one of another; expected decomposition='cp'"
            )
        self.classes_, signs = read_labels(y, self.kernels_.n_samples)
        self.dual_coef_, self.intercept_ = fit_svms(product(kernels), signs, self.C, self.tol)
        factors = Factors(kernels, [noise for _, noise in pairs])
        for v, rows in enumerate(self.kernels_.rows):
            if not rows.semidefinite:
                factors.check(v)
        wanted = self._wanted(kernels, factors)
        how = {"decomposition": self.decomposition, "random_state": self.random_state}
        parts = [decompose_views(kernels, a, wanted, factors=factors, **how) for a in self.dual_coef_]
        if self.n_projections == "lasso":
            parts = [self._lasso(kernels, part, c) for part, c in zip(parts, signs.T, strict=True)]
        self._set_results(parts)
        return self

    def _check(self) -> None:
        if isinstance(self.n_projections, str):
            check_choice(self.n_projections, "n_projections", (*BOUNDS, "max", "lasso"))
        else:
            check_count(self.n_projections, "n_projections")
        check_number(self.C, "C", positive=True)
        check_number(self.tol, "tol", positive=True)
        probability = check_number(self.failure_probability, "failure_probability", positive=True)
        if probability >= 1:
            raise ValueError(f"failure_probability: found {probability:g}, expected a number below 1")
        if self.radius is not None:
            check_number(self.radius, "radius", positive=True)
        check_choice(self.decomposition, "decomposition", DECOMPOSITIONS)

    def _wanted(self, kernels: Sequence[FloatArray], factors: Sequence[FloatArray]) -> int | None:
        """How many are asked for, None for all. Of a bound, the most that a view after the first wants."""
        if self.n_projections in BOUNDS:
            kind = str(self.n_projections)
            views = zip(kernels[BOUND_VIEW:], factors[BOUND_VIEW:], strict=True)
            return max(smallest(self._curve(kind, spectrum(K, L), K.diagonal())) for K, L in views)
        return None if isinstance(self.n_projections, str) else int(self.n_projections)

    def _curve(self, kind: str, eigenvalues: FloatArray, diagonal: FloatArray) -> FloatArray:
        return bound_curve(
            kind,
            eigenvalues,
            diagonal,
            failure_probability=self.failure_probability,
            radius=self.radius,
        )

    def _lasso(self, kernels: Sequence[FloatArray], part: Decomposition, signs: FloatArray) -> Decomposition:
        chosen_views = range(len(kernels)) if self.lasso_view is None else [self.lasso_view]
        features = product(kernels[v] @ part.duals[v] for v in chosen_views)
        return part.take(chosen_by_lasso(features, signs))

    def _set_results(self, parts: Sequence[Decomposition]) -> None:
        most = max(1, *(part.rank for part in parts))
        fixed = not isinstance(self.n_projections, str)
        self.n_projections_ = int(self.n_projections) if fixed else most
        parts = [part.padded(self.n_projections_) for part in parts]
        self.core_ = stacked_cores(parts)
        if len(parts) == 1:
            self.dual_weights_, self.singular_values_ = parts[0].duals, parts[0].strengths
        else:
            stacked = zip(*(part.duals for part in parts), strict=True)
            self.dual_weights_ = tuple(np.stack(duals) for duals in stacked)
            self.singular_values_ = np.stack([part.strengths for part in parts])

    def bound_values(self, kind: str | None = None) -> FloatArray:
        """Values of a bound at 1, 2, … projections, from the second view's training samples.

        Parameters
        ----------
        kind : {"bound", "theorem", "theorem_homogeneous"}, optional
            Which; by default that of `n_projections`, or the simplified one where that is no bound.

        Returns
        -------
        array of shape (rank,)
            The bound for each number of projections up to the rank of the view.
        """
        check_is_fitted(self)
        if kind is None:
            kind = str(self.n_projections) if self.n_projections in BOUNDS else "bound"
        check_choice(kind, "kind", BOUNDS)
        K, noise = self.kernels_.rows[BOUND_VIEW].gram()
        return self._curve(kind, spectrum(K, factor(K, noise)), K.diagonal())

    def plot_bound(self, kind: str | None = None, *, ax: Axes | None = None) -> Axes:
        """Plot a bound over the number of projections, and how many were taken.

        Parameters
        ----------
        kind : {"bound", "theorem", "theorem_homogeneous"}, optional
            As for `bound_values`.
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.

        Returns
        -------
        matplotlib Axes
            The plot (the paper's Figure 1).
        """
        from svdecode.report.bounds import bound_plot

        return bound_plot(self.bound_values(kind), self.n_projections_, ax=ax)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags
