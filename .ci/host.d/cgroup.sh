#!/usr/bin/env bash
# `bash .ci/host.d/cgroup.sh STATIC_SERVER`, from `.ci/host`: `system_metrics` under a memory limit and a CPU quota of control
# groups version 2, swap off, its disk a tmpfs, beside what the kernel and `df` tell. In a virtual machine: the host's own
# groups may be of version 1, and are not ours to change.
set -euo pipefail
source .ci/packages.sh
need qemu-system-x86_64 qemu-system-x86
need python3 python3
need cpio cpio

root=$work/vm
mkdir -p "$root"/{bin,proc,sys,dev,data}
# Unpacked and not installed: the host keeps the kernel it has.
as_root apt-get update -qq
kernel=$(apt-cache depends linux-image-cloud-amd64 | sed -n 's/^ *Depends: //p' | head -n 1)
(cd "$work" && apt-get -qq download "$kernel" busybox-static && for package in "$kernel" busybox-static; do
    dpkg -x "$package"_*.deb "$work/packages"
done)
cp "$work/packages/bin/busybox" "$root/bin/"
cp "$1" "$root/server"
cat >"$root/init" <<'END'
#!/bin/busybox sh
/bin/busybox --install -s /bin
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t devtmpfs dev /dev
mount -t tmpfs -o size=100m data /data
mount -t cgroup2 none /sys/fs/cgroup
echo '+memory +cpu +pids' >/sys/fs/cgroup/cgroup.subtree_control
group=/sys/fs/cgroup/mcp
mkdir $group
echo 200M >$group/memory.max
echo '150000 100000' >$group/cpu.max
echo 50 >$group/pids.max
# Charged to the group, and space that df sees.
sh -c 'echo $$ >/sys/fs/cgroup/mcp/cgroup.procs; exec dd if=/dev/zero of=/data/fill bs=1M count=60' 2>/dev/null
mkfifo /in
sh -c 'echo $$ >/sys/fs/cgroup/mcp/cgroup.procs; MCP_METRICS_DISK_PATH=/data exec /server' </in >/out 2>/log &
exec 7>/in
echo '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"system_metrics","arguments":{"sample_ms":100},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}' >&7
while [ ! -s /out ]; do usleep 10000; done
echo "<$(cat /out)"
for name in memory.max memory.current cpu.max pids.max pids.current; do echo "<$name $(cat $group/$name)"; done
sed 's/^/</; s/ kB//; s/://' /proc/meminfo
df -k /data | awk 'NR == 2 {print "<df", $2, $4, $3}'
echo "<cores $(grep -c ^processor /proc/cpuinfo)"
echo "<uptime $(cut -d. -f1 /proc/uptime)"
exec 7>&-
wait
echo "<exit $?"
sed 's/^/log: /' /log
poweroff -f
END
chmod 755 "$root/init"
(cd "$root" && find . | cpio --quiet -o -H newc | gzip -1) >"$work/initrd"
timeout 240 qemu-system-x86_64 -smp 2 -m 512 -nographic -no-reboot -nic none -kernel "$work"/packages/boot/vmlinuz-* -initrd "$work/initrd" \
    -append 'console=ttyS0 quiet panic=-1' </dev/null >"$work/console" || true

python3 - "$work/console" <<'END'
import json, sys
console = open(sys.argv[1], errors="replace").read()
# The firmware may have cleared the screen in the same line.
lines = [line.partition("<")[2].strip() for line in console.splitlines() if "<" in line]
if not lines or not lines[0].startswith("{"):
    sys.exit("the machine did not answer:\n" + console[-3000:])
told = json.loads(lines[0])["result"]["structuredContent"]
fact = {name: [int(word) if word.isdigit() else word for word in words] for name, *words in (line.split() for line in lines[1:])}
size, available, used = (1024 * number for number in fact["df"])
memory, total = 200 << 20, 1024 * fact["MemTotal"][0]
cgroup, percent = told["cgroup"], lambda part, whole: 100 * part / whole
rows = [  # what, told, expected, the whole of which two hundredths are allowed
    ("memory limit", cgroup["memory_max_bytes"], memory, 0),
    ("memory of the group", cgroup["memory_current_bytes"], fact["memory.current"][0], fact["memory.current"][0]),
    ("its share", cgroup["memory_used_percent"], percent(fact["memory.current"][0], memory), 100),
    ("CPU quota", cgroup["cpu_max"], 1.5, 0),
    ("limit of processes", cgroup["pids_max"], 50, 0),
    ("processes", cgroup["pids_current"], fact["pids.current"][0], 0),
    ("memory", told["memory"]["total_bytes"], total, 0),
    ("memory available", told["memory"]["available_bytes"], 1024 * fact["MemAvailable"][0], total),
    ("swap", told["swap"], {"total_bytes": 0, "used_bytes": 0, "used_percent": 0.0}, None),
    ("swap of the kernel", fact["SwapTotal"][0], 0, 0),
    ("disk", told["disk"]["total_bytes"], size, 0),
    ("disk available", told["disk"]["available_bytes"], available, size),
    ("disk used", told["disk"]["used_percent"], percent(used, used + available), 100),
    ("processors", told["cpu"]["logical_count"], fact["cores"][0], 0),
    ("uptime", told["uptime_seconds"], fact["uptime"][0], 100),
    ("exit", fact["exit"][0], 0, 0),
]
wrong = [row for row in rows if row[1] != row[2] and not (row[3] and abs(row[1] - row[2]) <= 0.02 * row[3])]
if wrong or fact["memory.current"][0] < 60 << 20:
    sys.exit(f"{wrong}\n{console[-3000:]}")
print(f"{len(rows)} numbers agree")
END
