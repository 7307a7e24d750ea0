#!/usr/bin/env bash
# One part of the tests that take longer than CI may. `conditions` takes minutes to half an hour a
# drive: DRIVES names some of them, by default those of 80 to 90 GB.
set -euo pipefail
cd "$(dirname "$0")/.."
DRIVES=${DRIVES:-intel-dc-s3500-80gb intel-x25-m-g1-80gb intel-x25-m-g2-80gb ocz-vertex-2-90gb}
# `scale` goes both ways into steady state: five minutes to an hour for all of these.
SCALED=${SCALED:-intel-dc-s3500-80gb intel-dc-s3500-480gb intel-dc-s3500-800gb intel-dc-s3700-200gb intel-dc-s3700-800gb \
    intel-x25-m-g1-80gb intel-x25-m-g2-80gb intel-x25-m-g2-160gb micron-7450-max-800gb micron-7450-pro-960gb \
    super-talent-ultradrive-gx-256gb theory}

case "${1:-}" in
asked)
    # The documents' questions asked of a served drive at its own pace; a quarter of an hour on a machine that does nothing else.
    SSDLAB_ASKED=all .venv/bin/pytest -s tests/python/test_measure_long.py
    ;;
conditions)
    # shellcheck disable=SC2086
    cargo run --locked --release -p ssdlab-lab --example conditions -- $DRIVES
    ;;
scale)
    # shellcheck disable=SC2086
    cargo run --locked --release -p ssdlab-lab --example scale_model -- $SCALED
    ;;
control)
    # Drawn messages to a served drive, for twenty minutes of processor time.
    SSDLAB_CONTROL=${SSDLAB_CONTROL:-6000} .venv/bin/pytest tests/python/test_serving_api.py -k whatever
    ;;
coverage)
    SSDLAB_COVERAGE=all .venv/bin/pytest tests/python/test_coverage.py
    ;;
databases)
    # SQLite and PostgreSQL on an attached drive whose power is cut while they commit.
    SSDLAB_DATABASE_CUTS=${SSDLAB_DATABASE_CUTS:-200} .venv/bin/pytest -rs tests/python/test_databases.py tests/python/test_published_losses.py
    ;;
datasheets)
    # Goes on where it was interrupted; another folder starts anew.
    .venv/bin/python -m ssdlab.referee.published -o "${SSDLAB_PUBLISHED:-target/published}"
    ;;
examples)
    # Every example of README and help, from a cold start; SSDLAB_EXAMPLES=sizing types one verb's.
    SSDLAB_EXAMPLES=${SSDLAB_EXAMPLES:-all} .venv/bin/pytest -s -rs tests/python/test_examples_long.py
    ;;
drawn-drives)
    SSDLAB_DRAWS=0..10000 cargo test --locked -p ssdlab-lab --test all -- drawn_drives --nocapture
    ;;
fio)
    # The tests of real drives with the fio of Debian's stable release, and with its newest; sprandom is of the newest alone.
    for release in stable unstable; do
        scripts/debian-fio.sh "$release" "target/fio-$release"
        PATH=$PWD/target/fio-$release/bin:$PATH .venv/bin/pytest -rs tests/python/test_real_*.py tests/python/test_season_real.py \
            tests/python/test_sprandom.py
    done
    ;;
first-slices)
    # 60 drawn jobs on each of DRIVES in steady state, at full size, and eight seeds together; `all` is every SSD
    # that comes along, and JOBS=no leaves the drawn jobs out.
    SSDLAB_FIRST_SLICES=$([ "${JOBS:-}" = no ] || echo "$DRIVES") SSDLAB_SEEDS=$DRIVES .venv/bin/pytest -s tests/python/test_first_slice.py
    ;;
fit)
    # Ten mystery drives: more than an hour, and it goes on where it stopped; SSDLAB_FIT=2 fits two.
    SSDLAB_FIT=${SSDLAB_FIT:-all} .venv/bin/pytest -s tests/python/test_fit_long.py
    ;;
fit-coverage)
    # Eight small mystery drives, whose intervals are counted; it goes on where it stopped.
    SSDLAB_FIT_COVERAGE=${SSDLAB_FIT_COVERAGE:-8} .venv/bin/pytest -s tests/python/test_fit_long.py -k 90_percent
    ;;
