"""Support Vector Decomposition Machines."""

from svdecode.svdm.estimator import SVDMClassifier
from svdecode.svdm.search import SVDMClassifierCV

__all__ = ["SVDMClassifier", "SVDMClassifierCV"]
