"""Visual words against the counting written naively, and what pictures may look like."""

import builtins
import pickle
import warnings

import numpy as np
import pytest
from scipy.ndimage import gaussian_filter
from skimage.feature import SIFT
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from svdecode.tensor import VisualWords

PLAIN = np.full((48, 48), 0.5)


def pictures(n=6, size=48, seed=0):
    """Smoothed noise: textures with keypoints everywhere."""
    noise = gaussian_filter(np.random.default_rng(seed).random((n, size, size)), (0, 1.5, 1.5))
    return (noise - noise.min()) / (noise.max() - noise.min())


def descriptors(picture):
    sift = SIFT()
    sift.detect_and_extract(picture)
    rows = sift.descriptors.astype(float)
    return rows / np.sqrt((rows**2).sum(axis=1))[:, None]


@pytest.mark.parametrize("batch_size", [None, 64])
def test_histograms_count_the_nearest_words(batch_size):
    X, X_new = pictures(), pictures(4, seed=1)
    model = VisualWords(12, normalize=None, batch_size=batch_size, random_state=0).fit(X)
    for picture, histogram in zip(X_new, model.transform(X_new), strict=True):
        expected = np.zeros(12)
        for keypoint in descriptors(picture):
            expected[np.argmin(((model.vocabulary_ - keypoint) ** 2).sum(axis=1))] += 1
        np.testing.assert_array_equal(histogram, expected)
    assert model.n_keypoints_.tolist() == [len(descriptors(picture)) for picture in X]


def test_vocabulary_is_the_centers_of_the_training_keypoints_alone():
    """At the optimum of k-means every word is the mean of the training keypoints nearest to it."""
    X = pictures()
    model = VisualWords(4, random_state=0).fit(X)
    every = np.concatenate([descriptors(picture) for picture in X])
    nearest = ((every[:, None] - model.vocabulary_) ** 2).sum(axis=2).argmin(axis=1)
    for word in range(4):
        np.testing.assert_allclose(model.vocabulary_[word], every[nearest == word].mean(axis=0), atol=1e-6)
    before = model.vocabulary_.copy()
    model.transform(pictures(3, seed=5))
    np.testing.assert_array_equal(model.vocabulary_, before)


@pytest.mark.parametrize(("normalize", "order"), [("l1", 1), ("l2", 2)])
def test_normalized(normalize, order):
    Z = VisualWords(8, normalize=normalize, random_state=0).fit_transform(pictures())
    np.testing.assert_allclose(np.linalg.norm(Z, ord=order, axis=1), 1.0, rtol=1e-12)


def test_fit_transform_is_fit_and_transform_and_seeded():
    X = pictures()
    model = VisualWords(8, random_state=3)
    Z = model.fit_transform(X)
    np.testing.assert_array_equal(Z, clone(model).fit(X).transform(X))
    np.testing.assert_array_equal(Z, pickle.loads(pickle.dumps(model)).transform(X))


def test_a_plain_picture_has_a_histogram_of_zeros():
    X = np.concatenate([pictures(), PLAIN[None]])
    model = VisualWords(5, random_state=0)
    Z = model.fit_transform(X)
    assert model.n_keypoints_[-1] == 0
    assert not Z[-1].any()
    np.testing.assert_array_equal(Z[:-1], VisualWords(5, random_state=0).fit_transform(X[:-1]))


def test_the_same_pictures_in_other_forms_give_the_same():
    X = np.round(255 * pictures())
    model = VisualWords(6, random_state=0).fit(X.astype(np.uint8))
    Z = model.transform(X.astype(np.uint8))
    color = np.repeat(X[..., None], 3, axis=3).astype(np.uint8)
    alpha = np.concatenate([color, np.full_like(color[..., :1], 77)], axis=3)
    for form in (X / 255, X.astype(int), list(X.astype(np.uint8)), (257 * X).astype(np.uint16), color, alpha):
        np.testing.assert_allclose(model.transform(form), Z, atol=1e-12)


def test_a_list_may_mix_sizes():
    several = [pictures(1, 48)[0], pictures(1, 64)[0], pictures(1, 40, seed=2)[0]]
    assert VisualWords(4, random_state=0).fit_transform(several).shape == (3, 4)


def test_scikit_learn_reads_it():
    pd = pytest.importorskip("pandas")
    model = VisualWords(4, random_state=0).fit(pictures())
    assert model.get_feature_names_out().tolist() == [f"visualwords{i}" for i in range(4)]
    for X in (pictures(), list(pictures())):
        frame = clone(model).set_output(transform="pandas").fit_transform(X)
        assert isinstance(frame, pd.DataFrame)
        assert frame.shape == (6, 4)
    chain = make_pipeline(VisualWords(4, random_state=0), StandardScaler())
    np.testing.assert_allclose(chain.fit_transform(pictures()).mean(axis=0), 0, atol=1e-12)


REFUSED = {
    "n_words": (VisualWords(10_000), pictures(), "n_words: found 10000, expected at most"),
    "no keypoints at all": (VisualWords(2), PLAIN[None], "n_words: found 2, expected at most 0"),
    "one picture": (VisualWords(2), PLAIN, r"X: found an array of shape \(48, 48\)"),
    "too small": (
        VisualWords(2),
        [np.zeros((5, 48))],
        "X: found picture 0 of 5 × 48 pixels, expected at least 6",
    ),
    "range": (VisualWords(2), 255 * pictures(), "X: found picture 0 with values .* expected 0 to 1"),
    "NaN": (VisualWords(2), [np.full((48, 48), np.nan)], "X: found picture 0 with values from nan"),
    "channels": (VisualWords(2), np.zeros((2, 48, 48, 5)), r"X: found picture 0 of shape \(48, 48, 5\)"),
    "nothing": (VisualWords(2), [], "X: found no picture"),
    "text": (VisualWords(2), "pictures", r"X: found picture 0 of shape \(\)"),
    "normalize": (VisualWords(2, normalize="max"), pictures(), "normalize: found 'max'"),
    "upsampling": (VisualWords(2, upsampling=3), pictures(), "upsampling: found 3"),
    "batch_size": (VisualWords(2, batch_size=0), pictures(), "batch_size: found 0"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refusals(case):
    model, X, message = REFUSED[case]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(ValueError, match=message):
            model.fit(X)


def test_without_scikit_image_the_extra_is_named(monkeypatch):
    real = builtins.__import__

    def missing(name, *args, **kwargs):
        if name.startswith("skimage"):
            raise ImportError(name)
        return real(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", missing)
    with pytest.raises(ImportError, match=r"extra \[vision\].*svdecode\[vision\]"):
        VisualWords(2).fit(pictures())
