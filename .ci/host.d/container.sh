#!/usr/bin/env bash
# `bash .ci/host.d/container.sh CHECK`, from `.ci/host`: the Containerfile built, its image looked at and run hardened. No
# registry is asked: the base of the first stage is made of Debian packages, and Rust is the one that built everything else.
set -euo pipefail
source .ci/packages.sh

container_cache=$target/container
mkdir -p "$container_cache"
buildah() { command buildah --root "$container_cache/root" --runroot "$container_cache/run" "$@"; }
podman() { command podman --root "$container_cache/root" --runroot "$container_cache/run" --cgroup-manager cgroupfs --runtime runc "$@"; }
image=localhost/mcp-server-suite
# What `deploy compose` asks for.
hardened=(--interactive --read-only --read-only-tmpfs=false --cap-drop all --security-opt no-new-privileges --network none --ipc none
    --tmpfs /tmp:size=16m,mode=1777,noexec,nosuid,nodev
    --ulimit nofile=1024:1024 --ulimit nproc=256:256 --ulimit core=0:0 --pids-limit 128 --memory 512m)

build_base() {
    [ -z "$(buildah images --quiet --filter reference=localhost/mcp-build)" ] || return 0
    local container
    mmdebstrap --quiet --variant=minbase --include=ca-certificates,gcc,libc6-dev bookworm "$work/base.tar" &&
        container=$(buildah from scratch) &&
        buildah add --quiet "$container" "$work/base.tar" / &&
        buildah config --env CARGO_NET_OFFLINE=true --env "CARGO_HOME=$cargo_home" --env "RUSTUP_HOME=$rustup_home" \
            --env "PATH=$cargo_home/bin:/usr/bin:/bin" "$container" &&
        buildah commit --quiet --rm "$container" localhost/mcp-build
}

image_is_built() {
    need buildah buildah && need podman podman && need runc runc && need mmdebstrap mmdebstrap
    local cargo_home=${CARGO_HOME:-$HOME/.cargo} rustup_home=${RUSTUP_HOME:-$HOME/.rustup}
    mkdir -p "$container_cache/target"
    build_base && cargo fetch --locked --quiet &&
        buildah build --isolation chroot --quiet --build-arg BUILD_IMAGE=localhost/mcp-build --tag "$image" \
            --volume "$cargo_home:$cargo_home:ro" --volume "$rustup_home:$rustup_home:ro" \
            --volume "$container_cache/target:/target" --file Containerfile .
}

# What the image was made of, left where the host can use it.
binary_is_static() {
    local binary=$container_cache/target/$(rustc -vV | sed -n 's/^host: //p')/release/mcp-server-suite
    ! readelf --program-headers --dynamic --wide "$binary" | grep -E 'INTERP|NEEDED' &&
        [ -z "$(readelf --symbols "$binary" 2>/dev/null | grep FUNC)" ] && cp "$binary" "$work/static-server" &&
        printf '%s\n' "$legacy" | env -i "$binary" 2>/dev/null >"$work/by-static" &&
        printf '%s\n' "$legacy" | env -i "$server" 2>/dev/null | diff - "$work/by-static" &&
        echo "$(($(stat --format %s "$binary") / 1024)) KiB"
}

image_is_bare() {
    local container root files status=0
    container=$(buildah from --pull-never "$image") && root=$(buildah mount "$container") || return
    files=$(cd "$root" && find . -type f -o -type l | sort)
    [ "$files" = $'./etc/ssl/certs/ca-certificates.crt\n./mcp-server-suite' ] || { echo "files: $files"; status=1; }
    [ -z "$(find "$root" -perm /6000)" ] || { echo 'a set-user-ID file'; status=1; }
    [ -z "$(find "$root" -type f -perm /222 ! -name '*.crt')" ] || { echo 'a writable program'; status=1; }
    buildah rm "$container" >/dev/null
    [ "$(podman inspect --format '{{.User}} {{.Config.StopSignal}} {{index .Labels "org.opencontainers.image.licenses"}}' "$image")" = \
        '10001:10001 SIGTERM MIT' ] || { podman inspect "$image"; status=1; }
    return "$status"
}

