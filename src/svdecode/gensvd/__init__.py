"""Generalizable SVD (Kjems, Hansen & Strother 2000), in closed form."""

from svdecode.gensvd.estimator import GenSVD
from svdecode.gensvd.leverages import left_out_coordinates

__all__ = ["GenSVD", "left_out_coordinates"]
