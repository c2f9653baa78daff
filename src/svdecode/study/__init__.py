"""Studies: who is trained on and who is tested, how weights are chosen, and what one compares with."""

from svdecode.study.baselines import (
    gnb,
    ica_gnb,
    ica_svm,
    linear_svm,
    nca,
    pls_da,
    recursive_selection_svm,
    ridge,
    shrinkage_lda,
    svd_gnb,
    svd_svm,
    svdm,
    svdm_gnb,
    svdm_svm,
    univariate_selection_svm,
)
from svdecode.study.cells import Cell
from svdecode.study.choice import (
    RULES,
    Rule,
    best,
    inner_splits,
    just_below_perfect,
    one_standard_error,
)
from svdecode.study.components import IndependentComponents, NeighborhoodComponents, SingularComponents
from svdecode.study.discriminants import GaussianNaiveBayes, ShrinkageLDA
from svdecode.study.keys import cell_key, fingerprint
from svdecode.study.leaks import check_splits, torn_units, unit_codes, unit_name
from svdecode.study.linear import LinearSVM
from svdecode.study.maps import WeightMaps
from svdecode.study.methods import METHODS, Method, make_method
from svdecode.study.pls import PLSDA
from svdecode.study.preprocessing import STANDARDIZATIONS, OverallScale, check_standardization, standardize
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
from svdecode.study.results import StudyResult
from svdecode.study.runner import Study
from svdecode.study.selection import RecursiveSelection, UnivariateSelection
from svdecode.study.splits import Split, Splits
from svdecode.study.store import Store
from svdecode.study.weights import coefficients, component_maps, voxel_weights

__all__ = [
    "METHODS",
    "PLSDA",
    "PROTOCOLS",
    "RULES",
    "STANDARDIZATIONS",
    "Cell",
    "GaussianNaiveBayes",
    "IndependentComponents",
    "LinearSVM",
    "Method",
    "NeighborhoodComponents",
    "OverallScale",
    "RecursiveSelection",
    "Rule",
    "ShrinkageLDA",
    "SingularComponents",
    "Split",
    "Splits",
    "Store",
    "Study",
    "StudyResult",
    "UnivariateSelection",
    "WeightMaps",
    "best",
    "cell_key",
    "check_splits",
    "check_standardization",
    "class_pairs",
    "coefficients",
    "component_maps",
    "cycles",
    "each_subject",
    "fingerprint",
    "gnb",
    "ica_gnb",
    "ica_svm",
    "inner_splits",
    "just_below_perfect",
    "leave_one_run_out",
    "leave_one_sample_out",
    "leave_one_subject_out",
    "leave_pair_out",
    "linear_svm",
    "make_method",
    "make_splits",
    "nca",
    "new_runs",
    "new_subjects",
    "one_standard_error",
    "pls_da",
    "recursive_selection_svm",
    "repeated_random",
    "ridge",
    "shrinkage_lda",
    "standardize",
    "stratified_pooled",
    "svd_gnb",
    "svd_svm",
    "svdm",
    "svdm_gnb",
    "svdm_svm",
    "torn_units",
    "unit_codes",
    "unit_name",
    "univariate_selection_svm",
    "vote",
    "vote_by_fold",
    "voxel_weights",
    "whole_runs",
    "within_subject",
]
