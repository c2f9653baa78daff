"""Baselines: agreement with independent answers, weights, and their place among scikit-learn's."""

import pickle
import warnings

import numpy as np
import pytest
from scipy.stats import norm
from sklearn.base import clone
from sklearn.covariance import ledoit_wolf
from sklearn.cross_decomposition import PLSRegression
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_selection import f_classif
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.multiclass import OneVsRestClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, NeighborhoodComponentsAnalysis
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from svdecode.datasets import load_haxby2001_slice
from svdecode.reduction import SharedGram
from svdecode.study import (
    METHODS,
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
    coefficients,
    component_maps,
    inner_splits,
    leave_one_run_out,
    linear_svm,
    make_method,
    nca,
    ridge,
    shrinkage_lda,
    svd_svm,
    svdm_svm,
    univariate_selection_svm,
    voxel_weights,
    whole_runs,
)
from svdecode.study.discriminants import ledoit_wolf as intensity

SLICE = load_haxby2001_slice()
FEW = {  # so that every method is fitted in little time
    "svdm": {"stopping": "decrease", "tol": 1e-3},
    "svdm_gnb": {"stopping": "decrease", "tol": 1e-3},
    "svdm_svm": {"stopping": "decrease", "tol": 1e-3},
    "nca": {"n_singular": 10, "n_neighbors": [3, 1], "max_iter": 5},
    "univariate_selection_svm": {"n_voxels": [20, 100], "C": 1.0},
    "recursive_selection_svm": {"n_voxels": [20, 100], "C": 1.0},
}
SIZED = [kind for kind, factory in METHODS.items() if factory().sizes]


def method(kind):
    sizes = {"sizes": [2, 5]} if kind in SIZED else {}
    return METHODS[kind](**sizes, **FEW.get(kind, {}))


def problem(n_classes=3, n=30, m=80, seed=0):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % n_classes
    X = rng.standard_normal((n, m)) + 7.0
    X[:, : 2 * n_classes] += 1.5 * np.eye(n_classes).repeat(2, axis=1)[y]
    return X, np.array(["face", "house", "shoe", "cat"])[y]


def quiet(function, *arguments):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return function(*arguments)


# all of them


@pytest.mark.parametrize("kind", METHODS)
def test_each_is_an_ordinary_estimator(kind):
    """Cloned, pickled, searched over by its own grid, and cross-validated by a protocol."""
    data = SLICE.select(np.isin(SLICE.y, ["face", "house", "shoe"]))
    made = method(kind)
    assert pickle.loads(pickle.dumps(made)).candidates() == made.candidates()
    outer = whole_runs(data, n_train=9)
    train, test = outer[0].train, outer[0].test
    part = data.select(train)
    inner = inner_splits(part, np.arange(len(train)), n_folds=3)
    search = GridSearchCV(made.estimator(), made.param_grid(), cv=inner)
    quiet(search.fit, part.X, part.y)
    n_sizes = len(made.sizes) if made.sizes else 1
    assert len(search.cv_results_["params"]) == n_sizes * len(made.candidates())
    assert (search.predict(data.X[test]) == data.y[test]).mean() > 0.5  # chance is a third
    (score,) = quiet(lambda: cross_val_score(clone(search.best_estimator_), data.X, data.y, cv=outer))
    again = pickle.loads(pickle.dumps(search.best_estimator_))
    np.testing.assert_array_equal(again.predict(data.X[test]), search.predict(data.X[test]))
    assert score == (again.predict(data.X[test]) == data.y[test]).mean()


@pytest.mark.parametrize("kind", [kind for kind in METHODS if METHODS[kind]().needs == "rows"])
def test_methods_of_rows_see_inner_products_only(kind):
    """Given the coordinates of a shared Gram matrix in place of voxels they predict the same."""
    data = SLICE.select(np.isin(SLICE.y, ["face", "house", "shoe", "cat"]))
    part = leave_one_run_out(data)[2]
    reduction = SharedGram(data.X).reduce(part.train)
    L, new = reduction.coordinates, reduction.transform_rows(part.test)
    for candidate in method(kind).candidates():
        sizes = {"n_components": 4} if kind in SIZED else {}
        model = method(kind).estimator(**sizes, **candidate)
        on_voxels = clone(model).fit(data.X[part.train], data.y[part.train])
        on_rows = clone(model).fit(L, data.y[part.train])
        scores = [
            one.decision_function(rows)
            for one, rows in ((on_voxels, data.X[part.test]), (on_rows, new))
            if kind != "nca"
        ]
        if scores:
            np.testing.assert_allclose(*scores, rtol=1e-3, atol=1e-3 * np.abs(scores[0]).max())
        np.testing.assert_array_equal(on_voxels.predict(data.X[part.test]), on_rows.predict(new))


