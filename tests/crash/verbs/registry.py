"""Everything that is done while processes die. A later verb is one more entry; the harness knows nothing else of it."""

from tests.crash.verbs import access, machines, runtimes, sessions, storage
from tests.crash.verbs.cases import Verb, nothing

VERBS = {
    verb.name: verb
    for verb in (
        Verb("create", nothing, machines.create, machines.not_admitting, machines.give_back),
        Verb("grant", access.visited, access.grant, access.not_let_in, machines.give_back),
        Verb("revoke", access.shared, access.revoke, access.not_shut_out, machines.give_back),
        Verb("join", access.invited, access.join, access.not_joined, machines.give_back),
        Verb("remove_member", access.shared, access.remove_member, access.not_removed, machines.give_back),
        Verb("handover", access.hesitant, access.hand_over, access.not_handed_over, sessions.leave),
        Verb("change_keys", access.with_two_keys, access.change_keys, access.not_exchanged, access.drop_key),
        Verb(
            "open_terminal",
            machines.furnished,
            sessions.open_terminal,
            sessions.no_terminal,
            machines.give_back,
        ),
        Verb("reattach", sessions.watched, sessions.come_back, sessions.no_terminal, machines.give_back),
        Verb("end_terminal", sessions.watched, sessions.end, sessions.not_ended, machines.give_back),
        Verb("end_session", sessions.seated, sessions.end, sessions.not_cut, sessions.leave),
        Verb("restart", machines.furnished, machines.restart, machines.not_back, machines.give_back),
        Verb("extend", machines.limited, machines.extend, machines.not_extended, machines.give_back),
        Verb("resize", machines.furnished, machines.resize, machines.not_resized, machines.give_back),
        Verb("apply", runtimes.equipped, runtimes.apply, runtimes.not_applied, machines.give_back),
        Verb("stage", runtimes.curious, runtimes.apply, runtimes.not_applied, machines.give_back),
        Verb("clear_runtime", runtimes.dressed, runtimes.clear, runtimes.not_cleared, machines.give_back),
        Verb("unstage", runtimes.shelved, runtimes.unstage, runtimes.not_unstaged, nothing),
        Verb("attach", storage.stored, storage.attach, storage.not_attached, storage.give_all_back),
        Verb("detach", storage.with_a_volume, storage.detach, storage.not_detached, storage.give_all_back),
        Verb("snapshot", storage.with_a_volume, storage.snapshot, storage.not_taken, storage.drop_taken),
        Verb("restore", storage.snapshotted, storage.restore, storage.not_restored, storage.drop_restored),
        Verb("delete_volume", storage.detached, storage.delete, storage.not_deleted, machines.give_back),
        Verb("release", machines.inhabited, machines.release, machines.not_released, nothing),
    )
}
