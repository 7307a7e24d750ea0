"""A drive that is served: how it is asked, looked at and told what to do while clients use it."""
