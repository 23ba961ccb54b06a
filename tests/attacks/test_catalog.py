"""Every attack of the security review that is in scope of the control plane, and the tests that carry it out."""

import ast
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]
# Attacks that succeeded when the product was reviewed; the tests stand for the fix.
FOUND = {
    "SEC1: exhaust an agent's descriptors so that neighbours restart": [
        "attacks/test_sec1_unknown_is_not_stopped.py",
        "attacks/test_sec1_missing_requirements.py",
    ],
    "run with GPUs and without billing by a first process of one's own": [
        "attacks/inside/test_first_process.py",
        "engines/test_contract.py::test_after_a_failed_ensure_nothing_runs_and_nobody_can_log_in",
    ],
    "let root import modules from a folder that everybody can write": [
        "attacks/test_working_directory.py",
        "tools/test_lint_house.py",
    ],
    "order spares from a node without a task key": ["attacks/test_wanted_spares.py"],
    "SEC2: keep a terminal after losing the role": ["attacks/test_sec2_demoted_holder.py"],
    "SEC3: keep SSH by the own-keys file after removal": ["attacks/test_sec3_removed_holder.py"],
    "SEC4, SEC12: change or release another member's allocation": ["attacks/test_sec4_control.py"],
    "SEC5: take the whole fleet with a fresh account": ["attacks/test_sec5_quotas.py", "quotas/test_edges.py"],
    "SEC5: fill the disk that the service needs": ["attacks/test_database_trouble.py"],
    "SEC6: take over an invitation by its address": ["attacks/test_invitations.py", "attacks/test_addresses.py"],
    "SEC7: stall the front end before authentication": ["attacks/test_front_end.py"],
    "SEC9: lock accounts, or escape the limits by a header": [
        "attacks/test_login_delays.py",
        "attacks/test_front_end.py",
    ],
    "SEC13: use a stolen node key": ["attacks/test_sec13_stolen_node_key.py"],
    "SEC13: stay unnoticed with a stolen node key": [
        "attacks/test_sec13_stolen_node_key.py::test_an_agent_without_a_name_takes_no_link_of_a_node_whose_agent_has_one",
        "attacks/test_sec13_stolen_node_key.py::test_the_own_agent_is_remembered_however_many_names_a_thief_uses",
    ],
    "SEC13: stop revokes, suspensions and restarts for ever with a stolen node key": [
        "attacks/test_sec13_poisoned_numbers.py",
        "links/test_fuzz.py::test_no_extreme_number_or_time_of_a_node_stops_what_is_compared_with_it_later",
    ],
    "SEC13: make allocations unreadable and unreleasable with a stolen node key": [
        "attacks/test_sec13_poisoned_images.py"
    ],
    "SEC13: rewrite what everybody reads about isolation with a stolen node key": ["attacks/test_confinements.py"],
    "SEC13: speak for allocations of other nodes, and for people, with a stolen node key": [
        "attacks/test_sec13_other_nodes.py"
    ],
    "SEC13: read terminals with a stolen node key": [
        "attacks/test_sec13_stolen_node_key.py::test_a_terminal_asked_for_before_the_thief_came_does_not_reach_it"
    ],
    "SEC15: memberships, keys of tokens, control characters, origins": [
        "attacks/test_sec15_leftovers.py",
        "attacks/test_origin.py",
    ],
}
# Attacks that the review found blocked. Escapes from an environment belong to the engine's own suite.
BLOCKED = {
    "another tenant's objects by every route": ["isolation/test_matrix.py"],
    "foreign ids in bodies": ["attacks/test_blocked.py::test_ids_of_another_tenant_in_a_body_are_refused"],
    "foreign cursors": ["attacks/test_blocked.py::test_a_cursor_of_another_tenant_shows_none_of_their_rows"],
    "idempotency keys across people": [
        "attacks/test_blocked.py::test_an_idempotency_key_of_another_person_answers_nothing_of_theirs"
    ],
    "role escalation": [
        "attacks/test_blocked.py::test_nobody_raises_their_own_role_above_what_they_may_give",
        "attacks/test_blocked.py::test_nobody_signs_up_as_an_operator",
    ],
    "races of the last owner": ["members/test_members.py::test_of_two_owners_who_leave_at_once_one_stays"],
    "races for a terminal ticket": ["isolation/test_terminal.py"],
    "CSRF": ["attacks/test_blocked.py::test_a_change_by_cookie_needs_our_own_page"],
    "session fixation": ["attacks/test_blocked.py::test_a_session_cookie_chosen_by_an_attacker_is_never_taken_over"],
    "stored XSS": ["attacks/test_blocked.py::test_markup_in_free_text_is_stored_as_text_and_served_as_json"],
    "request smuggling": ["attacks/test_blocked.py::test_a_request_of_ambiguous_length_hides_no_second_one"],
    "JSON and gzip bombs": ["attacks/test_blocked.py::test_a_hostile_body_is_refused_before_anything_is_done"],
    "an environment that reaches the node or a neighbour": [
        "engines/test_oci_network.py::test_it_reaches_neither_neighbour_nor_machine"
    ],
    "SFTP out of the environment": ["gateway/test_clients.py"],
    "links and special files on volumes": ["engines/test_oci_storage.py", "engines/test_oci_snapshots.py"],
    "hostile trees at removal": ["engines/test_oci_removal.py"],
    "reports of one node about another": ["isolation/test_link.py::test_a_node_speaks_for_itself_alone"],
    "replayed proofs": ["agent/test_link.py::test_a_proof_is_good_for_one_nonce_one_node_and_one_origin"],
    "secrets in dump, logs, arguments and environment": [
        "contracts/test_secrets.py::test_no_secret_is_anywhere_but_where_it_is_shown_once"
    ],
}


def functions_of(path: Path) -> set[str]:
    tree = ast.parse(path.read_text())
    functions = (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))
    return {node.name for node in functions if node.name.startswith("test_")}


def missing(place: str) -> str:
    """Why this reference leads to no test; empty if it does."""
    file, _, name = place.partition("::")
    path = TESTS / file
    if not path.exists():
        return f"{file} does not exist"
    found = functions_of(path)
    return "" if (name in found if name else found) else f"{place} holds no such test"


@pytest.mark.parametrize("attack", [*FOUND, *BLOCKED])
def test_every_attack_of_the_review_is_carried_out_by_a_test(attack: str) -> None:
    assert [why for place in {**FOUND, **BLOCKED}[attack] if (why := missing(place))] == []


def test_every_file_of_attacks_is_in_the_catalogue_or_about_operations() -> None:
    named = {place.partition("::")[0] for places in (*FOUND.values(), *BLOCKED.values()) for place in places}
    operations = {  # findings of the operations and CLI reviews
        *("test_adopt_environments.py", "test_lost_writes.py", "test_unknown_environments.py"),
        *("test_wrong_clock.py", "test_cli5_each_login_is_an_event.py", "test_break_glass.py", "test_audit_chain.py"),
        *("test_leaked_task_key.py", "test_removal_race.py", "test_suspended_people.py"),  # of later reviews
    }
    files = {path.name for path in Path(__file__).parent.glob("test_*.py")} - {Path(__file__).name}
    assert files - operations == {name.removeprefix("attacks/") for name in named if name.startswith("attacks/test_")}


def test_a_reference_that_leads_nowhere_is_seen() -> None:
    assert missing("attacks/test_blocked.py::test_nothing") != ""
    assert missing("attacks/test_nothing.py") != ""
