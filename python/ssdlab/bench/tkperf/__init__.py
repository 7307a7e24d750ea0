"""Results of TKperf, read so that `ssdlab report` and `ssdlab compare` take them.

document    the XML file, checked: which tests, with which load, and their matrices
rounds      matrices as rounds of cells, of the same names and units as those of `ssdlab pts`
measured    what a report needs, with TKperf's conditions as deviations from the standard
"""