def test_a_method_that_needs_features_does_not():
    """So that the test above can fail: naive Bayes changes with a rotation."""
    data = SLICE.select(np.isin(SLICE.y, ["face", "house"]))
    L = SharedGram(data.X).reduce(np.arange(len(data.y))).coordinates
    scores = [GaussianNaiveBayes().fit(X, data.y).decision_function(X) for X in (data.X, L)]
    assert METHODS["gnb"]().needs == "features"
    assert np.abs(scores[0] - scores[1]).max() > 0.1 * np.abs(scores[0]).max()


@pytest.mark.parametrize("kind", [kind for kind in METHODS if kind != "nca"])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_coefficients_give_the_scores(kind, n_classes):
    X, y = problem(n_classes)
    model = quiet(
        method(kind).estimator(**({"n_components": 3} if kind in SIZED else {})).fit, X[:24], y[:24]
    )
    coef, intercept = coefficients(model)
    assert coef.shape == (1 if n_classes == 2 else n_classes, X.shape[1])
    scores = X @ coef.T + intercept
    expected = model.decision_function(X)
    np.testing.assert_allclose(scores[:, 0] if n_classes == 2 else scores, expected, atol=1e-7)
    weights = voxel_weights(model)
    assert np.isclose(np.linalg.norm(weights), 1.0)
    if n_classes == 2:
        np.testing.assert_allclose(weights, np.abs(coef[0]) / np.linalg.norm(coef), atol=1e-12)


def test_coefficients_through_scikit_learns_own_steps():
    X, y = problem()
    model = make_pipeline(StandardScaler(), PCA(5, whiten=True), LogisticRegression(max_iter=5000)).fit(X, y)
    coef, intercept = coefficients(model)
    np.testing.assert_allclose(X @ coef.T + intercept, model.decision_function(X), atol=1e-9)
    model = make_pipeline(StandardScaler(with_mean=False), LogisticRegression(max_iter=5000)).fit(X, y)
    coef, intercept = coefficients(model)
    np.testing.assert_allclose(X @ coef.T + intercept, model.decision_function(X), atol=1e-9)
    search = GridSearchCV(linear_svm(), {"classify__C": [1.0]}, cv=2).fit(X, y)
    np.testing.assert_array_equal(coefficients(search)[0], coefficients(search.best_estimator_)[0])


def test_no_coefficients_where_nothing_is_linear():
    X, y = problem()
    with pytest.raises(ValueError, match="fitted: found KNeighborsClassifier, expected a fitted linear"):
        coefficients(nca(3, max_iter=2).fit(X, y))
    with pytest.raises(ValueError, match="fitted: found GaussianNaiveBayes, expected a fitted linear"):
        coefficients(GaussianNaiveBayes(variances="class").fit(X, y))
    confined = svdm_svm(3, formulation="constrained", stopping="decrease", tol=1e-3).fit(X, y)
    with pytest.raises(ValueError, match="found formulation='constrained', whose balls confine coordinates"):
        coefficients(confined)
    with pytest.raises(ValueError, match="found no step with components"):
        component_maps(linear_svm().fit(X, y))


def test_maps_of_a_learned_metric():
    """Distances in the maps' coordinates are those the neighbors are found by."""
    X, y = problem()
    model = nca(n_components=3, n_singular=8, max_iter=10).fit(X, y)
    maps = component_maps(model)
    assert maps.shape == (3, X.shape[1])
    Z, seen = (X - X.mean(axis=0)) @ maps.T, model[:-1].transform(X)
    np.testing.assert_allclose(Z - Z[0], seen - seen[0], atol=1e-10)
    metric = maps.T @ maps
    weights = voxel_weights(model)
    np.testing.assert_allclose(weights**2, np.diag(metric) / np.trace(metric), atol=1e-12)
    assert weights[:6].mean() > 2 * weights[6:].mean()  # where the classes differ


