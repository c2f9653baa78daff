"""What the decomposition costs after the tensor-kernel SVM: beside LIBSVM, and beside eigendecompositions.

At the paper's size: 15 subjects who saw 84 pictures, n = 1260. The kernels are there already, as after
the SVM. LIBSVM's time depends on the data more than the decomposition's does, so there are several sets.
"""

from __future__ import annotations

import numpy as np
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.svm import SVC
from timing import race

from svdecode.tensor.bounds import bound_curve, smallest, spectrum
from svdecode.tensor.decomposition import decompose
from svdecode.tensor.factors import Factors

N_SUBJECTS, N_PICTURES = 15, 84


def centered(K: np.ndarray) -> np.ndarray:
    """Kernel matrix of the centered samples."""
    mean = K.mean(axis=0)
    return K - mean - mean[:, None] + mean.mean()


def problems() -> dict[str, tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Kernel matrices of both views, and labels."""
    rng = np.random.default_rng(0)
    n = N_SUBJECTS * N_PICTURES
    shown = np.tile(np.arange(N_PICTURES), N_SUBJECTS)
    y = np.where(shown < N_PICTURES // 2, 1.0, -1.0)
    pictures = rng.standard_normal((N_PICTURES, 200)) * np.arange(1, 201) ** -0.5
    response = rng.standard_normal((N_PICTURES, 5000)) + 0.2 * y[:N_PICTURES, None] * rng.standard_normal(
        5000
    )
    scans = response[shown] + 5 * rng.standard_normal((n, 5000))
    own = rng.standard_normal((n, 2000))  # a picture for each scan: both kernels have full rank
    chance = rng.permutation(y)
    x, p, o = (
        centered(scans @ scans.T),
        centered((pictures @ pictures.T)[np.ix_(shown, shown)]),
        centered(own @ own.T),
    )
    few_x, few_y = rng.standard_normal((n, 60)), rng.standard_normal((n, 30))
    return {
        "the paper's: 84 pictures for all": (x, p, y),
        "the same, labels by chance": (x, p, chance),
        "a picture for each scan": (x, o, y),
        "a picture for each scan, labels by chance": (x, o, chance),
        "60 and 30 columns": (few_x @ few_x.T, few_y @ few_y.T, chance),
        "Gaussian kernels of them": (centered(rbf_kernel(few_x)), centered(rbf_kernel(few_y)), chance),
    }


def after_the_svm(Kx: np.ndarray, Ky: np.ndarray, signed: np.ndarray, how: str | int) -> int:
    """All that `TensorDecomposition.fit` does after its SVM; returns the number of projections."""
    factors = Factors([Kx, Ky])
    if how == "bound":
        wanted = smallest(bound_curve("bound", spectrum(Ky, factors[1]), Ky.diagonal()))
    else:
        wanted = None if how == "max" else int(how)
    return decompose([Kx, Ky], signed, wanted, factors=factors).rank


def main(repeats: int = 7) -> None:
    """Print the ratios for each problem."""
    for name, (Kx, Ky, y) in problems().items():
        K = np.ascontiguousarray(Kx * Ky)
        svm = SVC(kernel="precomputed").fit(K, y)
        signed = np.zeros(len(K))
        signed[svm.support_] = svm.dual_coef_[0]
        ranks = {how: after_the_svm(Kx, Ky, signed, how) for how in ("bound", 50, "max")}
        runs = {
            str(how): lambda how=how, Kx=Kx, Ky=Ky, signed=signed: after_the_svm(Kx, Ky, signed, how)
            for how in ranks
        }
        runs["LIBSVM"] = lambda K=K, y=y: SVC(kernel="precomputed").fit(K, y)
        runs["eigh"] = lambda Kx=Kx, Ky=Ky: (np.linalg.eigh(Kx), np.linalg.eigh(Ky))
        t = race(runs, repeats)
        print(f"{name}: n = {len(K)}, {len(svm.support_)} support vectors, {svm.n_iter_[0]} iterations")
        print(
            f"  one LIBSVM fit {1e3 * t['LIBSVM']:.1f} ms, two eigendecompositions {1e3 * t['eigh']:.0f} ms"
        )
        for how, rank in ranks.items():
            s = t[str(how)]
            print(
                f"  {how!s:>5} ({rank:4} projections) {1e3 * s:7.1f} ms = {s / t['LIBSVM']:6.2f} x LIBSVM "
                f"(at most 3), {s / t['eigh']:.2f} x two eigendecompositions"
            )


if __name__ == "__main__":
    main()