intervals)
    # Goes on where it was interrupted. What comes with the program must be what it gives.
    .venv/bin/ssdlab reproduce --quick --ensemble 32 -o target/intervals
    cmp target/intervals/intervals.json python/ssdlab/data/reproduce_intervals.json
    ;;
interrupt)
    SSDLAB_INTERRUPTS=20 .venv/bin/pytest tests/python/test_interrupt.py
    ;;
kills)
    # A server is killed under load by four connections.
    SSDLAB_KILLS=${SSDLAB_KILLS:-300} .venv/bin/pytest tests/python/test_serve_kills.py
    ;;
measured)
    # Goes on where it was interrupted; another folder starts anew.
    .venv/bin/python -m ssdlab.referee.measured -o "${SSDLAB_MEASURED:-target/measured}"
    ;;
mutants)
    SSDLAB_MUTANTS=all .venv/bin/pytest -v tests/python/test_mutants.py
    ;;
power-cuts)
    # A cut after every event: a million of them, over every kind of drive.
    SSDLAB_CUTS=1000000 cargo test --locked -p ssdlab-disk nothing_promised -- --nocapture
    ;;
pts)
    # Goes on where it was interrupted; SSDLAB_PTS_DRIVE names another drive.
    SSDLAB_PTS=${SSDLAB_PTS:-target/pts} .venv/bin/pytest -s tests/python/test_pts_long.py
    SSDLAB_KILLS=50 .venv/bin/pytest tests/python/test_pts_command.py -k killed
    ;;
pts-960gb)
    # As the first half of `pts`, for a drive of the size that servers have.
    SSDLAB_PTS=${SSDLAB_PTS:-target/pts} SSDLAB_PTS_DRIVE=${SSDLAB_PTS_DRIVE:-micron-7450-pro-960gb} \
        .venv/bin/pytest -s tests/python/test_pts_long.py
    ;;
predictions)
    # Goes on where it was interrupted; about fifty minutes of processor time. What is committed must be what it gives.
    .venv/bin/python -m ssdlab.referee.predicted --draws 16 -o target/7450-2.json
    cmp target/7450-2.json docs/predictions/7450-2.json
    ;;
real)
    # On a loop device in memory, which needs root and fio.
    SSDLAB_REAL_KILLS=${SSDLAB_REAL_KILLS:-50} .venv/bin/pytest -s -rs tests/python/test_real_long.py
    ;;
served)
    # The served drive beside the simulated one, by fio and by the performance test; memory; the way back after a kill.
    SSDLAB_SERVED=1 .venv/bin/pytest -s -rs tests/python/test_served_long.py
    ;;
sizing)
    # A hundred drawn drives, loads and limits: what closed forms decide is run, too.
    SSDLAB_SIZING=${SSDLAB_SIZING:-100} .venv/bin/pytest -s tests/python/test_sizing_long.py
    ;;
sweep)
    # Two thousand drives beside theory, then no-ops and kills on Dask, and the report's redraws: an hour. A folder with results is only judged.
    SSDLAB_SWEEP=${SSDLAB_SWEEP:-target/sweep} .venv/bin/pytest -s tests/python/test_sweep_long.py
    SSDLAB_SWEEP_NO_OPS=${SSDLAB_SWEEP_NO_OPS:-100000} SSDLAB_SWEEP_KILLS=${SSDLAB_SWEEP_KILLS:-50} \
        .venv/bin/pytest -s tests/python/test_sweep_cluster.py
    .venv/bin/pytest -s tests/python/test_sweep_redraw.py
    ;;
traces)
    # Ten million requests made up once, read plain and packed, and replayed: two minutes.
    SSDLAB_TRACES=${SSDLAB_TRACES:-target/traces} .venv/bin/pytest -s tests/python/test_trace_long.py
    ;;
twins)
    # The three measured drives by their tables; goes on where it was interrupted.
    SSDLAB_TWINS=1 .venv/bin/pytest -s -rs tests/python/test_twin_long.py
    ;;
*)
    echo "test-long: PART must be asked, conditions, control, coverage, databases, datasheets, drawn-drives, examples, fio, first-slices, fit, fit-coverage, intervals, interrupt, kills, measured, mutants, power-cuts, predictions, pts, pts-960gb, real, scale, served, sizing, sweep, traces or twins: make test-long PART=drawn-drives" >&2
    exit 2
    ;;
esac
