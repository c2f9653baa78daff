"""Images and tables in, images out."""

from svdecode.imaging.dataset import Dataset

__all__ = ["Dataset"]
