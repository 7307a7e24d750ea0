"""What is set up on a machine and how it does: alignment, the audit, health of drives."""
