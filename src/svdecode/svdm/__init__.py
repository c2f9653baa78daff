"""Support Vector Decomposition Machines."""

from svdecode.svdm.common import TRUSTED_TYPES
from svdecode.svdm.estimator import SVDMClassifier
from svdecode.svdm.search import SVDMClassifierCV
from svdecode.svdm.trace_norm import TraceNormSVDM

__all__ = ["TRUSTED_TYPES", "SVDMClassifier", "SVDMClassifierCV", "TraceNormSVDM"]
