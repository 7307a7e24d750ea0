"""What can go wrong in a way that the caller can mend, or has asked for."""


class SsdlabError(Exception):
    """What the user can mend: the message names the place, the value and the remedy."""


class Stopped(Exception):
    """The run was asked to stop before it had finished."""
