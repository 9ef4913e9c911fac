"""Readers of published data sets, their splits, and sample pages of our own."""
