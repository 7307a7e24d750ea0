"""Figures from published documents, each with its source."""
