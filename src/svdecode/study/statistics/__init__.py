"""What a study's accuracies tell: intervals, tests against chance, comparisons, confusions."""

from svdecode.study.statistics.comparison import ResampledT, corrected_resampled_t, paired_differences
from svdecode.study.statistics.confusion import Confusion, confusion
from svdecode.study.statistics.correction import adjust
from svdecode.study.statistics.exchange import (
    check_exchangeable,
    count_arrangements,
    permutations,
    permute_within,
)
from svdecode.study.statistics.flips import SignFlip, sign_flip
from svdecode.study.statistics.intervals import AccuracyInterval, accuracy_interval, clopper_pearson
from svdecode.study.statistics.permutation import (
    PermutationTest,
    compare_with_null,
    p_resolution,
    permutation_test,
)
from svdecode.study.statistics.simulation import RatePlan, null_dataset, plan_rate

__all__ = [
    "AccuracyInterval",
    "Confusion",
    "PermutationTest",
    "RatePlan",
    "ResampledT",
    "SignFlip",
    "accuracy_interval",
    "adjust",
    "check_exchangeable",
    "clopper_pearson",
    "compare_with_null",
    "confusion",
    "corrected_resampled_t",
    "count_arrangements",
    "null_dataset",
    "p_resolution",
    "paired_differences",
    "permutation_test",
    "permutations",
    "permute_within",
    "plan_rate",
    "sign_flip",
]
