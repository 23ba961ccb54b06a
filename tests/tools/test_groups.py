"""The order in which groups of tests start."""

from tests.groups import group_of, seconds_of


def test_a_group_that_no_run_has_measured_starts_before_those_that_were_and_single_tests_last() -> None:
    pace = {"crash/": 3.0, "tests/core/test_ids.py::test_one": 0.01}
    sizes = {"browser/": 20, "crash/": 40, "engines/test_oci_new.py": 5, "tests/core/test_ids.py::test_one": 1}
    unknown = "tests/core/test_ids.py::test_two"
    ordered = sorted({**sizes, unknown: 1}, key=lambda group: -seconds_of(group, sizes.get(group, 1), pace))
    assert ordered[:3] == ["browser/", "engines/test_oci_new.py", "crash/"]
    assert ordered[3:] == [unknown, "tests/core/test_ids.py::test_one"]


def test_a_run_of_part_of_a_group_says_as_much_of_it_as_a_whole_one() -> None:
    assert seconds_of("crash/", 40, {"crash/": 3.0}) == 120.0


def test_tests_of_one_engine_stay_together_by_file() -> None:
    assert group_of("tests/engines/test_contract.py::test_it[oci]") == "engines/test_contract.py"
    assert group_of("tests/engines/test_contract.py::test_it[fake]") == ""
    assert group_of("tests/browser/test_axe.py::test_it") == group_of("tests/e2e/test_up.py::test_it")
