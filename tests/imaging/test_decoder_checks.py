"""SVDMDecoder under the checks of nilearn and of scikit-learn; every exception has its reason."""

import numpy as np
import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from svdecode import SVDMDecoder

try:  # older versions of nilearn have none
    from nilearn._utils.estimator_checks import nilearn_check_generator
except ImportError:
    nilearn_check_generator = None

NOT_OF_NILEARN = {
    "check_doc_link": "asks for a page of nilearn's own documentation",
    "check_tags": "asks for _more_tags, which scikit-learn before 1.6 wanted",
    "check_set_output": "coordinates are an array; it also hands surfaces to what was fitted on volumes",
    "check_decoder_estimator_args": "there is no inner estimator to choose: its parameters are spelled out",
    "check_supervised_img_estimator_y_no_nan": (
        "hands over continuous labels and wants a message on their NaN; unknown labels are NaN and allowed, "
        "continuous ones are refused as such"
    ),
    "check_img_estimator_standardization": (
        "wants other predictions of the training images with each standardization; they are "
        "all right with all, and nilearn exempts its own Decoder"
    ),
}

if nilearn_check_generator is not None:
    NILEARN_CHECKS = {check.__name__: check for _, check in nilearn_check_generator(SVDMDecoder())}
else:
    NILEARN_CHECKS = {}


@pytest.mark.skipif(nilearn_check_generator is None, reason="this nilearn has no checks of estimators")
@pytest.mark.filterwarnings("ignore")  # nilearn's, of its own defaults
@pytest.mark.parametrize("name", NILEARN_CHECKS)
def test_nilearns_checks(name, request, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # some write a cache where they stand
    if name in NOT_OF_NILEARN:
        request.applymarker(pytest.mark.xfail(reason=NOT_OF_NILEARN[name], strict=True))
    NILEARN_CHECKS[name](SVDMDecoder())


@pytest.mark.skipif(nilearn_check_generator is None, reason="this nilearn has no checks of estimators")
def test_the_exceptions_are_checks_of_nilearn():
    assert len(NILEARN_CHECKS) > 20
    assert set(NOT_OF_NILEARN) <= set(NILEARN_CHECKS)


ARRAYS = "fits an array, which has no place in the brain: fit takes images (nilearn has a check of its own)"
MESSAGE = "fits an array, and wants of its refusal another message than that images are expected"
NOT_WITH_ARRAYS = dict.fromkeys(
    [
        "check_class_weight_classifiers",
        "check_classifier_data_not_an_array",
        "check_classifiers_classes",
        "check_classifiers_multilabel_output_format_decision_function",
        "check_classifiers_multilabel_output_format_predict",
        "check_classifiers_multilabel_output_format_predict_proba",
        "check_classifiers_multilabel_representation_invariance",
        "check_classifiers_one_label",
        "check_classifiers_train",
        "check_dict_unchanged",
        "check_dont_overwrite_parameters",
        "check_dtype_object",
        "check_estimators_dtypes",
        "check_estimators_fit_returns_self",
        "check_estimators_overwrite_params",
        "check_estimators_pickle",
        "check_f_contiguous_array_estimator",
        "check_fit2d_predict1d",
        "check_fit_check_is_fitted",
        "check_fit_idempotent",
        "check_fit_score_takes_y",
        "check_methods_sample_order_invariance",
        "check_methods_subset_invariance",
        "check_n_features_in",
        "check_n_features_in_after_fitting",
        "check_non_transformer_estimators_n_iter",
        "check_pipeline_consistency",
        "check_positive_only_tag_during_fit",
        "check_readonly_memmap_input",
        "check_supervised_y_2d",
        "check_transformer_n_iter",
        "check_transformer_data_not_an_array",
        "check_transformer_general",
        "check_transformer_preserve_dtypes",
    ],
    ARRAYS,
) | dict.fromkeys(
    [
        "check_classifiers_regression_target",
        "check_complex_data",
        "check_estimator_sparse_array",
        "check_estimator_sparse_matrix",
        "check_estimator_sparse_tag",
        "check_estimators_empty_data_messages",
        "check_estimators_nan_inf",
        "check_fit2d_1feature",
        "check_fit2d_1sample",
        "check_requires_y_none",
    ],
    MESSAGE,
)


def expected_to_fail(estimator):
    return NOT_WITH_ARRAYS


@parametrize_with_checks([SVDMDecoder()], expected_failed_checks=expected_to_fail)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def test_the_exceptions_are_those_that_fit_arrays():
    """What stands behind the list above, once."""
    with pytest.raises(
        ValueError, match=r"imgs: found an array of shape .*, expected images or paths of images"
    ):
        SVDMDecoder().fit(np.ones((4, 3)), [0, 1, 0, 1])
