"""SNIA's Solid State Storage Performance Test Specification (PTS), on any target.

`plan` is a test as data, `book` the tests as the standard has them, `target` what is asked of a
drive, `measurement` what a step gives, `steady` the rule for steady state, `procedure` the loop,
`store` the folder of results, `simulated` the target in virtual time.
"""
