#!/usr/bin/env bash
# `bash .ci/host.d/systemd.sh`, from `.ci/host`: the printed units under a real systemd, which boots in a container of Debian
# packages; a session over their socket, with a credential, confined, logged to the journal.
set -euo pipefail
source .ci/packages.sh
need mmdebstrap mmdebstrap && need systemd-nspawn systemd-container

root=$target/systemd
[ -x "$root/usr/bin/socat" ] || mmdebstrap --quiet --variant=minbase --include=systemd,systemd-sysv,dbus,socat bookworm "$root"
program=/usr/local/bin/mcp-server-suite
units=$root/etc/systemd/system
install -m 755 "$server" "$root$program"
mkdir -p "$root/srv/data" "$root/root" "$units/multi-user.target.wants" "$units/sockets.target.wants"
rm -rf "$root/srv/outcome" "$root/var/log/journal"
echo hello >"$root/srv/data/file"
# Where the service sees nothing but what its unit mounts.
"$server" deploy catalog | install -m 0644 /dev/stdin "$root/root/catalog.toml"
install -d -m 0700 "$root/etc/mcp-server-suite"
install -m 0600 /dev/stdin "$root/etc/mcp-server-suite/sql-dsn" <<<'postgres://reader:hunter2@127.0.0.1:1/none'
for unit in socket service; do
    name=mcp-server-suite.socket
    [ "$unit" = socket ] || name=mcp-server-suite@.service
    env -i MCP_CONFINE=require "MCP_SAFE_DATA_DIR=$root/srv/data" MCP_SQL_DSN=postgres://reader@127.0.0.1:1/none \
        "MCP_CATALOG=$root/root/catalog.toml" MCP_SQL_ADHOC=true \
        "$server" deploy systemd --unit "$unit" | sed "s#$server#$program#; s#$root##g" >"$units/$name"
done
ln -sf ../mcp-server-suite.socket "$units/sockets.target.wants/"
ln -sf ../trial.service "$units/multi-user.target.wants/"
cat >"$units/trial.service" <<END
[Unit]
After=mcp-server-suite.socket
[Service]
Type=oneshot
ExecStart=/bin/sh /srv/trial
END
cat >"$root/srv/trial" <<'END'
exec >/srv/outcome 2>&1
meta='"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}'
call() { echo '{"jsonrpc":"2.0","id":'$1',"method":"tools/call","params":{"name":"'$2'","arguments":'$3,$meta'}}'; }
mkfifo /srv/fifo
socat -t 20 - UNIX-CONNECT:/run/mcp-server-suite.sock </srv/fifo >/srv/answers &
exec 7>/srv/fifo
call 1 sandbox_fs_read '{"relative_path":"file"}' >&7
call 2 system_metrics '{"sample_ms":0}' >&7
call 3 read_only_sql '{"query":"SELECT 1"}' >&7
timeout 20 sh -c 'until [ "$(wc -l </srv/answers)" = 3 ]; do sleep 0.1; done'
for process in $(grep -l '^Name:.mcp-server-suit' /proc/[0-9]*/status | cut -d/ -f3); do
    grep -E '^(Uid|CapEff|NoNewPrivs|Seccomp):' /proc/$process/status
    grep -c hunter2 /proc/$process/environ
done
exec 7>&-
wait
rm /srv/fifo
sort /srv/answers
systemd-run --quiet --wait --unit=complaint --setenv=MCP_LOG_LEVEL=loud --property=StandardOutput=null --property=StandardError=journal /usr/local/bin/mcp-server-suite
journalctl --sync
journalctl -o json --output-fields=PRIORITY,MESSAGE -u 'mcp-server-suite@*' -u complaint --no-pager
systemctl poweroff
END
# nspawn's own filter of system calls knows no Landlock.
timeout 120 systemd-nspawn --quiet --register=no --keep-unit --directory="$root" --boot \
    --system-call-filter='landlock_create_ruleset landlock_add_rule landlock_restrict_self' >"$work/boot" 2>&1 || true

outcome=$root/srv/outcome
expected=('"id":1.*hello' '"id":2.*"isError":false' '"id":3,"error":{"code":-32603' '^NoNewPrivs:.1$' '^Seccomp:.2$' '^CapEff:.0*$'
    '^Uid:.6[0-9][0-9][0-9][0-9]' '^0$' '"MESSAGE":"session.*serves read_only_sql.*list_sites.*"PRIORITY":"6"\|"PRIORITY":"6".*"MESSAGE":"session.*serves read_only_sql.*list_sites'
    '"PRIORITY":"3".*"MCP_LOG_LEVEL: \|"MCP_LOG_LEVEL: .*"PRIORITY":"3"'
    '"PRIORITY":"3".*Connection refused\|Connection refused.*"PRIORITY":"3"')
for line in "${expected[@]}"; do
    grep -q "$line" "$outcome" || { echo "no line like $line:"; cat "$outcome"; tail -n 20 "$work/boot"; exit 1; }
done