# each against an independent answer


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("m", [5, 80])
def test_linear_svm_is_libsvms(n_classes, m):
    X, y = problem(n_classes, m=m) if m > 6 else problem(n_classes, m=80)
    X = X[:, :m] - 7.0
    ours = LinearSVM(C=0.05, tol=1e-10).fit(X, y)
    theirs = OneVsRestClassifier(SVC(kernel="linear", C=0.05, tol=1e-10)).fit(X, y)
    expected = np.vstack([machine.coef_ for machine in theirs.estimators_])
    np.testing.assert_allclose(ours.coef_, expected, atol=1e-7)
    np.testing.assert_allclose(ours.decision_function(X), theirs.decision_function(X), atol=1e-6)


@pytest.mark.parametrize("n_classes", [2, 4])
def test_naive_bayes_with_a_pooled_variance(n_classes):
    """Log densities feature by feature, from scipy."""
    X, y = problem(n_classes, n=31)
    model = GaussianNaiveBayes().fit(X, y)
    residuals = np.concatenate([X[y == c] - X[y == c].mean(axis=0) for c in model.classes_])
    deviation = np.sqrt((residuals**2).sum(axis=0) / len(X) + 1e-9 * X.var(axis=0).max())
    logs = np.column_stack(
        [
            norm.logpdf(X, X[y == c].mean(axis=0), deviation).sum(axis=1) + np.log((y == c).mean())
            for c in model.classes_
        ]
    )
    np.testing.assert_array_equal(model.predict(X), model.classes_[logs.argmax(axis=1)])
    scores = model.decision_function(X)
    if n_classes == 2:
        np.testing.assert_allclose(scores, logs[:, 1] - logs[:, 0], atol=1e-9)
    else:
        np.testing.assert_allclose(scores - scores[:, :1], logs - logs[:, :1], atol=1e-9)


def test_naive_bayes_with_a_variance_a_class_is_scikit_learns():
    for n_classes in (2, 3):
        X, y = problem(n_classes)
        ours, theirs = GaussianNaiveBayes(variances="class").fit(X, y), GaussianNB().fit(X, y)
        logs = theirs.predict_joint_log_proba(X)
        scores = ours.decision_function(X)
        expected = logs[:, 1] - logs[:, 0] if n_classes == 2 else logs - logs[:, :1]
        np.testing.assert_allclose(scores if n_classes == 2 else scores - scores[:, :1], expected, atol=1e-8)


def test_naive_bayes_takes_spare_coordinates():
    X, y = problem()
    spare = np.hstack([X, np.zeros((len(X), 3))])
    np.testing.assert_allclose(
        GaussianNaiveBayes().fit(spare, y).decision_function(spare),
        GaussianNaiveBayes().fit(X, y).decision_function(X),
        atol=1e-9,
    )


