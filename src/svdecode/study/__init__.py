"""Studies: who is trained on and who is tested, how weights are chosen, and what one compares with."""

from svdecode.study.cells import Cell
from svdecode.study.choice import (
    RULES,
    Rule,
    best,
    check_rule,
    inner_splits,
    just_below_perfect,
    one_standard_error,
)
from svdecode.study.keys import cell_key, fingerprint
from svdecode.study.leaks import check_splits, torn_units, unit_codes, unit_name
from svdecode.study.methods import Method
from svdecode.study.protocols import (
    PROTOCOLS,
    class_pairs,
    cycles,
    each_subject,
    leave_one_run_out,
    leave_one_sample_out,
    leave_one_subject_out,
    leave_pair_out,
    make_splits,
    new_runs,
    new_subjects,
    repeated_random,
    stratified_pooled,
    vote,
    vote_by_fold,
    whole_runs,
    within_subject,
)
from svdecode.study.splits import Split, Splits
from svdecode.study.store import Store

__all__ = [
    "PROTOCOLS",
    "RULES",
    "Cell",
    "Method",
    "Rule",
    "Split",
    "Splits",
    "Store",
    "best",
    "cell_key",
    "check_rule",
    "check_splits",
    "class_pairs",
    "cycles",
    "each_subject",
    "fingerprint",
    "inner_splits",
    "just_below_perfect",
    "leave_one_run_out",
    "leave_one_sample_out",
    "leave_one_subject_out",
    "leave_pair_out",
    "make_splits",
    "new_runs",
    "new_subjects",
    "one_standard_error",
    "repeated_random",
    "stratified_pooled",
    "torn_units",
    "unit_codes",
    "unit_name",
    "vote",
    "vote_by_fold",
    "whole_runs",
    "within_subject",
]
