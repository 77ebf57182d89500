"""Sampling of regions of interest, for ROI_POOLING and ROI_ALIGN."""
