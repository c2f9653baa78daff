"""Pictures as histograms of visual words: the stimulus view of Hardoon & Shawe-Taylor 2009, section 5.

SIFT (Lowe 1999) describes a picture by the gradients around its keypoints, 128 numbers each, as many as the
picture has keypoints. A vocabulary, the centers of k-means on the keypoints of the training pictures,
turns them into one histogram a picture: how many keypoints lie nearest to each word.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.cluster import KMeans, MiniBatchKMeans
from sklearn.utils.validation import check_is_fitted

from svdecode._checks import FloatArray, check_choice, check_count

LENGTH = 128  # of a descriptor
SMALLEST = 12  # pixels that SIFT's first octave needs, after upsampling


class VisualWords(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Bag of visual words: SIFT keypoints of pictures, counted by the words of a learned vocabulary.

    The vocabulary is learned from the pictures that `fit` is given, and from no other: fit on the training
    pictures alone, as in a `Pipeline`. Needs scikit-image (``pip install 'svdecode[vision]'``).

    Parameters
    ----------
    n_words : int, default 100
        Size of the vocabulary, the number of features.
    normalize : {"l1", "l2", None}, default "l1"
        What a histogram is divided by: its sum (shares of the keypoints), its length, or nothing (counts).
    upsampling : {1, 2, 4}, default 2
        Factor by which a picture is enlarged before keypoints are sought; more finds smaller ones.
    batch_size : int, optional
        Learn the vocabulary by mini-batches of so many keypoints, for large collections; by default all
        keypoints at once.
    n_init : int, default 3
        Number of starts of k-means, of which the best is kept.
    random_state : int, RandomState or None, default None
        Seed of k-means.

    Attributes
    ----------
    vocabulary_ : array of shape (n_words, 128)
        The words: descriptors of unit length, averaged.
    n_keypoints_ : array of shape (n_pictures,)
        Number of keypoints of each training picture.
    kmeans_ : KMeans or MiniBatchKMeans
        What learned the vocabulary.

    See Also
    --------
    DecomposedTensorSVC : Reads such a view together with brain images.

    Notes
    -----
    A picture without keypoints (a plain surface) has a histogram of zeros: it says nothing, and under a
    centered linear kernel it is minus the mean. Color is turned into luminance.

    References
    ----------
    D. G. Lowe: Object recognition from local scale-invariant features. ICCV 1999.

    Examples
    --------
    >>> import numpy as np
    >>> from svdecode.tensor import VisualWords
    >>> pictures = np.random.default_rng(0).random((6, 48, 48))
    >>> VisualWords(n_words=5, random_state=0).fit_transform(pictures).shape
    (6, 5)
    """

    def __init__(
        self,
        n_words: int = 100,
        *,
        normalize: str | None = "l1",
        upsampling: int = 2,
        batch_size: int | None = None,
        n_init: int = 3,
        random_state: Any = None,
    ) -> None:
        self.n_words = n_words
        self.normalize = normalize
        self.upsampling = upsampling
        self.batch_size = batch_size
        self.n_init = n_init
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> VisualWords:  # noqa: ARG002
        """Learn the vocabulary.

        Parameters
        ----------
        X : array of shape (n, height, width[, 3 or 4]), or list of pictures
            Training pictures: whole numbers from 0 to 255 (uint16: to 65535), or numbers from 0 to 1. In
            a list they may differ in size.
        y : None
            Ignored.

        Returns
        -------
        VisualWords
            The fitted object.
        """
        self._learn(self._describe(X))
        return self

    def fit_transform(self, X: Any, y: Any = None) -> FloatArray:  # noqa: ARG002
        """Learn the vocabulary, and return the histograms of the same pictures.

        Parameters
        ----------
        X : array of shape (n, height, width[, 3 or 4]), or list of pictures
            Training pictures.
        y : None
            Ignored.

        Returns
        -------
        array of shape (n, n_words)
            As `fit(X).transform(X)`, with the keypoints sought once.
        """
        described = self._describe(X)
        self._learn(described)
        return self._count(described)

    def transform(self, X: Any) -> FloatArray:
        """Histograms of new pictures, by the words that were learned.

        Parameters
        ----------
        X : array of shape (n, height, width[, 3 or 4]), or list of pictures
            Pictures.

        Returns
        -------
        array of shape (n, n_words)
            A histogram a picture; zeros where a picture has no keypoints.
        """
        check_is_fitted(self)
        return self._count(self._describe(X))

    def _describe(self, X: Any) -> list[FloatArray]:
        check_count(self.n_words, "n_words")
        check_count(self.n_init, "n_init")
        check_choice(self.normalize, "normalize", ("l1", "l2", None))
        check_choice(self.upsampling, "upsampling", (1, 2, 4))
        if self.batch_size is not None:
            check_count(self.batch_size, "batch_size")
        return [_descriptors(picture, int(self.upsampling)) for picture in read_pictures(X, self.upsampling)]

    def _learn(self, described: list[FloatArray]) -> None:
        every = np.concatenate(described)
        n_distinct = len(np.unique(every, axis=0))
        if n_distinct < self.n_words:
            raise ValueError(
                f"n_words: found {self.n_words}, expected at most {n_distinct}, the number of distinct "
                "keypoints in the training pictures"
            )
        settings = {"n_clusters": self.n_words, "n_init": self.n_init, "random_state": self.random_state}
        if self.batch_size is None:
            self.kmeans_ = KMeans(**settings).fit(every)
        else:
            self.kmeans_ = MiniBatchKMeans(batch_size=self.batch_size, **settings).fit(every)
        self.vocabulary_ = self.kmeans_.cluster_centers_
        self.n_keypoints_ = np.array([len(keypoints) for keypoints in described])

    def _count(self, described: list[FloatArray]) -> FloatArray:
        histograms = np.zeros((len(described), len(self.vocabulary_)))
        for histogram, keypoints in zip(histograms, described, strict=True):
            if len(keypoints):
                words = self.kmeans_.predict(keypoints)
                histogram += np.bincount(words, minlength=len(histogram))
        if self.normalize is None:
            return histograms
        order = 1 if self.normalize == "l1" else 2
        size = np.linalg.norm(histograms, ord=order, axis=1, keepdims=True)
        return np.asarray(np.divide(histograms, size, out=histograms, where=size > 0))

    @property
    def _n_features_out(self) -> int:
        return len(self.vocabulary_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        tags.input_tags.three_d_array = True
        return tags


def read_pictures(X: Any, upsampling: int = 1) -> list[FloatArray]:
    """Return pictures as luminance from 0 to 1, or say which one cannot be read and why."""
    if isinstance(X, np.ndarray) and X.dtype != object and X.ndim not in (3, 4):
        raise ValueError(
            f"X: found an array of shape {X.shape}, expected pictures (n, height, width) or "
            "(n, height, width, 3), or a list of them"
        )
    if not isinstance(X, np.ndarray | Sequence):
        raise ValueError(f"X: found {type(X).__name__}, expected an array or a list of pictures")
    if len(X) == 0:
        raise ValueError("X: found no picture, expected at least one")
    return [_luminance(np.asarray(picture), i, upsampling) for i, picture in enumerate(X)]


def _luminance(picture: Any, i: int, upsampling: int) -> FloatArray:
    where = f"X: found picture {i}"
    if picture.ndim not in (2, 3) or (picture.ndim == 3 and picture.shape[2] not in (1, 3, 4)):
        raise ValueError(
            f"{where} of shape {picture.shape}, expected (height, width), or (height, width, 3) with color"
        )
    if min(picture.shape[:2]) * upsampling < SMALLEST:
        raise ValueError(
            f"{where} of {picture.shape[0]} × {picture.shape[1]} pixels, expected at least "
            f"{-(-SMALLEST // upsampling)} either way with upsampling={upsampling}"
        )
    if picture.dtype.kind not in "biuf":
        raise ValueError(f"{where} of dtype {picture.dtype}, expected numbers")
    top = {"b": 1.0, "f": 1.0}.get(picture.dtype.kind, 65535.0 if picture.dtype == np.uint16 else 255.0)
    values = picture.astype(np.float64)
    low, high = float(values.min()), float(values.max())
    if not (low >= 0 and high <= top):  # a NaN fails both
        raise ValueError(f"{where} with values from {low:g} to {high:g}, expected 0 to {top:g}")
    values /= top
    if values.ndim == 2:
        return np.asarray(values)
    if values.shape[2] == 1:
        return np.asarray(values[..., 0])
    return np.asarray(values[..., :3] @ [0.2125, 0.7154, 0.0721])  # scikit-image's weights


def _descriptors(picture: FloatArray, upsampling: int) -> FloatArray:
    """Return the SIFT descriptors of a picture, each of unit length; none for a plain surface."""
    try:
        from skimage.feature import SIFT
    except ImportError as error:
        raise ImportError(
            "VisualWords needs scikit-image, which the extra [vision] brings: pip install 'svdecode[vision]'"
        ) from error
    sift = SIFT(upsampling=upsampling)
    try:
        sift.detect_and_extract(picture)
    except RuntimeError as error:
        if "no features" not in str(error):
            raise
        return np.empty((0, LENGTH))
    found = np.asarray(sift.descriptors, dtype=np.float64).reshape(-1, LENGTH)
    found = found[found.any(axis=1)]
    return np.asarray(found / np.linalg.norm(found, axis=1, keepdims=True))
