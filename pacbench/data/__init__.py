"""Datasets: generated scenes by default, the real ones when a user has them."""

from pacbench.data.base import Dataset, DatasetInfo, DatasetParams, Sample, datasets

__all__ = ["Dataset", "DatasetInfo", "DatasetParams", "Sample", "datasets"]