@pytest.mark.parametrize("shape", [(30, 80), (60, 9)])
def test_shrinkage_lda_by_its_covariance(shape):
    """scikit-learn's Ledoit-Wolf estimate of the m × m covariance within classes, inverted."""
    X, y = problem(3, *shape)
    model = ShrinkageLDA().fit(X, y)
    means = np.array([X[y == c].mean(axis=0) for c in model.classes_])
    residuals = X - means[np.searchsorted(model.classes_, y)]
    covariance, s = ledoit_wolf(residuals, assume_centered=True)
    assert np.isclose(model.shrinkage_, s, rtol=1e-10)
    assert np.isclose(intensity(residuals @ residuals.T, shape[1]), s, rtol=1e-10)
    coef = np.linalg.solve(covariance, means.T).T
    logs = X @ coef.T - 0.5 * (coef * means).sum(axis=1) + np.log(1 / 3)
    scores = model.decision_function(X)
    np.testing.assert_allclose(scores - scores[:, :1], logs - logs[:, :1], rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("s", [0.2, 1.0])
def test_shrinkage_lda_with_a_given_share_is_scikit_learns(s):
    X, y = problem(3, 60, 9)
    ours = ShrinkageLDA(shrinkage=s).fit(X, y).decision_function(X)
    theirs = LinearDiscriminantAnalysis(solver="lsqr", shrinkage=s).fit(X, y).decision_function(X)
    np.testing.assert_allclose(ours - ours[:, :1], theirs - theirs[:, :1], atol=1e-8)
    with pytest.raises(ValueError, match=r"shrinkage: found 1.5, expected at most 1"):
        ShrinkageLDA(shrinkage=1.5).fit(X, y)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_pls_da_is_the_regression_of_labels(n_classes):
    X, y = problem(n_classes)
    ours = PLSDA(3).fit(X, y)
    Y = np.where(y[:, None] == ours.classes_, 1.0, -1.0)
    pls = PLSRegression(3, scale=False, tol=1e-16, max_iter=20000).fit(X, Y)
    expected = pls.predict(X)
    np.testing.assert_array_equal(ours.predict(X), ours.classes_[expected.argmax(axis=1)])
    scores = ours.decision_function(X)
    np.testing.assert_allclose(scores, expected[:, 1] if n_classes == 2 else expected, atol=1e-6)


def test_pls_da_of_all_sizes_from_one_fit():
    X, y = problem(3)
    largest = PLSDA(10).fit(X[:20], y[:20])
    by_size = largest.predict_by_size(X[20:], [1, 2, 5, 10])
    for size, labels in by_size.items():
        np.testing.assert_array_equal(labels, PLSDA(size).fit(X[:20], y[:20]).predict(X[20:]))
    many = PLSDA(200).fit(X[:20], y[:20])  # more than there are: spare components are 0
    assert many.components_.shape == (200, 80)
    assert not many.components_[19:].any()


def test_singular_components_are_principal_components():
    X, _ = problem()
    ours, theirs = SingularComponents(6).fit(X), PCA(6, svd_solver="full").fit(X)
    signs = np.sign((ours.components_ * theirs.components_).sum(axis=1))
    np.testing.assert_allclose(ours.components_ * signs[:, None], theirs.components_, atol=1e-8)
    np.testing.assert_allclose(ours.singular_values_, theirs.singular_values_, rtol=1e-10)
    np.testing.assert_allclose(ours.transform(X[:3] + 1) * signs, theirs.transform(X[:3] + 1), atol=1e-8)


@pytest.mark.parametrize("reducer", [SingularComponents, IndependentComponents])
def test_spare_components_are_zero(reducer):
    X, _ = problem(n=8)
    Z = quiet(reducer(12).fit_transform, X)
    assert Z.shape == (8, 12)
    assert np.linalg.matrix_rank(Z) == 7
    assert not Z[:, 7:].any()
    assert not reducer(3).fit_transform(np.ones((4, 6))).any()


def test_independent_components_are_found():
    """Two uniform sources, mixed into 40 features: what FastICA is for, and what SVD does not find."""
    rng = np.random.default_rng(3)
    sources = rng.uniform(-1, 1, (500, 2))
    mixing = rng.standard_normal((2, 40))
    mixing[1] += mixing[0]
    X = sources @ mixing + 5.0
    found = IndependentComponents(2).fit_transform(X)
    match = np.abs(np.corrcoef(found.T, sources.T)[:2, 2:])
    assert (np.sort(match, axis=1)[:, 1] > 0.99).all()
    np.testing.assert_allclose(found.T @ found / len(X), np.eye(2), atol=1e-8)
    by_svd = SingularComponents(2).fit_transform(X)
    assert np.abs(np.corrcoef(by_svd.T, sources.T)[:2, 2:]).max() < 0.95


def test_neighborhood_components_are_scikit_learns():
    X, y = problem(m=10)
    X = X - X.mean(axis=0)
    theirs = NeighborhoodComponentsAnalysis(3, init="pca", max_iter=20, random_state=0).fit(X, y)
    np.testing.assert_allclose(
        NeighborhoodComponents(3, max_iter=20).fit(X, y).components_, theirs.components_
    )
    spare = NeighborhoodComponents(6, max_iter=5).fit(np.hstack([X[:, :4], np.zeros((30, 2))]), y)
    assert not spare.components_[4:].any()
    assert not spare.components_[:, 4:].any()


def test_nca_after_svd_classifies_by_neighbors():
    X, y = problem(m=300)
    ours = nca(2, n_singular=8, n_neighbors=3, max_iter=10).fit(X[:24], y[:24])
    Z, new = (OverallScale().fit(X[:24]).transform(part) for part in (X[:24], X[24:]))
    pca = PCA(8, svd_solver="full").fit(Z)
    metric = NeighborhoodComponentsAnalysis(2, init="pca", max_iter=10, random_state=0)
    metric.fit(pca.transform(Z), y[:24])
    neighbors = KNeighborsClassifier(3).fit(metric.transform(pca.transform(Z)), y[:24])
    expected = neighbors.predict(metric.transform(pca.transform(new)))
    np.testing.assert_array_equal(ours.predict(X[24:]), expected)


def test_univariate_selection_by_f():
    X, y = problem(4, n=41)
    X[:, 10] = 0.1  # constant
    X[:, 11] = np.unique(y, return_inverse=True)[1]  # varies between classes only
    X[:, 13] = X[:, 12]
    model = UnivariateSelection(5).fit(X, y)
    rest = np.setdiff1d(np.arange(80), [10, 11])
    np.testing.assert_allclose(model.scores_[rest], f_classif(X[:, rest], y)[0], rtol=1e-9)
    assert model.scores_[10] == 0
    assert model.scores_[11] == np.inf
    assert model.ranking_[13] == model.ranking_[12] + 1
    assert model.get_support().sum() == 5
    np.testing.assert_array_equal(model.transform(X), X[:, model.get_support()])
    assert UnivariateSelection(999).fit_transform(X, y).shape == X.shape


def test_recursive_selection_step_by_step():
    X, y = problem(3, m=50)
    left = np.arange(50)
    for count in (25, 12, 7):
        own = X[:, left] - X[:, left].mean(axis=0)
        own /= np.sqrt((own**2).sum(axis=1).mean())
        machines = OneVsRestClassifier(SVC(kernel="linear", C=2.0)).fit(own, y).estimators_
        weights = sum(machine.coef_[0] ** 2 for machine in machines)
        left = left[np.sort(np.argsort(-weights)[:count])]
    model = RecursiveSelection(7, C=2.0).fit(X, y)
    np.testing.assert_array_equal(np.flatnonzero(model.get_support()), left)
    assert sorted(model.ranking_) == list(range(50))
    assert RecursiveSelection(60).fit(X, y).get_support().all()


def test_weights_mean_the_same_on_data_of_any_unit():
    """`C` and `alpha` are relative to the size of the data; LIBSVM's own C is not."""
    X, y = problem()
    for make in (linear_svm, svd_svm, ridge, univariate_selection_svm):
        model = make().fit(X[:20], y[:20])
        scaled = make().fit(1000 * X[:20] + 5, y[:20])
        np.testing.assert_allclose(
            scaled.decision_function(1000 * X[20:] + 5), model.decision_function(X[20:]), atol=1e-3
        )
    assert np.abs(LinearSVM(0.001).fit(10 * X, y).coef_ - LinearSVM(0.001).fit(X, y).coef_ / 10).max() > 1e-3


def test_labels_of_one_class_are_refused():
    X, _ = problem()
    for make in (linear_svm, shrinkage_lda, PLSDA, GaussianNaiveBayes, RecursiveSelection):
        with pytest.raises(ValueError, match=r"y: found 1 class \(.*'a'.*\), expected at least two"):
            make().fit(X, np.full(len(X), "a"))


def test_methods_with_other_grids():
    made = make_method("svd_svm", name="PCA + SVM", sizes=[3], C=[1.0, 2.0])
    assert (made.name, made.sizes, made.grid) == ("PCA + SVM", (3,), {"C": (1.0, 2.0)})
    assert make_method("svd_svm", C=5.0).candidates() == [{}]
    assert make_method("svd_svm", C=5.0).estimator(n_components=2).get_params()["classify__C"] == 5.0
    assert make_method("svdm", formulation="svm").grid.keys() == {"shrinkage", "hinge_weight"}
    assert make_method("ica_svm").seeded
    assert not make_method("pls_da").seeded
    assert not make_method("svdm").seeded  # starts from the SVD
    assert make_method("svdm", init="random").seeded
    assert make_method("svdm_gnb", n_init=3).seeded
    assert make_method("nca").param_grid()["metric__n_components"] == list(range(1, 16))
    assert make_method("recursive_selection_svm", selection_C=[1, 2]).param_grid()["select__C"] == [1, 2]
    with pytest.raises(ValueError, match=r"sizes: found \[2\] for 'gnb', which has no components"):
        make_method("gnb", sizes=[2])
    with pytest.raises(ValueError, match="kind: found 'lda', expected one of"):
        make_method("lda")
    with pytest.raises(ValueError, match="grid: found 'gamma'"):
        make_method("gnb", gamma=[1]).param_grid()
