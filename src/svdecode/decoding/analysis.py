"""decode: the usual methods on one data set, compared, tested against chance, and mapped."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from svdecode.decoding.null import SplitBySplit
from svdecode.decoding.result import DecodingResult
from svdecode.decoding.settings import (
    N_INNER,
    N_PERMUTATIONS,
    PERMUTED_COMPONENTS,
    PERMUTED_SHRINKAGE,
    Settings,
    settle,
)
from svdecode.imaging import Dataset
from svdecode.study import METHODS, Method, Splits, Study


def decode(
    dataset: Dataset,
    *,
    protocol: str | None = None,
    methods: Iterable[str] | str | None = None,
    components: Iterable[int] | int | None = None,
    standardize: str | None = "auto",
    choice: str = "best",
    n_inner: int = N_INNER,
    n_permutations: int = N_PERMUTATIONS,
    permute: str = "fixed",
    seed: int = 0,
    store: Any = None,
    n_jobs: int | None = None,
    progress: bool | None = None,
    anatomy: Any = None,
) -> DecodingResult:
    """Decode labels from data, compare methods, test against chance, and keep what a report needs.

    Weights and the number of components are chosen inside the training samples of each split, by a
    cross-validation of their own. Whatever is not asked for follows from what is known of the samples.

    Parameters
    ----------
    dataset : Dataset
        The data, as `svdecode.imaging.read_dataset` reads them.
    protocol : str, optional
        Who is trained on and who is tested: a name of `svdecode.study.PROTOCOLS`, or "stratified_folds". By
        default subjects are left out where there are several, else runs, else stratified folds of samples.
    methods : str or iterable of str, optional
        Names of `svdecode.study.METHODS`, the one that the report is about first. By default the SVDM, SVD
        followed by a linear SVM, and a linear SVM on all voxels.
    components : int or iterable of int, optional
        Numbers of components that are reported, and among which one is chosen inside; by default powers of
        two up to 32, as far as there are samples.
    standardize : {"auto", None, "run", "subject", "training"}, default "auto"
        By what voxels are standardized; "auto" is by run where no run stands on both sides of a split, else
        by the training samples.
    choice : str, default "best"
        Rule of choice, a name of `svdecode.study.RULES`.
    n_inner : int, default 5
        Inner folds, of whole runs or subjects where these are known.
    n_permutations : int, default 99
        Of the permutation test; 0 leaves it out. The smallest p-value is 1 / (n_permutations + 1).
    permute : {"fixed", "all"}, default "fixed"
        "fixed": the test is of an SVDM whose number of components and weight were fixed beforehand, so that
        nothing has to be chosen again; "all" repeats the choice with every permutation, which takes as many
        times as long.
    seed : int, default 0
        Of what is random.
    store : path, optional
        A file that keeps what is done, so that an interrupted decoding goes on where it was.
    n_jobs : int, optional
        Workers, as in joblib.
    progress : bool, optional
        Whether to show a bar with the end time; by default in a terminal.
    anatomy : nibabel image or path, optional
        What maps are drawn on, on the grid of the mask; by default the mask's outline.

    Returns
    -------
    DecodingResult
        Tables, tests and maps; `report()` makes the page.

    See Also
    --------
    svdecode.Study : For any other design.
    svdecode.imaging.read_dataset : From images and tables to a Dataset.

    Examples
    --------
    >>> from svdecode import decode
    >>> from svdecode.datasets import load_haxby2001_slice
    >>> data = load_haxby2001_slice()
    >>> data = data.select((data.y == "face") | (data.y == "house"))
    >>> result = decode(data, methods="svdm", components=[1, 2], n_permutations=19)
    >>> round(result.headline.accuracy, 1), result.settings.protocol
    (1.0, 'leave_one_run_out')
    """
    settings, splits = settle(
        dataset, protocol=protocol, methods=methods, components=components, standardize=standardize,
        choice=choice, n_inner=n_inner, n_permutations=n_permutations, permute=permute, seed=seed,
    )  # fmt: skip
    plan = Plan(dataset, settings, splits)
    study = plan.study.run(store, n_jobs=n_jobs, progress=progress)
    null = None if plan.null is None else plan.null.run(store, n_jobs=n_jobs, progress=progress)
    return DecodingResult(dataset, settings, splits, study, null, anatomy=anatomy)


class Plan:
    """The studies that make a decoding.

    Parameters
    ----------
    dataset : Dataset
        The data.
    settings : Settings
        What is done.
    splits : Splits
        Of its rows.
    """

    def __init__(self, dataset: Dataset, settings: Settings, splits: Splits) -> None:
        self.dataset, self.settings, self.splits = dataset, settings, splits
        common: dict[str, Any] = {
            "choice": settings.choice, "n_inner": settings.n_inner, "seeds": [settings.seed],
        }  # fmt: skip
        self.study = Study(
            dataset, settings.methods, lambda _: splits, standardize=settings.standardize,
            choose_size=True, **common,
        )  # fmt: skip
        self.null: Study | None = None
        if settings.n_permutations:
            self.null = self._of_permutations(common)

    def _of_permutations(self, common: dict[str, Any]) -> Study:
        settings, splits = self.settings, self.splits
        if settings.permute == "all":
            return Study(
                self.dataset, settings.methods[:1], lambda _: splits, standardize=settings.standardize,
                choose_size=True, n_permutations=settings.n_permutations, **common,
            )  # fmt: skip
        method = permuted_method(splits)
        if settings.standardize != "training":
            return Study(
                self.dataset, method, lambda _: splits, standardize=settings.standardize,
                n_permutations=settings.n_permutations, **common,
            )  # fmt: skip
        return SplitBySplit(self.dataset, method, splits, settings.n_permutations, **common)

    def __len__(self) -> int:
        return len(self.study) + (0 if self.null is None else len(self.null))


def permuted_method(splits: Splits) -> Method:
    """The SVDM of the permutation test: its parameters are fixed in the package."""
    most = min(len(part.train) for part in splits) - 1
    return METHODS["svdm"](
        name="SVDM, fixed", sizes=[min(PERMUTED_COMPONENTS, most)], shrinkage=PERMUTED_SHRINKAGE
    )
