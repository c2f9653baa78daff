"""Remarks of the papers, as tests: the SVM inside the SVDM, PCA at its edge, tasks that help each other."""

import numpy as np
import pytest
from sklearn.decomposition import PCA
from sklearn.svm import LinearSVC
from svdm.cases import FORMULATIONS, IGNORE, data, make

from svdecode.datasets import make_decoding
from svdecode.svdm.kernels.theta import theta_step
from svdecode.svdm.terms import BALL

pytestmark = pytest.mark.filterwarnings(IGNORE)


@pytest.mark.parametrize("svm_weight", [0.01, 0.3, 10.0])
@pytest.mark.parametrize("seed", [0, 1])
def test_a_support_vector_machine_at_the_matching_margin(svm_weight, seed):
    """Pereira & Gordon 2006, §2.5: the SVM's solution over its norm κ solves the Θ step at margin 1/κ.

    The SVM min ‖θ‖² + Q Σ hinge(1 − Y Zθ), bias among θ and penalized, is LIBLINEAR's with C = Q/2.
    The step: min D Σ hinge(μ − Y Zθ) in the unit ball; D does not matter while Z is given.
    """
    rng = np.random.default_rng(seed)
    Z = np.column_stack([np.ones(60), rng.standard_normal((60, 4))])
    y = np.sign(Z @ rng.standard_normal(5) + 0.8 * rng.standard_normal(60))
    svm = LinearSVC(C=svm_weight / 2, loss="hinge", fit_intercept=False, tol=1e-10, max_iter=10**7)
    optimum = svm.fit(Z, y).coef_[0]
    norm = np.linalg.norm(optimum)
    for hinge_weight in (0.1, 7.0):
        theta, _ = theta_step(
            Z, y[:, None], np.full((60, 1), hinge_weight), 1 / norm, np.zeros(5), BALL, 1.0, np.zeros((60, 1))
        )
        assert np.linalg.norm(theta) == pytest.approx(1.0)
        np.testing.assert_allclose(theta[:, 0], optimum / norm, atol=1e-4)
        np.testing.assert_array_equal(np.sign(Z @ theta[:, 0]), np.sign(Z @ optimum))
        # and at another margin it is another machine, unless all samples lie within both
        other, _ = theta_step(
            Z,
            y[:, None],
            np.full((60, 1), hinge_weight),
            0.5 / norm,
            np.zeros(5),
            BALL,
            1.0,
            np.zeros((60, 1)),
        )
        if svm_weight > 0.01:
            assert np.abs(other - theta).max() > 1e-3


@pytest.mark.parametrize("formulation", FORMULATIONS)
@pytest.mark.parametrize("shape", [(30, 60), (40, 12)])
def test_without_a_hinge_it_is_principal_components(formulation, shape):
    """§2.3: as D → 0 the classifiers matter no more; what describes X best is PCA of the centered data.

    The penalties of `penalized` and `balanced` fade with the hinge: all the weight on the reconstruction.
    """
    X, y = data(3, *shape)
    weak = {"shrinkage": 1e-6, "hinge_weight": 1e-9}
    if formulation in ("penalized", "balanced"):
        weak = {"shrinkage": 1e-3, "reconstruction_weight": 1e6}
    params = {"solver": "alternating", "stopping": "decrease", "tol": 1e-14, "max_iter": 500}
    model = make(formulation, 3, **weak, **params).fit(X, y)
    pca = PCA(3).fit(X)
    left = np.sum((X - model.mean_ - model.training_coordinates_ @ model.components_) ** 2)
    assert left == pytest.approx(np.sum((X - pca.inverse_transform(pca.transform(X))) ** 2), rel=1e-6)
    # the same subspace, and so the same images of new samples, and the same mean
    onto = np.linalg.qr(model.components_.T)[0]
    np.testing.assert_allclose(onto @ onto.T, pca.components_.T @ pca.components_, atol=1e-4)
    Z = model.training_coordinates_
    np.testing.assert_allclose(Z.mean(axis=0) @ model.components_ + model.mean_, X.mean(axis=0), atol=1e-6)


SHARING = {
    "balanced": {"shrinkage": 0.3},
    "penalized": {"shrinkage": 0.1},
    "constrained": {"hinge_weight": 300.0, "margin": 1.0},
}


def task_gain(formulation, seed):
    """Accuracy on new samples of four tasks with 8 components together minus that of each with its own 2."""
    tasks = make_decoding(
        n_tasks=4,
        n_shared=4,
        n_specific=0,
        shape=(10, 10, 10),
        signal=0.6,
        region_radius=2.5,
        random_state=seed,
    )
    train, test = tasks.runs <= 2, tasks.runs > 2  # 32 samples, 64 samples
    params = SHARING[formulation] | {"solver": "alternating", "stopping": "decrease", "tol": 1e-4}
    X, Y = tasks.X[train], tasks.y[train]
    together = make(formulation, 8, **params).fit(X, Y).predict(tasks.X[test]) == tasks.y[test]
    alone = [
        make(formulation, 2, **params).fit(X, Y[:, j]).score(tasks.X[test], tasks.y[test, j])
        for j in range(4)
    ]
    return together.mean() - np.mean(alone)


@pytest.mark.parametrize("formulation", SHARING)
def test_tasks_that_share_components_help_each_other(formulation):
    """One Z and W for several tasks, at equal total l; paired over 24 simulated data sets."""
    gains = np.array([task_gain(formulation, seed) for seed in range(24)])
    assert gains.mean() > 0.03
    assert gains.mean() > 4 * gains.std(ddof=1) / np.sqrt(len(gains))
