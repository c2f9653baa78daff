"""Tables 2 to 5 of Hardoon & Shawe-Taylor 2009 for the sets that there are, and three views.

    SVDECODE_DATA=... python benchmarks/bench_tensor.py [--sets kriegeskorte92 objects81 breast_tcga]

Every SVM is LIBSVM with C = 1, nothing is tuned. `tensor_sets.py` says who is trained on and who is tested.
A number is the mean over the classes of the share of test samples that are right, in percent: chance is 50
for two classes. Its spread is the standard deviation over units (subjects, repetitions), as in the paper.
In Table 5 a test sample is right if the training sample that it finds first has its label.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable
from dataclasses import replace

import numpy as np
import tensor_sets
from scipy.stats import binomtest
from sklearn.svm import SVC
from tensor_sets import Array, Split
from tensor_tables import Collected, Outcome

from svdecode import DecomposedTensorSVC, KernelCCA, TensorDecomposition, TensorSVC
from svdecode.tensor import ConcatenatedSVC, KernelCCASVC, Retrieval, retrieve

BRAIN = 0


def main() -> None:
    """Print the tables of the sets that are asked for and found."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sets", nargs="*", default=list(RUNS), choices=list(RUNS))
    for name in parser.parse_args().sets:
        try:
            RUNS[name]()
        except FileNotFoundError as error:
            print(f"skipped: {error}")


def kriegeskorte92() -> None:
    """Brain kernels with either view of the pictures."""
    for picture in ("SIFT words", "pixels"):
        print(f"\n# kriegeskorte92: human IT and {picture}, animate against inanimate")
        two_views(lambda p=picture: tensor_sets.kriegeskorte92("pixels" if p == "pixels" else "sift"))


def objects81() -> None:
    """Brain with AlexNet or word vectors, then all three."""
    for other in ("AlexNet", "word2vec"):
        print(f"\n# objects81: brain and {other}, natural against man-made")
        two_views(lambda o=other: tensor_sets.objects81("brain", o))
    print("\n# objects81: brain, AlexNet and word2vec")
    three_views(lambda: tensor_sets.objects81("brain", "AlexNet", "word2vec"))


def breast_tcga() -> None:
    """Three views and three classes; the test samples lack one view."""
    print("\n# breast_tcga: mRNA, miRNA and protein; 70 test samples without proteins")
    split = tensor_sets.breast_tcga()
    rna = Split(split.unit, split.train[:2], split.test[:2], split.y_train, split.y_test)
    columns: dict[str, Callable[[], Array]] = {
        "SVM, mRNA": lambda: svm([split.train[0]], [split.test[0]], split),
        "SVM, miRNA": lambda: svm([split.train[1]], [split.test[1]], split),
        "SVM, mRNA + miRNA concatenated": lambda: predictions(ConcatenatedSVC, rna),
        "kCCA SVM, mRNA and miRNA": lambda: predictions(KernelCCASVC, rna),
        "tensor SVM, mRNA × miRNA": lambda: predictions(TensorSVC, rna),
        "tensor SVM, mRNA × miRNA, 1 + K": lambda: predictions(TensorSVC, one_and(rna), center=False),
        "DTS max, mRNA × miRNA": lambda: predictions(DecomposedTensorSVC, rna, n_projections="max"),
        "DTS max, mRNA × miRNA, 1 + K": lambda: predictions(
            DecomposedTensorSVC, one_and(rna), n_projections="max", center=False
        ),
        "tensor SVM, three views, ones for proteins": lambda: predictions(TensorSVC, split),
        "tensor SVM, three views, 1 + K, ones for proteins": lambda: predictions(
            TensorSVC, one_and(split), center=False
        ),
    }
    for kind in ("cp", "tucker"):
        for T in ("bound", 3, "max"):
            columns[f"DTS {kind} {T}, three views"] = lambda kind=kind, T=T: predictions(
                DecomposedTensorSVC, split, n_projections=T, decomposition=kind, random_state=0
            )
    y = split.y_test
    print("| method | right, mean over classes | right | each class |\n|---|---|---|---|")
    for name, run in columns.items():
        right = run() == y
        by_class = [right[y == c].mean() for c in np.unique(y)]
        each = " / ".join(f"{100 * share:.0f}" for share in by_class)
        print(f"| {name} | {100 * np.mean(by_class):.1f} | {100 * right.mean():.1f} | {each} |")


