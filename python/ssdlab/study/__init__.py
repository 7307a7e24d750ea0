"""Questions to simulated drives: a demo, everyday work, sweeps, sizing, fits."""
