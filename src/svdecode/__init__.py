"""Decode from few samples of very many features.

svdecode learns a low-dimensional representation of the data and the classifiers that read it
together, and shows where in the brain the decision comes from.
"""

from svdecode.gensvd import GenSVD
from svdecode.svdm import SVDMClassifier

__version__ = "0.1.0.dev0"

__all__ = ["GenSVD", "SVDMClassifier", "__version__"]
