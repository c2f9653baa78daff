"""Figures, and the page that carries them."""

from svdecode.report.blocks import Excerpt, Heading, Highlights, Notes, Paragraph, Picture, Table
from svdecode.report.figures import Curve, curves, scree
from svdecode.report.output import Output, output_folder
from svdecode.report.page import Page, Section, versions
from svdecode.report.projections import Projection, covariance_ellipse, projections
from svdecode.report.slices import Layer, SliceBrowser, Volume

__all__ = [
    "Curve",
    "Excerpt",
    "Heading",
    "Highlights",
    "Layer",
    "Notes",
    "Output",
    "Page",
    "Paragraph",
    "Picture",
    "Projection",
    "Section",
    "SliceBrowser",
    "Table",
    "Volume",
    "covariance_ellipse",
    "curves",
    "output_folder",
    "projections",
    "scree",
    "versions",
]
