"""Support Vector Decomposition Machines."""

from svdecode.svdm.estimator import SVDMClassifier

__all__ = ["SVDMClassifier"]
