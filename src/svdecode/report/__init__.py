"""Figures, and the page that carries them."""

from svdecode.report.figures import Curve, curves, scree
from svdecode.report.output import Output, output_folder
from svdecode.report.page import Highlights, Page, Paragraph, Picture, Section, Table, versions
from svdecode.report.projections import Projection, covariance_ellipse, projections

__all__ = [
    "Curve",
    "Highlights",
    "Output",
    "Page",
    "Paragraph",
    "Picture",
    "Projection",
    "Section",
    "Table",
    "covariance_ellipse",
    "curves",
    "output_folder",
    "projections",
    "scree",
    "versions",
]
