# Sourced by the scripts beside it.

# need COMMAND PACKAGE: makes sure that the command is there, from Debian's package when it is not.
need() {
    command -v "$1" >/dev/null && return
    echo "installing $2 for $1"
    local as_root=()
    [ "$(id -u)" = 0 ] || as_root=(sudo -n)
    "${as_root[@]}" apt-get update -qq &&
        "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$2" >/dev/null &&
        command -v "$1" >/dev/null
}
