#!/bin/sh
# gpuaas-runtime: use the platform's runtime bundles. It changes nothing of yours: no profile, no PATH, no file.
set -eu
ROOT=/opt/gpuaas/runtimes
DESCRIPTORS=/etc/gpuaas/runtime/allocations

usage() {
    cat <<'TEXT'
gpuaas-runtime list                       bundles that are ready on this machine
gpuaas-runtime current                    the bundle applied to this allocation
gpuaas-runtime use BUNDLE[@VERSION]       a shell in which the bundle is active; `exit` leaves it
gpuaas-runtime run BUNDLE[@VERSION] -- COMMAND…   one command in the bundle
In your own shell: . /opt/gpuaas/runtimes/BUNDLE/current/activate.sh
Without @VERSION it is the one applied to this allocation; what is running keeps the version it began with.
TEXT
}

fail() {
    echo "gpuaas-runtime: $1" >&2
    exit "${2:-1}"
}

value_of() {
    for file in "$DESCRIPTORS"/*.env; do
        [ -f "$file" ] || continue
        sed -n "s/^$1=//p" "$file"
    done
}

# The real folder of a bundle, so that a later switch does not reach what has begun.
find_bundle() {
    slug=${1%%@*}
    case $slug in '' | *[!a-z0-9-]*) fail "$1 is no bundle; see gpuaas-runtime list" 2 ;; esac
    case $1 in
        *@*) version=${1#*@} ;;
        *)
            [ -L "$ROOT/$slug/current" ] || fail "there is no bundle $slug on this machine; see gpuaas-runtime list" 3
            [ -e "$ROOT/$slug/current" ] || fail "$slug is not applied to this allocation: gpuaas runtimes apply NAME $slug, or say $slug@VERSION" 3
            version=$(basename "$(readlink "/etc/gpuaas/runtime/current/$slug")")
            ;;
    esac
    case $version in '' | [!0-9]* | *[!0-9A-Za-z._-]*) fail "$version is no version; see gpuaas-runtime list" 2 ;; esac
    [ -d "$ROOT/$slug/$version" ] || fail "$slug $version is not on this machine; see gpuaas-runtime list" 3
    echo "$ROOT/$slug/$version"
}

list() {
    found=
    for path in "$ROOT"/*/[0-9]*/; do
        [ -d "$path" ] || continue
        found=1
        version=$(basename "$path")
        slug=$(basename "$(dirname "$path")")
        mark=
        [ "$(readlink "/etc/gpuaas/runtime/current/$slug" 2>/dev/null)" = "$ROOT/$slug/$version" ] && mark=' (current)'
        echo "$slug $version$mark"
    done
    [ -n "$found" ] || fail 'no bundle is ready on this machine; `gpuaas runtimes apply` brings one' 3
}

case ${1:-} in
    list)
        list
        ;;
    current)
        root=$(value_of GPUAAS_RUNTIME_ROOT)
        [ -n "$root" ] || fail 'raw compute: no bundle is applied to this allocation' 3
        echo "$(value_of GPUAAS_RUNTIME_BUNDLE) $(value_of GPUAAS_RUNTIME_VERSION) $root"
        ;;
    use)
        [ $# -eq 2 ] || fail 'say which: gpuaas-runtime use BUNDLE' 2
        root=$(find_bundle "$2")
        . "$root/activate.sh"
        exec "${SHELL:-/bin/sh}"
        ;;
    run)
        [ $# -ge 3 ] || fail 'say what: gpuaas-runtime run BUNDLE -- COMMAND' 2
        root=$(find_bundle "$2")
        shift 2
        [ "$1" != -- ] || shift
        [ $# -gt 0 ] || fail 'say what: gpuaas-runtime run BUNDLE -- COMMAND' 2
        . "$root/activate.sh"
        exec "$@"
        ;;
    -h | --help | help | '')
        usage
        ;;
    *)
        usage >&2
        exit 2
        ;;
esac
