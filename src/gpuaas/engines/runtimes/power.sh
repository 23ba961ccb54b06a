#!/bin/sh
# reboot, poweroff, halt and shutdown of this environment, by the name of this program. With systemd as pid 1 the
# system's own programs do it; without, the kernel is asked at once.
name=${0##*/}
action=$name
force=

usage() {
    case "$name" in
    reboot) cat <<'HELP' ;;
Usage: reboot

Reboots this environment: all processes end, the disk stays, and it boots again within seconds.
Volumes, keys and the address stay the same. From outside: gpuaas allocations restart NAME
HELP
    shutdown) cat <<'HELP' ;;
Usage: shutdown -r now

Reboots this environment, as reboot does. It cannot be powered off: it boots again, and billing goes on.
To stop billing, release the allocation from outside: gpuaas allocations release NAME
HELP
    *) printf 'Usage: %s --force\n\n' "$name"; cat <<'HELP' ;;
Ends all processes of this environment. It boots again by itself, and billing goes on: this is a reboot.
To stop billing, release the allocation from outside: gpuaas allocations release NAME
HELP
    esac
}

for word in "$@"; do
    case "$word" in
    -h | --help)
        [ "$name $word" = "shutdown -h" ] && continue # it means halt there
        usage
        exit 0
        ;;
    esac
done
if [ "$(cat /proc/1/comm)" = systemd ]; then
    exec sudo "/sbin/$name" "$@"
fi
[ "$name" = shutdown ] && action=poweroff
for word in "$@"; do
    case "$name $word" in
    *" -f" | *" --force") force=yes ;;
    "shutdown -r" | "shutdown --reboot") action=reboot ;;
    "shutdown -h" | "shutdown -H" | "shutdown -P" | "shutdown --poweroff" | "shutdown --halt") action=poweroff ;;
    "shutdown now" | "shutdown +0") ;;
    *)
        echo "$name: unknown argument $word; see $name --help" >&2
        exit 2
        ;;
    esac
done
if [ "$action" != reboot ] && [ -z "$force" ]; then
    cat >&2 <<TEXT
$name: this environment cannot be powered off. It would boot again by itself, and billing would go on.
To restart it: reboot. To stop billing: gpuaas allocations release NAME, from outside. To do it anyway: poweroff --force
TEXT
    exit 1
fi
sync
exec sudo "/sbin/$action" --force --force
