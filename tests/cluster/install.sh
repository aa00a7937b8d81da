# install PACKAGE...: from Debian, as root. To be read by the scripts beside it. False, and apt's last words, when it fails.
# What an earlier attempt left half done is finished first. Of the machine's sources one that is away is no failure:
# whether the packages can be had decides.
install() {
    log=$(mktemp)
    for try in 1 2 3 4 5 6; do # somebody else may be installing something
        if {
            DEBIAN_FRONTEND=noninteractive dpkg --configure -a
            apt-get update -qq -o Acquire::Retries=3
            DEBIAN_FRONTEND=noninteractive apt-get install -y -qq -o Acquire::Retries=3 -o DPkg::Lock::Timeout=60 \
                --no-install-recommends "$@"
        } </dev/null >"$log" 2>&1; then
            rm -f "$log"
            return 0
        fi
        [ "$try" = 6 ] || sleep 10
    done
    tail -n 5 "$log" >&2
    rm -f "$log"
    return 1
}
