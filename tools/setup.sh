#!/usr/bin/env bash
# Brings a fresh Debian machine to where the make targets work; does nothing, quickly, when all is there.
#   tools/setup.sh            Python packages in .venv
#   tools/setup.sh system     the Debian packages that nodes and tests need, then the same
#   tools/setup.sh test       the same with the browser that tests drive and the base image of environments
#   tools/setup.sh interop    the same with the clients and the virtual machine of `make interop`
#   tools/setup.sh bench      the same with what the benchmarks measure with and are compared with
set -euo pipefail
cd "$(dirname "$0")/.."
. tools/owner.sh
PATH="$PATH:/usr/local/sbin:/usr/sbin:/sbin" # where ip and nft live; an ordinary user's PATH often lacks it

say() { printf 'setup: %s\n' "$*" >&2; }
fail() {
    say "$1"
    say "next step: $2"
    exit 1
}

usable_python() { # the first Python that is new enough and can make a virtual environment
    local name
    for name in python3 python3.13 python3.12 python3.11; do
        if "$name" -c 'import ensurepip, sys, venv; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
            command -v "$name"
            return
        fi
    done
    return 1
}

missing_packages() { # $1: system, test, interop, bench or nothing; prints the Debian packages that are not there
    usable_python >/dev/null || [[ -x .venv/bin/python ]] || printf 'python3 python3-venv '
    [[ -n $1 ]] || return 0
    local probe probes=(ip:iproute2 nft:nftables ps:procps rsync:rsync ssh:openssh-client unshare:util-linux)
    probes+=(runc:runc conmon:conmon mmdebstrap:mmdebstrap lxcfs:lxcfs bindfs:bindfs) # environments of the oci engine, their image and volumes
    if [[ $1 == test || $1 == bench ]]; then probes+=(chromium-headless-shell:chromium-headless-shell faketime:faketime); fi
    if [[ $1 == interop ]]; then
        probes+=(qemu-system-x86_64:qemu-system-x86 sshfs:sshfs mosh:mosh git:git curl:curl busybox:busybox-static)
    fi
    if [[ $1 == bench ]]; then probes+=(wrk:wrk perl:perl munged:munge slurmctld:slurmctld slurmd:slurmd salloc:slurm-client); fi
    for probe in "${probes[@]}"; do
        command -v "${probe%%:*}" >/dev/null || printf '%s ' "${probe##*:}"
    done
    [[ -x /usr/lib/openssh/sftp-server ]] || printf 'openssh-sftp-server '
    [[ -e /usr/share/keyrings/debian-archive-keyring.gpg ]] || printf 'debian-archive-keyring '
}

as_root() { # runs a command as root, or returns 1 where that is not possible without asking in the dark
    if [[ $(id -u) == 0 ]]; then
        "$@"
    elif command -v sudo >/dev/null && { sudo -n true 2>/dev/null || [[ -t 0 ]]; }; then
        sudo "$@"
    else
        return 1
    fi
}

apt() { as_root env DEBIAN_FRONTEND=noninteractive apt-get -qq -o DPkg::Lock::Timeout=300 -o Acquire::Retries=3 "$@"; }

install_packages() {
    local packages
    read -ra packages <<<"$(missing_packages "$1")"
    [[ ${#packages[@]} -gt 0 ]] || return 0
    if ! command -v apt-get >/dev/null; then
        say "missing: ${packages[*]} (Debian's names); this is not Debian, so please install them yourself"
    elif ! as_root true; then
        say "missing: ${packages[*]}; going on without. As root: apt-get install ${packages[*]}"
    else
        say "installing Debian packages: ${packages[*]}"
        {
            apt update && apt install --yes --no-install-recommends "${packages[@]}"
        } </dev/null >.cache/apt.log 2>&1 || {
            tail -n 20 .cache/apt.log >&2
            fail "apt-get did not install ${packages[*]}" "see .cache/apt.log; try: apt-get update && apt-get install ${packages[*]}"
        }
    fi
}

install_python() { # $1: the lock file
    local lock=$1 stamp=".venv/.installed-$1" now
    now=$(sha256sum "$lock" pyproject.toml)
    if .venv/bin/python -c '' 2>/dev/null && [[ $(cat "$stamp" 2>/dev/null) == "$now" ]]; then
        return
    fi
    if ! .venv/bin/python -m pip --version >/dev/null 2>&1; then
        local python
        python=$(usable_python) || fail "no Python 3.11 or newer that can make virtual environments" \
            "as root: apt-get install python3 python3-venv"
        say "making .venv with $("$python" --version)"
        "$python" -m venv --clear .venv
    fi
    say "installing Python packages from $lock"
    local pip=(.venv/bin/python -m pip --disable-pip-version-check --no-input --quiet)
    "${pip[@]}" install --require-hashes --requirement "$lock" ||
        fail "pip could not install $lock" "check the network or pip's index settings, then run this again"
    "${pip[@]}" install --no-deps --no-index --no-build-isolation --editable . ||
        fail "this package could not be installed into .venv" "make clean, then run this again"
    printf '%s\n' "$now" >"$stamp"
}

install_clients() { # of requirements-interop.lock, in a virtual environment of their own
    local folder=.cache/interop/clients now
    now=$(sha256sum requirements-interop.lock)
    if [[ $(cat "$folder/.installed" 2>/dev/null) == "$now" ]]; then return; fi
    say "installing the clients of requirements-interop.lock"
    mkdir -p .cache/interop
    .venv/bin/python -m venv --clear "$folder"
    "$folder/bin/python" -m pip --disable-pip-version-check --no-input --quiet install --require-hashes \
        --requirement requirements-interop.lock ||
        fail "pip could not install requirements-interop.lock" "check the network or pip's index settings, then run this again"
    printf '%s\n' "$now" >"$folder/.installed"
}

build_image() { # the base image that tests share; they run without a network, so it is built before them
    [[ $(id -u) == 0 ]] && command -v mmdebstrap >/dev/null || return 0
    .venv/bin/gpuaas node image build --if-missing --images "${GPUAAS_IMAGES:-/var/cache/gpuaas/images}" ||
        say "going on without a base image; tests of the oci engine fail until it is built"
}

mkdir -p .cache
if is_of_sudo && [[ -z ${1:-} || $1 == system ]]; then # tests and benchmarks run as root
    install_packages "${1:-}"
    chown -R "$SUDO_UID:$SUDO_GID" .cache
    become_owner tools/setup.sh "$@"
fi
exec 9>.cache/setup.lock # two makes at once: the second waits and finds everything done
if command -v flock >/dev/null; then flock 9; fi

install_packages "${1:-}"
install_python requirements.lock
if [[ ${1:-} == bench ]]; then install_python requirements-bench.lock; fi
if [[ ${1:-} == interop ]]; then install_clients; fi
if [[ ${1:-} == test || ${1:-} == interop || ${1:-} == bench ]]; then build_image; fi
