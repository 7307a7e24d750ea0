"""The documents' questions asked of the reader's drive: A against B in short turns.

`questions` has them as jobs of fio, `turns` carries them out, on a real target and on a simulated
drive, and takes the ratio with its interval.
"""
