#!/bin/sh
# slurm.sh PYTHON: install Slurm where it is missing, start a cluster of two nodes, run its tests, stop it.
set -eu
python=$1
packages="munge slurmctld slurmd slurm-client slurmdbd mariadb-server"
if [ "${PADDOCK_NO_CLUSTER:-}" = 1 ]; then
  echo "PADDOCK_NO_CLUSTER=1: nothing is tested on Slurm."
  exit 0
fi
refuse() {
  echo "test-slurm: $1 To leave these tests away: PADDOCK_NO_CLUSTER=1 make test-cluster" >&2
  exit 1
}
. tests/cluster/install.sh
[ "$(id -u)" = 0 ] || refuse "a Slurm cluster is installed and started by root (sudo make test-slurm)."
PATH=$PATH:/usr/sbin:/sbin
for program in munged slurmctld slurmd sbatch slurmdbd mariadbd; do
  if ! command -v "$program" > /dev/null; then
    command -v apt-get > /dev/null || refuse "$program is missing, and there is no apt-get here: install $packages."
    echo "test-slurm: installing $packages."
    # shellcheck disable=SC2086
    install $packages || refuse "apt-get could not install $packages."
    break
  fi
done
directory=$(mktemp -d "${TMPDIR:-/tmp}/paddock-slurm.XXXXXX")
stop() {
  "$python" -m tests.cluster.slurm stop "$directory"
  rm -rf "$directory"
}
trap stop EXIT
trap 'exit 130' INT TERM
conf=$("$python" -m tests.cluster.slurm start "$directory")
PADDOCK_TEST_SLURM=$conf PADDOCK_TEST_BACKENDS=slurm \
  "$python" -m pytest -p no:xdist tests/cluster/test_slurm.py tests/cluster/test_slurm_faults.py tests/conformance ${PYTEST_ARGS:-}
