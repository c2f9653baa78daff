"""Baselines that reduce first: SVD, ICA or SVDM, then a classifier (Pereira & Gordon 2006, 3.3)."""

from __future__ import annotations

from typing import Any

from sklearn.pipeline import Pipeline

from svdecode.study.components import IndependentComponents, SingularComponents
from svdecode.study.discriminants import GaussianNaiveBayes
from svdecode.study.linear import LinearSVM
from svdecode.study.preprocessing import OverallScale
from svdecode.svdm import SVDMClassifier


def pipeline(**steps: Any) -> Pipeline:
    """Pipeline of named steps."""
    return Pipeline(list(steps.items()))


def svd_gnb(n_components: int = 8) -> Pipeline:
    """SVD, then Gaussian naive Bayes (Pereira & Gordon 2006, 3.3: GNB+SVD).

    Parameters
    ----------
    n_components : int, default 8
        Number of components.

    Returns
    -------
    Pipeline
        A pipeline.

    Examples
    --------
    >>> from svdecode.datasets import load_haxby2001_slice
    >>> from svdecode.study import svd_gnb
    >>> data = load_haxby2001_slice()
    >>> svd_gnb().fit(data.X[:64], data.y[:64]).score(data.X[64:], data.y[64:]) > 0.3
    True
    """
    return pipeline(
        scale=OverallScale(), reduce=SingularComponents(n_components), classify=GaussianNaiveBayes()
    )


def svd_svm(n_components: int = 8, C: float = 1.0) -> Pipeline:
    """SVD, then a linear support vector machine (Pereira & Gordon 2006, 3.3: linearSVM+SVD).

    Parameters
    ----------
    n_components : int, default 8
        Number of components.
    C : float, default 1.0
        Weight of the hinges.

    Returns
    -------
    Pipeline
        A pipeline.

    Examples
    --------
    >>> from svdecode.datasets import load_haxby2001_slice
    >>> from svdecode.study import svd_svm
    >>> data = load_haxby2001_slice()
    >>> svd_svm().fit(data.X[:64], data.y[:64]).score(data.X[64:], data.y[64:]) > 0.3
    True
    """
    return pipeline(scale=OverallScale(), reduce=SingularComponents(n_components), classify=LinearSVM(C))


def ica_gnb(n_components: int = 8, *, random_state: Any = 0) -> Pipeline:
    """ICA, then Gaussian naive Bayes (Pereira & Gordon 2006, 3.3: GNB+ICA).

    Parameters
    ----------
    n_components : int, default 8
        Number of components.
    random_state : int or None, default 0
        Seed of the start of ICA.

    Returns
    -------
    Pipeline
        A pipeline.

    Examples
    --------
    >>> from svdecode.datasets import load_haxby2001_slice
    >>> from svdecode.study import ica_gnb
    >>> data = load_haxby2001_slice()
    >>> ica_gnb().fit(data.X[:64], data.y[:64]).score(data.X[64:], data.y[64:]) > 0.3
    True
    """
    return pipeline(
        reduce=IndependentComponents(n_components, random_state=random_state), classify=GaussianNaiveBayes()
    )


def ica_svm(n_components: int = 8, C: float = 1.0, *, random_state: Any = 0) -> Pipeline:
    """ICA, then a linear support vector machine (Pereira & Gordon 2006, 3.3: linearSVM+ICA).

    Parameters
    ----------
    n_components : int, default 8
        Number of components.
    C : float, default 1.0
        Weight of the hinges.
    random_state : int or None, default 0
        Seed of the start of ICA.

    Returns
    -------
    Pipeline
        A pipeline; the scale is that of the coordinates, which are of unit variance.

    Examples
    --------
    >>> from svdecode.datasets import load_haxby2001_slice
    >>> from svdecode.study import ica_svm
    >>> data = load_haxby2001_slice()
    >>> ica_svm().fit(data.X[:64], data.y[:64]).score(data.X[64:], data.y[64:]) > 0.3
    True
    """
    return pipeline(
        reduce=IndependentComponents(n_components, random_state=random_state),
        scale=OverallScale(),
        classify=LinearSVM(C),
    )


