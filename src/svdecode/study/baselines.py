"""What one compares with: each a function that makes an ordinary scikit-learn estimator.

Parameters mean the same in all of them: `n_components`, `C` (weight of hinges), `n_voxels`. Data go in on
one scale (`OverallScale`: no column by itself), so that grids of `C` and `alpha` mean the same everywhere.
Pipelines call their steps "scale", "select", "reduce", "metric" and "classify"; `coefficients` takes what
they learned back to the features.
"""

from __future__ import annotations

from typing import Any

from sklearn.linear_model import RidgeClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import Pipeline

from svdecode.study.components import NeighborhoodComponents, SingularComponents
from svdecode.study.discriminants import GaussianNaiveBayes, ShrinkageLDA
from svdecode.study.linear import LinearSVM
from svdecode.study.pls import PLSDA
from svdecode.study.preprocessing import OverallScale
from svdecode.study.selection import RecursiveSelection, UnivariateSelection
from svdecode.study.two_phase import ica_gnb, ica_svm, pipeline, svd_gnb, svd_svm, svdm, svdm_gnb, svdm_svm

__all__ = [
    "gnb",
    "ica_gnb",
    "ica_svm",
    "linear_svm",
    "nca",
    "pls_da",
    "recursive_selection_svm",
    "ridge",
    "shrinkage_lda",
    "svd_gnb",
    "svd_svm",
    "svdm",
    "svdm_gnb",
    "svdm_svm",
    "univariate_selection_svm",
]


def gnb(variances: str = "pooled") -> GaussianNaiveBayes:
    """Gaussian naive Bayes on all features (Pereira & Gordon 2006, 3.3: GNB).

    Parameters
    ----------
    variances : {"pooled", "class"}, default "pooled"
        See GaussianNaiveBayes.

    Returns
    -------
    GaussianNaiveBayes
        Not fitted.

    Examples
    --------
    >>> from svdecode.datasets import load_haxby2001_slice
    >>> from svdecode.study import gnb
    >>> data = load_haxby2001_slice()
    >>> gnb().fit(data.X[:64], data.y[:64]).score(data.X[64:], data.y[64:]) > 0.3
    True
    """
    return GaussianNaiveBayes(variances=variances)


def linear_svm(C: float = 1.0) -> Pipeline:
    """Linear support vector machine on all features (Pereira & Gordon 2006, 3.3: linearSVM).

    Parameters
    ----------
    C : float, default 1.0
        Weight of the hinges.

    Returns
    -------
    Pipeline
        A pipeline.

    Examples
    --------
    >>> from svdecode.datasets import load_haxby2001_slice
    >>> from svdecode.study import linear_svm
    >>> data = load_haxby2001_slice()
    >>> linear_svm().fit(data.X[:64], data.y[:64]).score(data.X[64:], data.y[64:]) > 0.3
    True
    """
    return pipeline(scale=OverallScale(), classify=LinearSVM(C))


def pls_da(n_components: int = 8) -> PLSDA:
    """Partial least squares discriminant analysis.

    Parameters
    ----------
    n_components : int, default 8
        Number of components.

    Returns
    -------
    PLSDA
        Not fitted.

    Examples
    --------
    >>> from svdecode.datasets import load_haxby2001_slice
    >>> from svdecode.study import pls_da
    >>> data = load_haxby2001_slice()
    >>> pls_da().fit(data.X[:64], data.y[:64]).score(data.X[64:], data.y[64:]) > 0.3
    True
    """
    return PLSDA(n_components)


def shrinkage_lda(shrinkage: Any = "auto") -> ShrinkageLDA:
    """Linear discriminant analysis with a covariance shrunk towards a multiple of the identity.

    Parameters
    ----------
    shrinkage : "auto" or float, default "auto"
        Above 0 and at most 1; "auto" is Ledoit and Wolf's.

    Returns
    -------
    ShrinkageLDA
        Not fitted.

    Examples
    --------
    >>> from svdecode.datasets import load_haxby2001_slice
    >>> from svdecode.study import shrinkage_lda
    >>> data = load_haxby2001_slice()
    >>> shrinkage_lda().fit(data.X[:64], data.y[:64]).score(data.X[64:], data.y[64:]) > 0.3
    True
    """
    return ShrinkageLDA(shrinkage=shrinkage)


