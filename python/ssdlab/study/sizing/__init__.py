"""Which drive for a load: closed forms rule out, runs decide, a verdict names the limit."""
