"""The baselines' own estimators among scikit-learn's: its checks, and storage."""

import warnings

import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.estimator_checks import parametrize_with_checks

from svdecode.study import (
    PLSDA,
    GaussianNaiveBayes,
    IndependentComponents,
    LinearSVM,
    NeighborhoodComponents,
    OverallScale,
    RecursiveSelection,
    ShrinkageLDA,
    SingularComponents,
    UnivariateSelection,
)

CHECKED = [
    LinearSVM(),
    GaussianNaiveBayes(),
    GaussianNaiveBayes(variances="class"),
    ShrinkageLDA(),
    PLSDA(2),
    SingularComponents(2),
    IndependentComponents(2),
    NeighborhoodComponents(2, max_iter=10),
    OverallScale(),
    UnivariateSelection(3),
    RecursiveSelection(3),
]


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
@parametrize_with_checks(CHECKED)
def test_scikit_learn_accepts_it(estimator, check):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        check(estimator)
