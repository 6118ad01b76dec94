# Sourced by the scripts beside it. Sourcing installs nothing.

as_root() {
    if [ "$(id -u)" = 0 ]; then "$@"; else sudo -n "$@"; fi
}

# Installs a Debian package.
install_package() {
    echo "installing $1"
    as_root apt-get update -qq &&
        as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$1" >/dev/null
}

# need COMMAND PACKAGE: makes sure that the program is there; a function of this name is none.
need() {
    type -P "$1" >/dev/null || { install_package "$2" && type -P "$1" >/dev/null; }
}

# PostgreSQL's server programs, where the tests look for them: in PATH, then where Debian puts them.
find_initdb() {
    command -v initdb || compgen -G '/usr/lib/postgresql/*/bin/initdb'
}
