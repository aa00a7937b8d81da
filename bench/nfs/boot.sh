#!/bin/sh
# sh bench/nfs/boot.sh PYTHON [TASKS]: the queue on a real NFS 4.2, in a user-mode kernel whose root is this machine's,
# read-only. Needs root, and from the distribution: user-mode-linux nfs-kernel-server kmod e2fsprogs.
set -eu
python=$1
tasks=${2:-20}
here=$(cd "$(dirname "$0")" && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
truncate -s 300M "$scratch/disk"
mkfs.ext4 -q "$scratch/disk"
# What the kernel does not know goes into the environment of its first process.
timeout 900 linux.uml mem=800M ubda="$scratch/disk" root=none rootfstype=hostfs rootflags=/ ro init="$here/guest.sh" \
    BENCH_PYTHON="$python" BENCH_TASKS="$tasks" BENCH_REPOSITORY="$(dirname "$(dirname "$here")")" \
    con0=fd:0,fd:1 con=null </dev/null >"$scratch/console" 2>&1 || true
tr -d '\r' <"$scratch/console" | sed -n 's/^nfs: //p' >"$scratch/said"
if [ -s "$scratch/said" ]; then cat "$scratch/said"; ! grep -q FAIL "$scratch/said"; else tail -30 "$scratch/console"; exit 1; fi
