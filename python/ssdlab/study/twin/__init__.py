"""A twin of a drive: a profile made from what a long test of the drive gives, without a script.

`goals` reads the figures, `recipe` derives the profile's numbers from them by runs of slices,
`profile` writes it. `slices` and `latency` are the runs, `patterns` what is written in them.
"""
