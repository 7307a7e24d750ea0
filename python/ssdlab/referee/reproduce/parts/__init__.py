"""Parts of questions that would not fit their file: experiments, and the rows read from them."""
