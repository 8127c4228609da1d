"""What becomes of a use is said for this call: by its arguments, the measured row and its conditions."""

from __future__ import annotations

from pathlib import Path

import msgspec

from trueline.apitable.pairs import Decisive, Difference, Example, Machine, Measured, Needed, Outcome, Table
from trueline.migrate.scan.counterparts import Route
from trueline.migrate.scan.judging import Judged, Verdict, judge
from trueline.script.source import read_source
from trueline.script.uses import UseKind, uses_of

HEAD = "import torch\nimport torch.nn as nn\nimport torch.nn.functional as F\n"
EXAMPLE = Example("torch.f(x)", "ops.f(x)", "1.0", "2.0")


def judged(folder: Path, line: str, *rows: Measured, style: str | None = "classic", head: str = HEAD) -> Judged:
    """The first use that is called, judged by a table of these rows."""
    script = folder / "script.py"
    script.write_text(head + line)
    uses = (use for use in uses_of(read_source(script, "script.py")) if use.line > head.count("\n"))
    use = next(use for use in uses if use.kind is not UseKind.BASE)
    return judge(use, style, Table(Machine(), {(row.torch, row.mindspore): row for row in rows}))


GELU = Measured(
    "torch.nn.GELU",
    "mindspore.nn.GELU",
    Outcome.EQUAL_WITH,
    "certain",
    (Needed("approximate", "'none'", "True", "approximate=False", "approximate='tanh'"),),
    cases=9,
)
SOFTMAX = Measured("torch.nn.functional.softmax", "mindspore.ops.softmax", Outcome.EQUAL, cases=3)


def test_a_default_that_differs_is_named_with_both_and_what_to_write(tmp_path: Path) -> None:
    found = judged(tmp_path, "nn.GELU()", GELU)
    assert found.verdict is Verdict.RELIES
    assert [(one.argument, one.here, one.there, one.write) for one in found.relied] == [
        ("approximate", "'none'", "True", "approximate=False")
    ]


def test_a_call_that_gives_the_argument_maps(tmp_path: Path) -> None:
    assert judged(tmp_path, "nn.GELU('tanh')", GELU).verdict is Verdict.MAPS
    assert judged(tmp_path, "nn.GELU(approximate='none')", GELU).verdict is Verdict.MAPS


def test_arguments_that_are_not_to_be_seen_are_said_to_be(tmp_path: Path) -> None:
    assert not judged(tmp_path, "nn.GELU(**kw)", GELU).whole
    assert not judged(tmp_path, "Block(act=nn.GELU)", GELU).whole


def test_the_other_direction_writes_torchs_argument(tmp_path: Path) -> None:
    found = judged(tmp_path, "nn.GELU()", GELU, head="from mindspore import nn\n")
    assert [(one.here, one.there, one.write) for one in found.relied] == [("True", "'none'", "approximate='tanh'")]


def row(outcome: Outcome, *whens: tuple[str, ...]) -> Measured:
    """A row of torch.clamp with a difference for each condition."""
    differences = tuple(Difference("values", when, EXAMPLE) for when in whens)
    return Measured("torch.clamp", "mindspore.ops.clamp", outcome, "certain", differences=differences, cases=9)


def test_a_difference_that_needs_an_argument_counts_where_it_is_given(tmp_path: Path) -> None:
    differs = row(Outcome.DIFFERS, ("argument:max",))
    assert judged(tmp_path, "torch.clamp(x, 0)", differs).verdict is Verdict.MAPS
    assert judged(tmp_path, "torch.clamp(x, 0, 1)", differs).verdict is Verdict.DIFFERS
    assert judged(tmp_path, "torch.clamp(x, max=1)", differs).verdict is Verdict.DIFFERS
    left_out = row(Outcome.DIFFERS, ("default:max",))
    assert judged(tmp_path, "torch.clamp(x, 0)", left_out).verdict is Verdict.DIFFERS
    assert judged(tmp_path, "torch.clamp(x, 0, 1)", left_out).verdict is Verdict.MAPS


def test_a_difference_for_some_inputs_is_a_note(tmp_path: Path) -> None:
    found = judged(tmp_path, "torch.clamp(x, 0)", row(Outcome.EQUAL, ("nan",), ("argument:max", "inf")))
    assert (found.verdict, found.only_for) == (Verdict.MAPS, ("nan",))


