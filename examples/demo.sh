#!/bin/sh
# The main job on embedded defaults: six trainings on the digits data, then what one wants to know of them.
set -eu
cd "$(dirname "$0")/.."
export PADDOCK_HOME="${PADDOCK_HOME:-$PWD/.paddock}"
export OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1
say() { printf '\n\033[1m$ %s\033[0m\n' "$*"; "$@"; }

printf 'Six trainings: three learning rates, two seeds each.\n'
for lr in 0.03 0.3 1.0; do
    for seed in 0 1; do
        python examples/digits.py --lr "$lr" --seed "$seed" | tail -n 1
    done
done
say paddock ls project=digits
say paddock compare project=digits --by lr --metric val/acc --metric train/loss
printf '\nThe runs are plain files in %s; `paddock show RUN`, `paddock logs RUN`, `paddock diff A B` say more.\n' "$PADDOCK_HOME"
