# Sourced by setup.sh and console.sh, in the folder of the checkout: after `sudo make`, what is written into a checkout
# belongs to whose checkout it is.
is_of_sudo() { # whether we are root only by sudo, in a checkout of the person who ran it
    [[ $(id -u) == 0 && ${SUDO_UID:-0} != 0 && $(stat -c %u .) == "$SUDO_UID" ]] && getent passwd "$SUDO_UID" >/dev/null
}

become_owner() { # $@: what to execute as that person
    exec setpriv --reuid "$SUDO_UID" --regid "$SUDO_GID" --init-groups \
        env HOME="$(getent passwd "$SUDO_UID" | cut -d: -f6)" "$@"
}
