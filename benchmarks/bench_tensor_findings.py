"""What the tensor paper states or leaves open, measured on simulated scans: the figures in docs/papers.md."""

from __future__ import annotations

import numpy as np
from sklearn.svm import SVC

from svdecode import DecomposedTensorSVC, TensorSVC
from svdecode.tensor import ConcatenatedSVC
from svdecode.tensor.decomposition import decompose


def scans_and_pictures(
    n: int, n_pictures: int, n_voxels: int, n_features: int, noise: float, seed: int
) -> tuple[np.ndarray, np.ndarray]:
    """Scans of subjects who see one of some pictures, the pictures, and their classes."""
    rng = np.random.default_rng(seed)
    shown, classes = np.arange(n) % n_pictures, np.arange(n_pictures) % 2
    pictures = rng.standard_normal((n_pictures, n_features))[shown]
    response = rng.standard_normal((n_pictures, n_voxels)) + 1.5 * rng.standard_normal((2, n_voxels))[classes]
    scans = response[shown] + noise * rng.standard_normal((n, n_voxels))
    return np.hstack([scans, pictures]), classes[shown]


def lost(kernels: list[np.ndarray], signed: np.ndarray, beta: np.ndarray, gamma: np.ndarray) -> float:
    """Share of ‖W‖² that a decomposition leaves out."""
    Kx, Ky = kernels
    whole = signed @ (Kx * Ky) @ signed
    cross = signed @ ((Kx @ beta) * (Ky @ gamma)).sum(axis=1)
    return float((whole - 2 * cross + ((beta.T @ Kx @ beta) * (gamma.T @ Ky @ gamma)).sum()) / whole)


def truncations() -> None:
    """The best W of rank T, and the paper's sums over T eigenvectors of the second kernel."""
    rng = np.random.default_rng(0)
    x, y = rng.standard_normal((60, 50)), rng.standard_normal((60, 30))
    score = (x[:, :3] * y[:, :3]).sum(axis=1)
    kernels = [(v - v.mean(axis=0)) @ (v - v.mean(axis=0)).T for v in (x, y)]
    svm = SVC(kernel="precomputed").fit(kernels[0] * kernels[1], score > np.median(score))
    signed = np.zeros(60)
    signed[svm.support_] = svm.dual_coef_[0]
    values, U = np.linalg.eigh(kernels[1])
    for T in (3, 5, 10):
        ours = decompose(kernels, signed, T)
        printed = decompose([kernels[0], (U[:, -T:] * values[-T:]) @ U[:, -T:].T], signed, T).duals[0]
        pair = printed, signed[:, None] * (kernels[0] @ printed)
        print(f"T = {T}: left out by the SVD {lost(kernels, signed, *ours.duals):.2f} of ‖W‖², "
              f"by the sums to T {lost(kernels, signed, *pair):.2f}")  # fmt: skip


def brain_weights() -> None:
    """Weights of the scans in the concatenated SVM beside those of an SVM on the scans alone."""
    for unit in (10.0, 1.0, 0.1, 0.01):
        X, y = scans_and_pictures(84, 84, 3000, 50, 3.0, 0)
        X[:, 3000:] *= unit
        energies = [((part - part.mean(axis=0)) ** 2).sum() for part in (X[:, :3000], X[:, 3000:])]
        distances = []
        for tol in (1e-10, 1e-3):
            both = ConcatenatedSVC([3000, 50], tol=tol).fit(X, y).coef_[0][0]
            centered = X[:, :3000] - X[:, :3000].mean(axis=0)
            alone = SVC(kernel="linear", tol=tol).fit(centered, y).coef_[0]
            distances.append(np.linalg.norm(both - alone) / np.linalg.norm(alone))
        print(f"kernels' diagonals 1 : {energies[1] / energies[0]:.1e}: brain weights differ by "
              f"{distances[0]:.1e} ({distances[1]:.1e} at LIBSVM's default tolerance)")  # fmt: skip


def dts_and_tensor_svm() -> None:
    """Accuracy of the tensor SVM and of DTS on the same samples, and on how many they differ."""
    hits = []
    for seed in range(8):
        X, y = scans_and_pictures(160, 24, 40, 15, 2.0, seed)
        models = [
            TensorSVC([40, 15]),
            *(DecomposedTensorSVC([40, 15], n_projections=T) for T in ("bound", "max")),
        ]
        hits.append([model.fit(X[:80], y[:80]).predict(X[80:]) == y[80:] for model in models])
    tensor, *others = np.array(hits).transpose(1, 0, 2).reshape(3, -1)
    print(f"tensor SVM {tensor.mean():.3f} on {len(tensor)} samples")
    for name, dts in zip(("bound", "max"), others, strict=True):
        print(f"  DTS ({name}) {dts.mean():.3f}; right alone: tensor SVM {(tensor & ~dts).sum()}, "
              f"DTS {(dts & ~tensor).sum()}")  # fmt: skip


def means_alone() -> None:
    """Two classes that differ by their means in both views."""
    for seed in range(3):
        rng = np.random.default_rng(seed)
        y = np.arange(400) % 2
        X = rng.standard_normal((400, 50)) + y[:, None]
        models = (
            TensorSVC([40, 10]),
            DecomposedTensorSVC([40, 10], n_projections="max"),
            ConcatenatedSVC([40, 10]),
        )
        scores = [model.fit(X[:200], y[:200]).score(X[200:], y[200:]) for model in models]
        print(f"means alone: tensor SVM {scores[0]:.2f}, DTS {scores[1]:.2f}, concatenated {scores[2]:.2f}")


if __name__ == "__main__":
    truncations()
    brain_weights()
    dts_and_tensor_svm()
    means_alone()
