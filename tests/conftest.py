"""Big tables of cases: a fixed part of each runs with the tests, all where TRUELINE_WHOLE is set (make eval)."""

from __future__ import annotations

import gc
import os
import signal
from collections import Counter
from collections.abc import Iterator

import pytest
import warm

# Of each test one case in so many; where a case starts processes of its own, the first of ten.
TABLES = {
    "cli/test_pair_inputs": 10,
    "cli/test_pair_inputs::test_what_is_no_good_from_the_start": 1,
    "cli/test_pair_verb": 10,
    "cli/test_repro": 18,
    "cli/test_repro::test_an_interruption_leaves_nothing_behind": 1,
    "cli/test_repro::test_what_cannot_be_meant_is_one_clear_line": 1,
    "migrate/test_convert_networks": 10,
    "migrate/test_networks_agree": 10,
    "pair/test_attribute_causes": 10,
    "pair/test_backward_causes": 10,
    "pair/test_compiled::test_a_compiled_network_that_computes_the_same_is_no_finding": 3,
    "pair/test_compiled::test_what_only_the_compiler_does_is_found_and_its_module_named": 2,
    "pair/test_data_stage": 10,
    "pair/test_functional_dropout": 2,
    "pair/test_lacking_input": 2,
    "pair/test_loss_stage": 10,
    "pair/test_one_fault_once": 10,
    "pair/test_op_level_kinds": 10,
    "pair/test_pair_corners": 2,
    "pair/test_pair_failures": 10,
    "pair/test_returned": 10,
    "pair/test_schedule_stage": 10,
    "pair/test_shorter_floats": 3,
    "pair/test_update_stage": 10,
    "cli/test_budgets": 6,
    "cli/test_budgets::test_what_is_no_file_is_one_clear_line": 3,
    "cli/test_data_costs": 3,
    "cli/test_watch::test_what_is_made_outside_the_network_is_named_with_its_own_step": 3,
    "replay/test_bitwise": 3,
    "replay/test_loops": 3,
    "replay/test_ways::test_another_precision_tells_whether_it_was_that": 2,
    "record/test_faults::test_a_training_is_bitwise_the_same_under_every_fault": 2,
    "record/test_faults::test_a_script_without_its_streams_ends_as_it_does_plainly": 2,
    "record/test_mindspore_loops": 10,
    "record/test_ranks": 10,
    "watch/test_programs": 20,
    "run_folder/test_fuzz": 10,
    "run_folder/test_fuzz::test_a_file_cut_anywhere_at_its_end_opens_silently": 1,
    "run_folder/test_fuzz::test_damage_with_right_checksums_is_read_or_refused": 1,
}

# A shell's background jobs ignore Ctrl-C, and all that they start does: the processes that tests interrupt must not.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


# Nothing that is imported or collected becomes garbage: it is not looked through until all is there, nor ever after.
gc.disable()


def pytest_collection_finish() -> None:
    """Whoever looks for garbage from now on, as a recorder that begins does, goes through the tests' own objects."""
    gc.freeze()
    gc.enable()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out most cases of a table, never the first of a test; tests without cases all stay."""
    if os.environ.get("TRUELINE_WHOLE"):
        return
    counts: Counter[str] = Counter()
    left: list[pytest.Item] = []
    for item in items:
        table = f"{item.path.parent.name}/{item.path.stem}"
        if hasattr(item, "callspec"):
            test = f"{table}::{getattr(item, 'originalname', '')}"
            if counts[test] % TABLES.get(test, TABLES.get(table, 1)):
                left.append(item)
            counts[test] += 1
    if left:
        gone = {id(one) for one in left}
        config.hook.pytest_deselected(items=left)
        items[:] = [one for one in items if id(one) not in gone]


@pytest.fixture(scope="module")
def warm_guests() -> Iterator[None]:
    """The sides of pairs begin with their framework imported."""
    with warm.guests():
        yield


def pytest_runtest_teardown() -> None:
    """A verb that was called in this process has chosen a language: the next test chooses its own."""
    from trueline.locale.catalogue import use_language

    use_language(None)


def pytest_sessionfinish() -> None:
    """The processes that others are forked from end with the tests."""
    warm.end()
