"""Who is right when documents, makers and measurements disagree: each beside the model."""
