#!/usr/bin/env bash
# The programs of a Kubernetes control plane, built once from Debian's source package and kept outside the checkout.
# Sources, the compiler and the packages' lists lie in the cache; only make, rsync and dpkg-dev are installed, where they
# are missing. About ten minutes on two cores and 2.2 GB, which are given back at the end; the three programs (350 MB) stay.
#   kubernetes_build.sh            build what is missing, print the directory of the programs
#   kubernetes_build.sh kubelet    and these besides: real pods want a kubelet
set -euo pipefail

home="${HOME:-$(getent passwd "$(id -u)" | cut -d: -f6)}"
cache="${XDG_CACHE_HOME:-$home/.cache}/paddock-cluster"
bin="$cache/kubernetes/bin"
programs="kube-apiserver kube-controller-manager kube-scheduler $*"

look() { # which programs are missing
    missing=""
    for program in $programs; do
        [ -x "$bin/$program" ] || missing="$missing $program"
    done
}
look
if [ -z "$missing" ]; then
    echo "$bin"
    exit 0
fi

packages=""
for pair in apt-get:apt dpkg-source:dpkg-dev make:make rsync:rsync; do
    command -v "${pair%%:*}" >/dev/null || packages="$packages ${pair##*:}"
done
if [ -n "$packages" ] && [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
    . "$(dirname "$0")/install.sh"
    # shellcheck disable=SC2086
    install $packages || exit 75
elif [ -n "$packages" ]; then
    echo "kubernetes_build.sh: the control plane is built from Debian's source package, and$packages is missing." >&2
    echo "  On another system put $programs (1.20 or later) into $bin." >&2
    exit 75
fi

mkdir -p "$bin"
exec 9>"$cache/kubernetes/lock"
flock 9
look
if [ -z "$missing" ]; then
    echo "$bin" # somebody else has built them meanwhile
    exit 0
fi
work="$cache/kubernetes/build"
rm -rf "$work"
mkdir -p "$work/lists/partial" "$work/archives/partial" "$work/parts"

# The machine's own sources, asked for source packages too.
for file in /etc/apt/sources.list.d/*.sources; do
    [ -e "$file" ] || continue
    grep -q '^Suites:.*\(bookworm\|bullseye\)' "$file" || continue
    sed 's/^Types:.*/Types: deb deb-src/' "$file" >"$work/parts/$(basename "$file")"
done
for file in /etc/apt/sources.list /etc/apt/sources.list.d/*.list; do
    [ -e "$file" ] || continue
    grep -E '^deb .*(bookworm|bullseye)' "$file" >"$work/parts/$(basename "$file" .list).list" || true
    grep -E '^deb .*(bookworm|bullseye)' "$file" | sed 's/^deb /deb-src /' >>"$work/parts/$(basename "$file" .list).list" || true
done
apt() {
    apt-get -q -o Acquire::Retries=5 -o Dir::Etc::SourceList=/dev/null -o Dir::Etc::SourceParts="$work/parts" \
        -o Dir::State::Lists="$work/lists" -o Dir::Cache::Archives="$work/archives" \
        -o Dir::Cache::pkgcache= -o Dir::Cache::srcpkgcache= -o APT::Sandbox::User= "$@"
}

cd "$work"
apt update >&2
apt download golang-1.19-go golang-1.19-src >&2
for package in golang-1.19-*.deb; do
    dpkg-deb -x "$package" "$work/root"
done
# Debian's compiler finds its parts by links from /usr/lib to /usr/share: here they lie side by side.
goroot="$work/root/usr/lib/go-1.19"
for link in api misc src test; do
    rm -rf "$goroot/$link"
    [ ! -e "$work/root/usr/share/go-1.19/$link" ] || ln -s "$work/root/usr/share/go-1.19/$link" "$goroot/$link"
done
apt source --only-source kubernetes >&2

tree="$(find "$work" -maxdepth 1 -type d -name 'kubernetes-*' | head -1)"
mkdir -p "$work/go/src/k8s.io"
ln -s "$tree" "$work/go/src/k8s.io/kubernetes"
cd "$work/go/src/k8s.io/kubernetes"
export GOROOT="$goroot" GOPATH="$work/go" GOCACHE="$work/gocache" PATH="$goroot/bin:$PATH"
# Without what talks to clouds and to Docker, which is more than a third of it.
export GOPROXY=off GOFLAGS="-mod=vendor -tags=providerless,dockerless" GO111MODULE=auto CGO_ENABLED=0
version="$(basename "$tree" | sed 's/^kubernetes-//')"
export KUBE_GIT_VERSION="v$version" KUBE_GIT_MAJOR="${version%%.*}" KUBE_GIT_MINOR="$(echo "$version" | cut -d. -f2)"
export KUBE_GIT_COMMIT=debian KUBE_GIT_TREE_STATE=archive
what=""
for program in $missing; do what="$what cmd/$program"; done
make WHAT="$what" GOFLAGS="$GOFLAGS" >&2
for program in $missing; do
    cp "$(find _output -type f -name "$program" | head -1)" "$bin/.$program"
    mv "$bin/.$program" "$bin/$program"
done
cd "$cache"
chmod -R u+w "$work"
rm -rf "$work"
echo "$bin"