def svdm(
    n_components: int = 8,
    *,
    shrinkage: float = 0.1,
    hinge_weight: float = 100.0,
    random_state: Any = None,
    **parameters: Any,
) -> SVDMClassifier:
    """The Support Vector Decomposition Machine itself.

    Parameters
    ----------
    n_components : int, default 8
        Number of components.
    shrinkage : float, default 0.1
        Weight of the penalties, where the formulation has such.
    hinge_weight : float, default 100.0
        Weight of the hinges, where the formulation has such.
    random_state : int or None, default None
        Seed of random starts.
    **parameters : object
        Further ones of SVDMClassifier.

    Returns
    -------
    SVDMClassifier
        Not fitted.

    Examples
    --------
    >>> from svdecode.datasets import load_haxby2001_slice
    >>> from svdecode.study import svdm
    >>> data = load_haxby2001_slice()
    >>> svdm().fit(data.X[:64], data.y[:64]).score(data.X[64:], data.y[64:]) > 0.3
    True
    """
    return SVDMClassifier(
        n_components, shrinkage=shrinkage, hinge_weight=hinge_weight, random_state=random_state, **parameters
    )


def svdm_gnb(
    n_components: int = 8,
    *,
    shrinkage: float = 0.1,
    hinge_weight: float = 100.0,
    random_state: Any = None,
    **parameters: Any,
) -> Pipeline:
    """SVDM's features, then Gaussian naive Bayes (Pereira & Gordon 2006, 3.3: GNB+SVDM).

    Parameters
    ----------
    n_components : int, default 8
        Number of components.
    shrinkage : float, default 0.1
        Weight of the penalties, where the formulation has such.
    hinge_weight : float, default 100.0
        Weight of the hinges, where the formulation has such.
    random_state : int or None, default None
        Seed of random starts.
    **parameters : object
        Further ones of SVDMClassifier.

    Returns
    -------
    Pipeline
        A pipeline. Training samples, too, are read without their labels (`transform`).

    Examples
    --------
    >>> from svdecode.datasets import load_haxby2001_slice
    >>> from svdecode.study import svdm_gnb
    >>> data = load_haxby2001_slice()
    >>> svdm_gnb().fit(data.X[:64], data.y[:64]).score(data.X[64:], data.y[64:]) > 0.3
    True
    """
    return pipeline(
        reduce=SVDMClassifier(
            n_components,
            shrinkage=shrinkage,
            hinge_weight=hinge_weight,
            random_state=random_state,
            **parameters,
        ),
        classify=GaussianNaiveBayes(),
    )


def svdm_svm(
    n_components: int = 8,
    C: float = 1.0,
    *,
    shrinkage: float = 0.1,
    hinge_weight: float = 100.0,
    random_state: Any = None,
    **parameters: Any,
) -> Pipeline:
    """SVDM's features, then a linear support vector machine (Pereira & Gordon 2006, 3.3: linearSVM+SVDM).

    Parameters
    ----------
    n_components : int, default 8
        Number of components.
    C : float, default 1.0
        Weight of the hinges.
    shrinkage : float, default 0.1
        Weight of the penalties, where the formulation has such.
    hinge_weight : float, default 100.0
        Weight of the hinges, where the formulation has such.
    random_state : int or None, default None
        Seed of random starts.
    **parameters : object
        Further ones of SVDMClassifier.

    Returns
    -------
    Pipeline
        A pipeline. Training samples, too, are read without their labels (`transform`).

    Examples
    --------
    >>> from svdecode.datasets import load_haxby2001_slice
    >>> from svdecode.study import svdm_svm
    >>> data = load_haxby2001_slice()
    >>> svdm_svm().fit(data.X[:64], data.y[:64]).score(data.X[64:], data.y[64:]) > 0.3
    True
    """
    return pipeline(
        reduce=SVDMClassifier(
            n_components,
            shrinkage=shrinkage,
            hinge_weight=hinge_weight,
            random_state=random_state,
            **parameters,
        ),
        scale=OverallScale(),
        classify=LinearSVM(C),
    )
