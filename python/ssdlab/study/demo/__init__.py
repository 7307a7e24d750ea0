"""The demo: what one drive does fresh and in steady state, and what spare area and TRIM give back."""
