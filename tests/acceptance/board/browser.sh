#!/bin/sh
# The browser that the board is tested in: Debian's Chromium. `make test` calls this before the tests.
if [ "${PADDOCK_NO_BROWSER:-}" = 1 ]; then
    echo "PADDOCK_NO_BROWSER=1: the board is not tested in a browser."
    exit 0
fi
is_there() {
    for name in chromium chromium-browser google-chrome; do
        command -v "$name" >/dev/null && return 0
    done
    return 1
}
can_be_driven() { # the Node in Playwright's package wants it, and a bare Debian has it not
    PATH="$PATH:/sbin:/usr/sbin"
    ! command -v ldconfig >/dev/null || ldconfig -p | grep -q 'libatomic\.so\.1'
}
is_there && can_be_driven && exit 0
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
    echo "Chromium is installed, to test the board in."
    export DEBIAN_FRONTEND=noninteractive
    log=$(mktemp)
    for try in 1 2 3 4 5 6; do # somebody else may be installing something
        { apt-get update -qq && apt-get install -y -qq --no-install-recommends chromium libatomic1; } >"$log" 2>&1
        is_there && can_be_driven && rm -f "$log" && exit 0
        [ "$try" = 6 ] || sleep 10
    done
    tail -n 3 "$log" >&2
    rm -f "$log"
fi
echo "The board is tested in a real browser, and there is no Chromium here, or no libatomic, which driving it needs." >&2
echo "Install them (as root: apt-get install chromium libatomic1), or leave these tests away: PADDOCK_NO_BROWSER=1 make test" >&2
exit 1