def nca(n_components: int = 8, *, n_singular: int = 20, n_neighbors: int = 1, max_iter: int = 50) -> Pipeline:
    """Neighborhood components analysis after SVD, then nearest neighbors: a metric that is learned.

    It stands for the metric learning of Pereira & Gordon 2006, 2.6 and 5. Of its weights `component_maps`
    and `voxel_weights` make maps.

    Parameters
    ----------
    n_components : int, default 8
        Number of components.
    n_singular : int, default 20
        Number of singular directions that the metric is learned on.
    n_neighbors : int, default 1
        How many vote.
    max_iter : int, default 50
        Iterations of the learning at most.

    Returns
    -------
    Pipeline
        A pipeline.

    Examples
    --------
    >>> from svdecode.datasets import load_haxby2001_slice
    >>> from svdecode.study import nca
    >>> data = load_haxby2001_slice()
    >>> nca().fit(data.X[:64], data.y[:64]).score(data.X[64:], data.y[64:]) > 0.3
    True
    """
    return pipeline(
        scale=OverallScale(),
        reduce=SingularComponents(n_singular),
        metric=NeighborhoodComponents(n_components, max_iter=max_iter),
        classify=KNeighborsClassifier(n_neighbors),
    )


def univariate_selection_svm(n_voxels: int = 500, C: float = 1.0) -> Pipeline:
    """Voxels whose class means differ most, then a linear support vector machine.

    Parameters
    ----------
    n_voxels : int, default 500
        How many are kept.
    C : float, default 1.0
        Weight of the hinges.

    Returns
    -------
    Pipeline
        A pipeline.

    Examples
    --------
    >>> from svdecode.datasets import load_haxby2001_slice
    >>> from svdecode.study import univariate_selection_svm
    >>> data = load_haxby2001_slice()
    >>> univariate_selection_svm().fit(data.X[:64], data.y[:64]).score(data.X[64:], data.y[64:]) > 0.3
    True
    """
    return pipeline(select=UnivariateSelection(n_voxels), scale=OverallScale(), classify=LinearSVM(C))


def recursive_selection_svm(n_voxels: int = 500, C: float = 1.0, *, selection_C: float = 1.0) -> Pipeline:
    """Voxels left by recursive elimination (Guyon et al. 2002), then a linear support vector machine.

    Parameters
    ----------
    n_voxels : int, default 500
        How many are kept.
    C : float, default 1.0
        Weight of the hinges.
    selection_C : float, default 1.0
        Weight of the hinges of the machine that selects.

    Returns
    -------
    Pipeline
        A pipeline.

    Examples
    --------
    >>> from svdecode.datasets import load_haxby2001_slice
    >>> from svdecode.study import recursive_selection_svm
    >>> data = load_haxby2001_slice()
    >>> recursive_selection_svm().fit(data.X[:64], data.y[:64]).score(data.X[64:], data.y[64:]) > 0.3
    True
    """
    return pipeline(
        select=RecursiveSelection(n_voxels, C=selection_C), scale=OverallScale(), classify=LinearSVM(C)
    )


def ridge(alpha: float = 1.0) -> Pipeline:
    """Ridge regression of the classes' ±1 on all features.

    Parameters
    ----------
    alpha : float, default 1.0
        Weight of the squared coefficients, of data whose rows have a root mean square norm of 1.

    Returns
    -------
    Pipeline
        A pipeline.

    Examples
    --------
    >>> from svdecode.datasets import load_haxby2001_slice
    >>> from svdecode.study import ridge
    >>> data = load_haxby2001_slice()
    >>> ridge().fit(data.X[:64], data.y[:64]).score(data.X[64:], data.y[64:]) > 0.3
    True
    """
    return pipeline(scale=OverallScale(), classify=RidgeClassifier(alpha))
