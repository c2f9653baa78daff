"""Made-up data of two views for the tests of this folder."""

import numpy as np


def pictures_and_scans(n=120, n_pictures=12, n_voxels=40, n_features=15, *, k=2, noise=2.0, seed=0):
    """Scans of subjects who see one of a few pictures: X = [scans, pictures], and the pictures' classes."""
    rng = np.random.default_rng(seed)
    shown = np.arange(n) % n_pictures
    classes = np.arange(n_pictures) % k
    pictures = rng.standard_normal((n_pictures, n_features))[shown]
    response = rng.standard_normal((n_pictures, n_voxels)) + 1.5 * rng.standard_normal((k, n_voxels))[classes]
    scans = response[shown] + noise * rng.standard_normal((n, n_voxels))
    return np.hstack([scans, pictures]), classes[shown]


def gaussian(n=40, m_x=60, m_y=30, *, k=2, seed=0):
    """Two views of noise, and labels that depend on products of their columns."""
    rng = np.random.default_rng(seed)
    x, y = rng.standard_normal((n, m_x)), rng.standard_normal((n, m_y))
    score = x[:, : min(3, m_x, m_y)] * y[:, : min(3, m_x, m_y)]
    rank = score.sum(axis=1).argsort().argsort()
    return np.hstack([x, y]), rank * k // n
