#!/bin/sh
# The main job on embedded defaults: a sweep goes into a queue, a worker trains it, and then what one wants to know.
set -eu
cd "$(dirname "$0")/.."
export PADDOCK_HOME="${PADDOCK_HOME:-$PWD/.paddock}"
export OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1
say() { printf '\n\033[1m$ %s\033[0m\n' "$*"; "$@"; }

printf 'Six trainings on the digits data: three learning rates, two seeds each.\n'
say paddock submit --project digits --grid lr=0.03,0.3,1.0 --grid seed=0..1 --quiet -- \
    python examples/digits.py --lr '{lr}' --seed '{seed}'
say paddock worker --slots 2 --no-persist
say paddock ls project=digits
say paddock compare project=digits --by lr --metric val/acc --metric train/loss
printf '\nThe runs are plain files in %s; `paddock show RUN`, `paddock logs RUN`, `paddock diff A B` say more.\n' "$PADDOCK_HOME"
