"""The bench's arm for what is real: block devices and NBD exports, loaded by fio.

Nothing here destroys anything without a `safety.Permission`, which only `safety` makes.
"""
