# Sourced by `.ci/host`: what `deploy` prints, judged and run by the programs it is for.

units_are_accepted_and_hardened() {
    local directory=$work/units exposure
    mkdir -p "$directory"
    "$server" deploy systemd --unit socket >"$directory/mcp-server-suite.socket"
    "$server" deploy systemd --unit service >"$directory/mcp-server-suite@.service"
    # A warning is a failure, too.
    [ -z "$(systemd-analyze verify "$directory"/* 2>&1 | tee /dev/stderr)" ] &&
        systemd-analyze security --offline=true --threshold=15 --no-pager "$directory/mcp-server-suite@.service" >"$work/security" &&
        tail -n 1 "$work/security"
}

# same_sessions ADDRESS LAUNCHER…: sessions over a connection say the same as over pipes, so not one byte of the log.
same_sessions() {
    local address=$1 lines launcher status=0
    shift
    "$@" >"$work/launcher" 2>&1 &
    launcher=$!
    for lines in "$legacy" "$modern"; do
        printf '%s\n' "$lines" | socat -t 20 - "$address,retry=100,interval=0.1" >"$work/by-socket" &&
            printf '%s\n' "$lines" | env -i "$server" >"$work/by-pipes" 2>/dev/null &&
            [ "$(wc -l <"$work/by-pipes")" = 2 ] && diff "$work/by-pipes" "$work/by-socket" || status=1
    done
    kill "$launcher"
    wait "$launcher" || true
    [ "$status" = 0 ] || cat "$work/launcher"
    return "$status"
}
export -f units_are_accepted_and_hardened same_sessions

if output=$(need systemd-analyze systemd 2>&1); then
    check 'systemd units without a database' \
        env -i work="$work" server="$server" PATH="$PATH" bash -c "$(declare -f units_are_accepted_and_hardened); units_are_accepted_and_hardened"
    mkdir -p "$work/odd \"100%\" \$name"
    "$server" deploy catalog >"$work/catalog.toml"
    check 'systemd units with everything' \
        env -i work="$work" server="$server" PATH="$PATH" MCP_SAFE_DATA_DIR=/etc MCP_MAX_CONCURRENCY=4 \
        MCP_CATALOG="$work/catalog.toml" MCP_LOG_FILE="$work/log" \
        "MCP_SQL_DSN=postgres://reader@db.example.org,%2Ftmp%2Fsockets/app?sslmode=verify-full&sslrootcert=$PWD/tests/it/tls/ca.pem" \
        MCP_METRICS_DISK_PATH="$work/odd \"100%\" \$name" \
        bash -c "$(declare -f units_are_accepted_and_hardened); units_are_accepted_and_hardened"
else
    not_passed 'systemd-analyze could not be installed' "$output"
fi

env -i MCP_METRICS_ENABLED=true "$server" deploy inetd --user "$(id -un)" --socket "$work/inetd.sock" >"$work/inetd"
grep ' stream unix ' "$work/inetd" >"$work/inetd.conf"
sed -n '/^service/,/^}/p' "$work/inetd" >"$work/xinetd.conf"
if output=$(need socat socat 2>&1 && PATH=$PATH:/usr/sbin need inetd openbsd-inetd 2>&1); then
    check 'a socket from openbsd-inetd' bash -c 'same_sessions "$@"' - "UNIX-CONNECT:$work/inetd.sock" \
        /usr/sbin/inetd -i "$work/inetd.conf"
else
    not_passed 'openbsd-inetd could not be installed' "$output"
fi
# Debian lets only one super-server be installed, so this one is unpacked.
if output=$(cd "$work" && apt-get -qq download xinetd 2>&1 && dpkg -x xinetd_*.deb "$work/xinetd"); then
    check 'a port from xinetd' bash -c 'same_sessions "$@"' - TCP:127.0.0.1:7333 \
        "$work/xinetd/usr/sbin/xinetd" -dontfork -f "$work/xinetd.conf"
else
    not_passed 'xinetd could not be unpacked' "$output"
fi

export target
if output=$(bash .ci/host.d/container.sh image_is_built 2>&1); then
    check 'its program is static and stripped' bash .ci/host.d/container.sh binary_is_static
    check 'the image holds a program and certificates' bash .ci/host.d/container.sh image_is_bare
    check 'a catalog in the hardened container' bash .ci/host.d/container.sh container_reads_a_catalog
    check 'a session in the hardened container' bash .ci/host.d/container.sh container_speaks
    check 'system_metrics in the hardened container' bash .ci/host.d/container.sh container_is_measured
    check 'licences in the hardened container' bash .ci/host.d/container.sh container_prints_licences
    check 'it writes nowhere and stops cleanly' bash .ci/host.d/container.sh container_writes_nowhere_and_stops_cleanly
else
    not_passed 'the image could not be built' "$output"
fi
if output=$(bash .ci/host.d/systemd.sh 2>&1); then
    passed=$((passed + 1))
    echo 'ok      a session under a real systemd'
else
    not_passed 'a session under a real systemd' "$output"
fi

# --- What needs a kernel in a certain state -------------------------------------------------------------------------

if output=$(need python3 python3 2>&1); then
    check 'a session on a file system that hangs' python3 .ci/host.d/dead_fs.py "$server"
else
    not_passed 'python3 could not be installed' "$output"
fi
if [ -x "$work/static-server" ]; then
    check 'system_metrics in a control group with limits' bash .ci/host.d/cgroup.sh "$work/static-server"
else
    not_passed 'system_metrics in a control group with limits' 'there is no static binary to boot'
fi
