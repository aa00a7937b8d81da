#!/bin/sh
# The main job on embedded defaults, live: a sweep goes into a queue, two workers train it, every checkpoint is evaluated
# when it appears, the board shows all of that while it happens, and at the end stands what one wanted to know.
set -eu
cd "$(dirname "$0")/.."
export PADDOCK_HOME="${PADDOCK_HOME:-$PWD/.paddock}"
export OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1
sweep="demo-$(date +%H%M%S)"
epochs="${EPOCHS:-240}"  # a minute on two cores: long enough to look at the board meanwhile
aside="$(mktemp -d)"
out="$PADDOCK_HOME/checkpoints/$sweep"
strong="" link="" plain=""
if [ -t 1 ]; then  # a file or a pipe gets the words alone
    strong="$(printf '\033[1m')" link="$(printf '\033[1;34m')" plain="$(printf '\033[0m')"
fi
show() { printf '\n%s$ %s%s\n' "$strong" "$*" "$plain"; }
say() { show "$*"; "$@"; }

# What was started ends with us, also after Ctrl-C, and what it had not done is taken out of the queues.
server="" watch="" first="" second=""
clean() {
    code=$?
    trap '' INT TERM HUP
    trap - EXIT
    exec 3>&-
    kill $first $second $watch $server 2>/dev/null || true
    wait
    for queue in "$sweep" "$sweep-evaluation"; do
        [ ! -d "$PADDOCK_HOME/queues/$queue" ] || paddock cancel --queue "$queue" --all --yes --quiet >/dev/null 2>&1 || true
    done
    rm -rf "$aside"
    exit "$code"
}
trap clean EXIT
trap 'printf "\nStopped.\n"; exit 130' INT
trap 'exit 143' TERM HUP

mkdir -p "$out"
paddock serve --address 127.0.0.1:0 >"$aside/address" 2>"$aside/complaints" &
server=$!
until grep -q browser "$aside/address"; do
    kill -0 "$server" 2>/dev/null || { cat "$aside/complaints"; exit 1; }
    sleep 0.1
done
printf 'Six trainings on the digits data: three learning rates, two seeds each. Watch them:\n\n'
printf '  %s%s%s\n' "$link" "$(sed -n 's/^ *browser *//p' "$aside/address")" "$plain"

show paddock watch "$out" --evaluator examples/digits_eval.py:test
mkfifo "$aside/trainings"  # closed once they are over; then the watch sees to what is left, and ends
paddock watch "$out" --evaluator examples/digits_eval.py:test --regex-filter '\.npz$' --num-eval-workers 1 \
    --queue "$sweep-evaluation" --plain --quiet --until-eof <"$aside/trainings" >"$aside/watch" 2>&1 &
watch=$!
exec 3>"$aside/trainings"

say paddock submit --queue "$sweep" --project digits --group "$sweep" --grid lr=0.03,0.3,1.0 --grid seed=0..1 --quiet -- \
    python examples/digits.py --lr '{lr}' --seed '{seed}' --hidden 512 --epochs "$epochs" --save-every $((epochs / 6)) \
    --out "$out/lr={lr},seed={seed}"
show "paddock worker $sweep &   # and another one"
paddock worker "$sweep" --no-persist --grace 2s 3>&- &
first=$!
paddock worker "$sweep" --no-persist --grace 2s 3>&- &
second=$!
wait "$first" "$second"
first="" second=""
exec 3>&-
wait "$watch" || { cat "$aside/watch"; exit 1; }
watch=""
say paddock ls "group=$sweep" job_type!=eval
say paddock compare "group=$sweep" job_type!=eval --by lr --metric val/acc --metric eval/test/acc
printf '\nThe runs are plain files in %s. To see them on the board again:\n\n  PADDOCK_HOME=%s %s serve\n' \
    "$PADDOCK_HOME" "$PADDOCK_HOME" "$(command -v paddock)"
