"""The main job: a Dataset in, an accuracy to defend, maps and a page to publish out."""

from svdecode.decoding.analysis import decode
from svdecode.decoding.page import DecodingReport
from svdecode.decoding.result import DecodingResult, Headline

__all__ = ["DecodingReport", "DecodingResult", "Headline", "decode"]
