"""The tensor-kernel SVM and its decomposition as the paper lists them, on scikit-learn's kernels."""

import numpy as np
from sklearn.metrics.pairwise import pairwise_kernels
from sklearn.preprocessing import KernelCenterer
from sklearn.svm import SVC

#: scikit-learn's name and parameters for each of ours, on m columns
KERNELS = {
    "linear": lambda m: {"metric": "linear"},
    "rbf": lambda m: {"metric": "rbf", "gamma": 1 / m},
    "polynomial": lambda m: {"metric": "polynomial", "gamma": 1 / m, "degree": 3, "coef0": 1},
}


def centered_kernels(x, x_new, kernel):
    """Kernel values of training rows, and of new rows with them, centered by the training rows."""
    options = KERNELS[kernel](x.shape[1])
    center = KernelCenterer()
    K = center.fit_transform(pairwise_kernels(x, **options))
    return K, center.transform(pairwise_kernels(x_new, x, **options))


def fitted_svm(K, y, C=1.0):
    """α_i c_i and b of LIBSVM; the second class is the positive one."""
    model = SVC(kernel="precomputed", C=C).fit(K, y)
    signed = np.zeros(len(K))
    signed[model.support_] = model.dual_coef_.ravel()
    return signed, model.intercept_[0]


def as_printed(Kx, Ky, signed, T):
    """β and γ by the eigendecompositions of section 3, with all eigenvectors of Kʸ."""
    eigenvalues, U = np.linalg.eigh(Ky)
    A = signed[:, None] * U * np.sqrt(np.maximum(eigenvalues, 0))
    squares, Z = np.linalg.eigh(A.T @ Kx @ A)
    order = np.argsort(-squares)[:T]
    beta = A @ Z[:, order] / np.sqrt(squares[order])
    gamma = signed[:, None] * (Kx @ beta)
    return beta, gamma, np.sqrt(squares[order])


def same_up_to_signs(one, other, atol):
    """Whether columns of two matrices agree up to a sign each."""
    signs = np.sign((one * other).sum(axis=0))
    np.testing.assert_allclose(one, other * signs, atol=atol)
    return signs