container_speaks() {
    local lines
    for lines in "$legacy" "$modern"; do
        printf '%s\n' "$lines" | podman run --rm "${hardened[@]}" "$image" >"$work/by-container" 2>"$work/container-log" &&
            printf '%s\n' "$lines" | env -i "$server" >"$work/by-pipes" 2>/dev/null &&
            [ "$(wc -l <"$work/by-pipes")" = 2 ] && diff "$work/by-pipes" "$work/by-container" || { cat "$work/container-log"; return 1; }
    done
}

# Who is given the image is given the licences of what is in it.
container_prints_licences() {
    podman run --rm "${hardened[@]}" "$image" manual licences >"$work/by-container" 2>&1 &&
        grep -c '^| `' "$work/by-container" || { cat "$work/by-container"; return 1; }
}

# What the printed compose file mounts and sets, given to podman.
container_reads_a_catalog() {
    local compose mounts variables
    install -m 0644 /dev/stdin "$work/assets.toml" < <("$server" deploy catalog)
    chmod a+x "$work"
    compose=$(MCP_CATALOG="$work/assets.toml" "$server" deploy compose)
    mapfile -t mounts < <(sed -n 's/^ *- {type: bind, source: "\(.*\)", target: "\(.*\)", read_only: true}$/--mount=type=bind,source=\1,target=\2,readonly/p' <<<"$compose")
    mapfile -t variables < <(sed -n 's/^ *\(MCP_[A-Z_]*\): "\(.*\)"$/--env=\1=\2/p' <<<"$compose")
    podman run --rm "${hardened[@]}" "${mounts[@]}" "${variables[@]}" "$image" check >"$work/by-container" 2>&1 || true
    grep '^ok    catalog: 7 entries' "$work/by-container" || { echo "$compose"; cat "$work/by-container"; return 1; }
}

container_is_measured() {
    local call='{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"system_metrics","arguments":{},'$meta'}}' told
    told=$(printf '%s\n' "$call" | podman run --rm "${hardened[@]}" "$image" 2>"$work/container-log") || { cat "$work/container-log"; return 1; }
    # The first total is that of the memory.
    [ "$(grep -o '"total_bytes":[0-9]*' <<<"$told" | head -n 1)" = "\"total_bytes\":$(($(sed -n 's/^MemTotal: *\([0-9]*\) kB/\1/p' /proc/meminfo) * 1024))" ] &&
        grep -q '"isError":false' <<<"$told" || { echo "$told"; return 1; }
}

container_writes_nowhere_and_stops_cleanly() {
    local name=mcp-it-$$ pid writable status=0
    mkfifo "$work/stdin"
    podman run --name "$name" "${hardened[@]}" "$image" <"$work/stdin" >"$work/by-container" 2>"$work/container-log" &
    exec 7>"$work/stdin"
    printf '%s\n' "$legacy" >&7
    timeout 30 sh -c 'until grep -q "\"id\":2" "$0"; do sleep 0.1; done' "$work/by-container" || status=1
    pid=$(podman inspect --format '{{.State.Pid}}' "$name")
    # What an account like this one could change; the kernel's own file systems aside.
    writable=$(cd "/proc/$pid/root" && find . \( -path ./proc -o -path ./sys -o -path ./dev/mqueue \) -prune -o \( -type d -o -type f \) \( -perm -0002 -o -user 10001 -o -group 10001 \) -print)
    [ "$writable" = ./tmp ] || { echo "writable: $writable"; status=1; }
    grep -q ' / / ro,' "/proc/$pid/mountinfo" || { cat "/proc/$pid/mountinfo"; status=1; }
    grep -qP '^Uid:\t10001\t10001' "/proc/$pid/status" && grep -qP '^CapEff:\t0+$' "/proc/$pid/status" &&
        grep -qP '^NoNewPrivs:\t1' "/proc/$pid/status" || { cat "/proc/$pid/status"; status=1; }
    podman stop --time 10 "$name" >/dev/null
    [ "$(podman inspect --format '{{.State.ExitCode}}' "$name")" = 0 ] || { cat "$work/container-log"; status=1; }
    exec 7>&-
    podman rm --force "$name" >/dev/null
    return "$status"
}

"$@"
