# Shared by the scripts: what is missing, and how to get it. Sourced, not run.

# Debian/Ubuntu packages that the program needs to build, and what the tests use besides.
build_packages="gcc libc6-dev cmake ninja-build pkg-config git ca-certificates python3
libgit2-dev libyaml-dev libcjson-dev zlib1g-dev libpcre2-dev libisal-dev libzstd-dev libsqlite3-dev libxxhash-dev libmd-dev
libcmocka-dev"
test_packages="python3-jsonschema python3-junitparser python3-numpy python3-yaml libxml2-utils cmark-gfm
librsvg2-bin chromium openssl jq zstd gzip nodejs npm gcc-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user-static
valgrind openmpi-bin libopenmpi-dev munge slurm-client slurmctld slurmd
python3-venv python3-pandas python3-pytest python3-pytest-xdist python3-pytest-rerunfailures python3-distributed mypy flake8"

say() { printf '%s\n' "$*" >&2; }

# have PACKAGE: is it installed?
have() { dpkg-query -W -f '${Status}' "$1" 2>/dev/null | grep -q 'ok installed'; }

# What scripts/release needs besides, and its tests.
release_packages="make nasm curl xz-utils dpkg-dev binutils gcc-aarch64-linux-gnu qemu-user-static"
test_packages="$test_packages curl make"

as_root() {
    if [ "$(id -u)" = 0 ]; then "$@"
    elif command -v sudo >/dev/null 2>&1; then sudo "$@"
    else say "error: '$*' needs root, and there is no sudo"; return 1; fi
}

# provides PACKAGE: is its tool there already, whoever installed it? (nodejs from another source)
provides() {
    case "$1" in
    nodejs) command -v node >/dev/null 2>&1 ;;
    npm | gcc | cmake | git | python3 | chromium | zstd | gzip | curl | make) command -v "$1" >/dev/null 2>&1 ;;
    *) return 1 ;;
    esac
}

# install_missing PACKAGE…: says what it installs; no-op when nothing is missing.
install_missing() {
    local missing="" p
    for p in "$@"; do have "$p" || provides "$p" || missing="$missing $p"; done
    [ -n "$missing" ] || return 0
    command -v apt-get >/dev/null 2>&1 || {
        say "error: missing packages:$missing"
        say "  Install them with your package manager; only Debian and Ubuntu are automatic."
        return 1
    }
    say "installing:$missing"
    as_root apt-get update -qq >&2 || return 1
    # shellcheck disable=SC2086
    DEBIAN_FRONTEND=noninteractive as_root apt-get install -y -qq --no-install-recommends \
        $missing >/dev/null || { say "error: apt-get could not install:$missing"; return 1; }
}

# build DIR CMAKE-OPTION…: configures and compiles.
build() {
    local dir="$1"
    shift
    cmake -S "$top" -B "$dir" -G Ninja "$@" >"$dir.log" 2>&1 ||
        { cat "$dir.log" >&2; return 1; }
    cmake --build "$dir" >>"$dir.log" 2>&1 || { tail -n 60 "$dir.log" >&2; return 1; }
}

# output NAME VALUE: a step output. Several lines need a delimiter that the value cannot hold.
output() {
    local end
    if [[ $2 == *[$'\r\n']* ]]; then
        end=tracegate_$(od -An -N16 -tx1 /dev/urandom | tr -d ' \n')
        printf '%s<<%s\n%s\n%s\n' "$1" "$end" "$2" "$end" >>"$GITHUB_OUTPUT"
    else
        printf '%s=%s\n' "$1" "$2" >>"$GITHUB_OUTPUT"
    fi
}
