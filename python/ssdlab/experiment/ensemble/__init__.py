"""An ensemble of drives: what is assumed is drawn, so that a figure comes with its interval."""