RUNS = {f.__name__: f for f in (kriegeskorte92, objects81, breast_tcga)}


def two_views(splits: Callable[[], Iterable[Split]]) -> None:
    """All four tables of a pair of views, and the paper's side findings."""
    collected = Collected()
    cosines, n_features, agreement = [], [], []
    for split in splits():
        paired, alone = paired_outcomes(split), brain_outcomes(split)
        lasso = fitted(DecomposedTensorSVC, split, n_projections="lasso", use=BRAIN)
        most = fitted(TensorDecomposition, split, n_projections="max")
        n_features.append((lasso.n_projections_, most.n_projections_))
        collected.add("Table 2: both views", split, paired)
        collected.add("Table 3: brain alone", split, alone)
        collected.add("Table 4: LASSO, brain alone", split, {"LASSO": right(lasso, split, only=BRAIN)})
        for table, outcome in retrieval_outcomes(split, most).items():
            collected.add(table, split, outcome)
        cosines.append(brain_cosine(split))
        agreement.append((paired["Tensor SVM"], paired["DTS Max"]))
    collected.print()
    chosen, possible = np.mean(n_features, axis=0)
    print(f"Table 4: {chosen:.1f} features of {possible:.1f} on average.")
    print(
        "Section 5.1.2: cosine between the brain weights of the concatenated SVM and of the brain's own SVM: "
        f"{np.mean(cosines):.3f} on average."
    )
    tensor, dts = (np.concatenate(parts) for parts in zip(*agreement, strict=True))
    only = int((tensor > dts).sum()), int((dts > tensor).sum())
    p = binomtest(only[0], sum(only)).pvalue if sum(only) else 1.0
    print(
        f"Section 5.1.1: right by the tensor SVM alone {only[0]}, by DTS (Max) alone {only[1]} "
        f"of {len(tensor)}; sign test p = {p:.2g}."
    )


def three_views(splits: Callable[[], Iterable[Split]]) -> None:
    """Tables 2 and 3 with three views, by CP and Tucker."""
    collected = Collected()
    for split in splits():
        ones = one_and(split)
        paired = {
            "SVM concat.": right(fitted(ConcatenatedSVC, split), split),
            "kCCA SVM": right(fitted(KernelCCASVC, split), split),
            "Tensor SVM": right(fitted(TensorSVC, split), split),
            "Tensor SVM, 1 + K": right(fitted(TensorSVC, ones, center=False), ones),
        }
        alone = {
            "Brain SVM": svm(split.train[:1], split.test[:1], split) == split.y_test,
            "kCCA SVM": right(fitted(KernelCCASVC, split), split, only=BRAIN),
            "Tensor SVM": right(fitted(TensorSVC, split), split, only=BRAIN),
        }
        for kind in ("cp", "tucker"):
            for T in ("bound", 5, "max"):
                settings = {"n_projections": T, "decomposition": kind, "random_state": 0}
                model = fitted(DecomposedTensorSVC, split, **settings)
                paired[f"DTS {kind} {T}"] = right(model, split)
                alone[f"DTS {kind} {T}"] = right(model, split, only=BRAIN)
        collected.add("Table 2: all views", split, paired)
        collected.add("Table 3: brain alone", split, alone)
    collected.print()


def paired_outcomes(split: Split) -> Outcome:
    """Table 2: trained and tested on both views."""
    ones = one_and(split)
    return {
        "SVM concat.": right(fitted(ConcatenatedSVC, split), split),
        "kCCA SVM": right(fitted(KernelCCASVC, split), split),
        "Tensor SVM": right(fitted(TensorSVC, split), split),
        "Tensor SVM, 1 + K": right(fitted(TensorSVC, ones, center=False), ones),
        "DTS Th. 1": right(fitted(DecomposedTensorSVC, split, n_projections="bound"), split),
        "DTS Max": right(fitted(DecomposedTensorSVC, split, n_projections="max"), split),
        "DTS Max, 1 + K": right(fitted(DecomposedTensorSVC, ones, n_projections="max", center=False), ones),
    }


