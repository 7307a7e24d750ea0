"""A profile fitted to what was measured on a drive; the simulator itself is the forward model.

measurement     what was measured, and under which load
read_csv        measurements from a table
read_fio        measurements from fio's JSON
unknowns        the uncertain numbers of a profile, as places from 0 to 1
forward         runs of all loads on drives that are drawn
emulator        a figure over the places, from the runs there are
posterior       places that agree with the measurements
waves           runs, emulators and posterior by turns
point           one drive of the posterior, near the base profile
misfit          outliers, and drives that no places explain
prediction      how well measurements that were held back are predicted
profile         the profile that is written
plan            which measurement would tell most
"""