def test_outcomes_are_passed_on(tmp_path: Path) -> None:
    assert judged(tmp_path, "torch.clamp(x, 0)", row(Outcome.RAISES, ())).verdict is Verdict.RAISES
    assert judged(tmp_path, "torch.clamp(x, 0)", row(Outcome.DIFFERS, ())).verdict is Verdict.DIFFERS
    assert judged(tmp_path, "torch.clamp(x, 0)", row(Outcome.NO_KERNEL)).verdict is Verdict.NO_KERNEL


def test_without_a_style_the_better_pair_is_taken(tmp_path: Path) -> None:
    mint = Measured("torch.clamp", "mindspore.mint.clamp", Outcome.EQUAL, cases=3)
    found = judged(tmp_path, "torch.clamp(x, 0)", row(Outcome.DIFFERS, ()), mint, style=None)
    assert (found.verdict, found.counterpart) == (Verdict.MAPS, "mindspore.mint.clamp")


def test_one_function_is_found_under_both_of_its_names(tmp_path: Path) -> None:
    assert judged(tmp_path, "torch.softmax(x, 1)", SOFTMAX).verdict is Verdict.MAPS
    assert judged(tmp_path, "F.softmax(x, 1)", SOFTMAX).verdict is Verdict.MAPS


def test_methods_lead_to_methods_and_functions(tmp_path: Path) -> None:
    assert judged(tmp_path, "torch.Tensor.abs_(x)").counterparts.route is Route.OUT_OF_PLACE
    assert judged(tmp_path, "torch.Tensor.softmax(x, 1)").counterparts.route is Route.FUNCTION


def test_where_nothing_maps_the_way_out_is_shown(tmp_path: Path) -> None:
    found = judged(tmp_path, "torch.cuda.Event()")
    assert found.verdict is Verdict.MAPS and found.way is not None
    rewrite = judged(tmp_path, "torch.save(x, 'a')")
    assert rewrite.verdict is Verdict.WAY_OUT and rewrite.counterpart == "mindspore.save_checkpoint"
    assert judged(tmp_path, "torch._foreach_add_(x)").verdict is Verdict.MISSING


def test_the_same_name_over_there_is_better_than_nothing(tmp_path: Path) -> None:
    found = judged(tmp_path, "f(torch.float32)")
    assert (found.use.name, found.counterpart) == ("torch.float32", "mindspore.float32")


def test_signatures_say_what_was_not_measured(tmp_path: Path) -> None:
    found = judged(tmp_path, "nn.Conv2d(1, 2, 3)")
    assert found.verdict is Verdict.RELIES
    assert ("bias", "has_bias=True") in [(one.argument, one.write) for one in found.relied]


def test_a_counterpart_that_one_framework_lacks_is_no_counterpart(tmp_path: Path) -> None:
    rows = [
        Measured("torch.nn.Hardsigmoid", name, Outcome.MISSING)
        for name in ("mindspore.nn.Hsigmoid", "mindspore.nn.HSigmoid", "mindspore.mint.nn.Hardsigmoid")
    ]
    assert judged(tmp_path, "nn.Hardsigmoid()", *rows, style=None).verdict is Verdict.MISSING
    rows[1] = Measured("torch.nn.Hardsigmoid", "mindspore.nn.HSigmoid", Outcome.EQUAL, cases=3)
    assert judged(tmp_path, "nn.Hardsigmoid()", *rows, style=None).verdict is Verdict.MAPS


CONV = Measured(
    "torch.nn.Conv2d",
    "mindspore.nn.Conv2d",
    Outcome.EQUAL_WITH,
    needs=(
        Needed("padding", "0", "'same'", "pad_mode='valid', padding=0", "padding='same'"),
        Needed("bias", "True", "False", "has_bias=True", "bias=False"),
    ),
    differences=(
        Difference("raises", ("argument:groups",), EXAMPLE),
        Difference(
            "raises", ("argument:padding_mode",), Example("torch.f()", "ops.f()", "", "no argument padding_mode")
        ),
    ),
)


def test_arguments_count_as_given_under_the_names_of_the_script_s_framework(tmp_path: Path) -> None:
    head = "from mindspore import nn\n"
    found = judged(tmp_path, "nn.Conv2d(3, 8, 3, pad_mode='pad', padding=1, has_bias=True)", CONV, head=head)
    assert found.verdict is Verdict.MAPS
    found = judged(tmp_path, "nn.Conv2d(3, 8, 3)", CONV, head=head)
    # 'same' is no padding that torch has for every convolution: what to write is left to the user.
    assert [(one.argument, one.write) for one in found.relied] == [("pad_mode", ""), ("has_bias", "bias=False")]


