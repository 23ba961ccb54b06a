#!/bin/sh
# Reboots this environment. With systemd as pid 1 the system's own program does it; without, the kernel is asked at once.
case "${1:-}" in
-h | --help)
    cat <<'HELP'
Usage: reboot

Reboots this environment: all processes end, the disk stays, and it boots again within seconds.
Volumes, keys and the address stay the same. From outside: gpuaas allocations restart NAME
HELP
    exit 0
    ;;
esac
if [ "$(cat /proc/1/comm)" = systemd ]; then
    exec sudo /sbin/reboot "$@"
fi
case "${1:-}" in
-f | --force) shift ;; # as it always is
esac
if [ $# -gt 0 ]; then
    echo "reboot: unknown argument $1; see reboot --help" >&2
    exit 2
fi
sync
exec sudo /sbin/reboot --force --force
