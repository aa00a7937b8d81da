#!/usr/bin/env bash
# An image with this checkout's Paddock in it, for real pods: image.sh PYTHON IMAGE.tar
# No registry is asked for one: a small Debian is made once and kept outside the checkout, and what is here now is
# installed above it, as a layer of its own.
set -euo pipefail
python="$(realpath -s "$1")"
image="$(realpath "$2")"
cd "$(dirname "$0")/../.."

home="${HOME:-$(getent passwd "$(id -u)" | cut -d: -f6)}"
cache="${XDG_CACHE_HOME:-$home/.cache}/paddock-cluster/image"
mkdir -p "$cache"
(
    flock 9
    if [ ! -e "$cache/base.tar" ]; then
        rm -rf "$cache/root"
        debootstrap --variant=minbase --include=python3,python3-venv bookworm "$cache/root" >"$cache/debootstrap.log"
        rm -rf "$cache/root"/var/cache/apt/* "$cache/root"/var/lib/apt/lists/*
        tar -C "$cache/root" -cf "$cache/.base.tar" --numeric-owner --exclude=./dev/* .
        mv "$cache/.base.tar" "$cache/base.tar"
    fi
) 9>"$cache/lock"

work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/wheels" "$work/layer/opt" "$work/layer/usr/local/bin"
pip() { "$python" -m pip --quiet --disable-pip-version-check "$@" 2>"$work/pip.log" || { tail -n 5 "$work/pip.log" >&2; exit 1; }; }
pip wheel --no-deps --wheel-dir "$work/wheels" .
# For the Python of that Debian, which need not be this one's, and is so old that redis wants async-timeout there.
pip download --only-binary=:all: --python-version 3.11 --dest "$work/wheels" -c constraints.txt \
    "$(echo "$work"/wheels/*.whl)[redis]" async-timeout
# In a namespace of its own, so that nothing stays mounted whatever happens.
unshare --mount sh -ec '
    mount --bind "$1/layer/opt" "$2/opt"
    mount --bind "$1/wheels" "$2/mnt"
    chroot "$2" /usr/bin/env -i PATH=/usr/bin:/bin sh -ec "
        python3 -m venv /opt/paddock
        /opt/paddock/bin/pip install --quiet --disable-pip-version-check --no-index --find-links /mnt paddock[redis]
    "
' sh "$work" "$cache/root"
ln -s /opt/paddock/bin/paddock "$work/layer/usr/local/bin/paddock"
tar -C "$work/layer" -cf "$work/paddock.tar" --numeric-owner --owner=0 --group=0 .
"$python" -m tests.cluster.image "$image" "$cache/base.tar" "$work/paddock.tar"