def test_values_that_are_refused_are_a_note_and_arguments_that_are_not_there_a_verdict(tmp_path: Path) -> None:
    found = judged(tmp_path, "nn.Conv2d(3, 8, 3, padding=1, bias=False, groups=1)", CONV)
    assert (found.verdict, found.only_for) == (Verdict.MAPS, ("refused",))
    assert judged(tmp_path, "nn.Conv2d(3, 8, 3, 1, 1, 1, 1, True, 'reflect')", CONV).verdict is Verdict.RAISES


def test_arguments_that_only_torch_has_are_said_to_go(tmp_path: Path) -> None:
    relu = Measured("torch.nn.ReLU", "mindspore.nn.ReLU", Outcome.EQUAL, cases=3)
    found = judged(tmp_path, "nn.ReLU(inplace=True)", relu)
    assert (found.verdict, found.left_out) == (Verdict.MAPS, ("inplace",))
    randn = Measured("torch.randn", "mindspore.ops.randn", Outcome.EQUAL, cases=3)
    assert judged(tmp_path, "torch.randn(3, generator=g)", randn).verdict is Verdict.DIFFERS


def refused(name: str, other: str, argument: str, values: Decisive) -> Measured:
    """A row with an argument of which some values are refused."""
    difference = Difference("raises", (f"argument:{argument}",), EXAMPLE, values={argument: values})
    return Measured(name, other, Outcome.EQUAL, "certain", differences=(difference,), cases=9)


def test_a_value_that_was_seen_to_be_refused_is_a_verdict_and_others_are_none(tmp_path: Path) -> None:
    dropout = refused("torch.nn.Dropout", "mindspore.nn.Dropout", "p", Decisive(("1.0",), ("0.0", "0.5"), others=False))
    assert judged(tmp_path, "nn.Dropout(1.0)", dropout).verdict is Verdict.RAISES
    for call in ("nn.Dropout(0.5)", "nn.Dropout(p=0.3)", "nn.Dropout()"):
        found = judged(tmp_path, call, dropout)
        assert (found.verdict, found.only_for) == (Verdict.MAPS, ())
    # What is not written here, and 1, which may or may not be taken as 1.0 is, are not decided.
    for call in ("nn.Dropout(args.p)", "nn.Dropout(1)"):
        found = judged(tmp_path, call, dropout)
        assert (found.verdict, found.only_for) == (Verdict.MAPS, ("refused",))


def test_where_only_the_default_is_taken_every_other_value_is_refused(tmp_path: Path) -> None:
    elu = refused("torch.nn.functional.elu", "mindspore.ops.elu", "alpha", Decisive(("2.0",), ("1.0",), others=True))
    assert judged(tmp_path, "F.elu(x)", elu).verdict is Verdict.MAPS
    assert judged(tmp_path, "F.elu(x, 1.0)", elu).verdict is Verdict.MAPS
    assert judged(tmp_path, "F.elu(x, 0.7)", elu).verdict is Verdict.RAISES


def test_a_counterpart_that_refuses_some_calls_comes_after_one_that_does_not(tmp_path: Path) -> None:
    some = Difference("raises", (), EXAMPLE)
    mint = Measured("torch.nn.functional.dropout", "mindspore.mint.nn.functional.dropout", Outcome.EQUAL, cases=9)
    classic = Measured("torch.nn.functional.dropout", "mindspore.ops.dropout", Outcome.EQUAL, cases=9)
    refusing = msgspec.structs.replace(mint, differences=(some,))
    assert judged(tmp_path, "F.dropout(x, 0.5)", mint, classic, style=None).counterpart == mint.mindspore
    assert judged(tmp_path, "F.dropout(x, 0.5)", refusing, classic, style=None).counterpart == classic.mindspore


def test_where_calls_are_refused_that_nothing_tells_apart_the_way_that_was_tried_is_taken(tmp_path: Path) -> None:
    scatter = Measured("torch.Tensor.scatter_", "mindspore.ops.tensor_scatter_elements", Outcome.EQUAL, cases=9)
    refusing = msgspec.structs.replace(scatter, differences=(Difference("raises", (), EXAMPLE),))
    found = judged(tmp_path, "x.scatter_(1, index, 1)", refusing, head="from torch import ones\nx = ones(2)\n")
    assert (found.use.name, found.verdict, found.counterpart) == (
        "torch.Tensor.scatter_",
        Verdict.WAY_OUT,
        "mindspore.Tensor.scatter",
    )
