# install PACKAGE...: from Debian, as root. To be read by the scripts beside it. False, and apt's last words, when it fails.
install() {
    log=$(mktemp)
    for try in 1 2 3 4 5 6; do # somebody else may be installing something
        if { apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@"; } \
            </dev/null >"$log" 2>&1; then
            rm -f "$log"
            return 0
        fi
        [ "$try" = 6 ] || sleep 10
    done
    tail -n 5 "$log" >&2
    rm -f "$log"
    return 1
}