def brain_outcomes(split: Split) -> Outcome:
    """Table 3: trained on both views, tested on the brain alone."""
    ones = one_and(split)
    models = {
        "kCCA SVM": fitted(KernelCCASVC, split, use=BRAIN),
        "Tensor SVM": fitted(TensorSVC, split),
        "DTS Th. 1": fitted(DecomposedTensorSVC, split, n_projections="bound", use=BRAIN),
        "DTS Max": fitted(DecomposedTensorSVC, split, n_projections="max", use=BRAIN),
    }
    brain = svm(split.train[:1], split.test[:1], split) == split.y_test
    product = right(fitted(TensorSVC, ones, center=False), ones, only=BRAIN)
    centered = {name: right(model, split, only=BRAIN) for name, model in models.items()}
    return {"Brain SVM": brain} | centered | {"Tensor SVM, 1 + K": product}


def retrieval_outcomes(split: Split, most: TensorDecomposition) -> dict[str, Outcome]:
    """Table 5: query the brain, find a brain image; and across views: find a picture."""
    models = {
        "kCCA": fitted(KernelCCA, split),
        "TD Th. 1": fitted(TensorDecomposition, split, n_projections="bound"),
        "TD Max": most,
    }
    tables: dict[str, Outcome] = {}
    for ranked, what in ((BRAIN, "brain from brain"), (1, "stimulus from brain")):
        found: dict[str, Retrieval] = {
            name: retrieve(
                model, split.test, split.train, split.y_test, split.y_train, view=BRAIN, training_view=ranked
            )
            for name, model in models.items()
        }
        first, average = f"Table 5: {what}, first found", f"Table 5: {what}, average precision"
        tables[first] = {name: one.query_accuracy for name, one in found.items()}
        tables[average] = {name: one.query_average_precision for name, one in found.items()}
        shares = np.array([(split.y_train == label).mean() for label in split.y_test])
        tables[first]["chance"] = shares
        chance = retrieve(
            Constant(), split.test, split.train, split.y_test, split.y_train, view=BRAIN, training_view=ranked
        )
        tables[average]["chance"] = chance.query_average_precision
    return tables


class Constant:
    """Projections that tell nothing apart: all scores tie, which is the chance level of each query."""

    def transform(self, X: list[Array], view: int) -> Array:
        return np.ones((len(X[view]), 1))


def brain_cosine(split: Split) -> float:
    """Cosine between the brain weights of two SVMs: both views concatenated, brain alone."""
    weights = []
    for K in (sum(split.train), split.train[BRAIN]):
        model = SVC(kernel="precomputed", C=1.0).fit(K, split.y_train)
        weights.append(np.zeros(len(K)))
        weights[-1][model.support_] = model.dual_coef_[0]
    products = [[a @ split.train[BRAIN] @ b for b in weights] for a in weights]
    return float(products[0][1] / np.sqrt(products[0][0] * products[1][1]))


def fitted(kind: Callable[..., object], split: Split, **settings: object):
    """An estimator on a split's kernels."""
    model = kind([len(K) for K in split.train], kernel="precomputed", **settings)
    return model.fit(split.train, split.y_train)


def predictions(kind: Callable[..., object], split: Split, **settings: object) -> Array:
    """Labels of the test samples by an estimator."""
    return fitted(kind, split, **settings).predict(split.test)


def right(model, split: Split, only: int | None = None) -> Array:
    """Which test samples are classified rightly, by all views or by one."""
    test = [K if only in (None, v) else None for v, K in enumerate(split.test)]
    return model.predict(test) == split.y_test


def one_and(split: Split) -> Split:
    """The same with kernels 1 + K, which `center=False` leaves as they are.

    Not in the paper. A product of centered kernels holds only products of features, in which what tells two
    classes apart within one view alone cancels: sign times sign. The ones bring each view back by itself.
    On features it is `kernel="polynomial", degree=1, coef0=1, center=False`.
    """
    test = [None if K is None else 1 + K for K in split.test]
    return replace(split, train=[1 + K for K in split.train], test=test)


def svm(train: list[Array], test: list[Array], split: Split) -> Array:
    """LIBSVM on the sum of kernels: on views that are concatenated. One class against the rest for more."""
    labels = np.unique(split.y_train)
    scores = [
        SVC(kernel="precomputed", C=1.0).fit(sum(train), split.y_train == c).decision_function(sum(test))
        for c in (labels if len(labels) > 2 else labels[1:])
    ]
    if len(labels) == 2:
        return labels[(scores[0] > 0).astype(int)]
    return labels[np.argmax(scores, axis=0)]


if __name__ == "__main__":
    main()
