"""The test protocols: each a function from a dataset to its splits, and all of them by name.

No protocol looks at anything but labels, runs and subjects.
"""

from svdecode.study.drawing import repeated_random
from svdecode.study.fronts import new_runs, new_subjects, stratified_pooled, whole_runs, within_subject
from svdecode.study.leaving_out import cycles, leave_one_run_out, leave_one_sample_out, leave_one_subject_out
from svdecode.study.making import PROTOCOLS, make_splits
from svdecode.study.pairs import class_pairs, each_subject, leave_pair_out
from svdecode.study.voting import vote, vote_by_fold

__all__ = [
    "PROTOCOLS",
    "class_pairs",
    "cycles",
    "each_subject",
    "leave_one_run_out",
    "leave_one_sample_out",
    "leave_one_subject_out",
    "leave_pair_out",
    "make_splits",
    "new_runs",
    "new_subjects",
    "repeated_random",
    "stratified_pooled",
    "vote",
    "vote_by_fold",
    "whole_runs",
    "within_subject",
]
