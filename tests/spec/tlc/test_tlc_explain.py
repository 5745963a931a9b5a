"""Counterexamples in words."""

import pytest

from wheelproof_spec.tlc.judging.explain import changes, explain, explain_text
from wheelproof_spec.tlc.running.report import Counterexample, Step
from wheelproof_spec.tlc.states.value_parser import parse_state


def _step(action: str | None, state: str, arguments: str = "") -> Step:
    return Step(action=action, arguments=arguments, state=parse_state(state))


def _pair(before: str, after: str) -> Counterexample:
    return Counterexample(steps=(_step(None, before), _step("Act", after)))


@pytest.mark.parametrize(
    ("before", "after", "sentences"),
    [
        ("n = 1", "n = 1", ()),
        ("n = 1", "n = 2", ("n: 1 -> 2",)),
        ("s = {1, 2}", "s = {2, 3}", ("s loses 1", "s gains 3")),
        ("q = <<a>>", "q = <<a, b>>", ("q: b appended",)),
        ("q = <<a, b>>", "q = <<b>>", ("q: head a removed",)),
        ("q = <<a, b>>", "q = <<a>>", ("q: <<a, b>> -> <<a>>",)),
        ("q = <<a, b>>", "q = <<a, c>>", ("q[2]: b -> c",)),
        (
            "r = [a |-> [b |-> {}], c |-> 1]",
            "r = [a |-> [b |-> {5}], c |-> 1]",
            ('r["a"].b gains 5',),
        ),
        (
            "f = (t1 :> 1 @@ t2 :> 2)",
            "f = (t1 :> 1 @@ t3 :> 3)",
            ("f[t2]: gone, was 2", "f[t3]: new, 3"),
        ),
        ("x = NULL", "x = <<1>>", ("x: NULL -> <<1>>",)),
        ("/\\ a = 1 /\\ b = 1", "/\\ a = 2 /\\ b = 2", ("a: 1 -> 2", "b: 1 -> 2")),
    ],
)
def test_changes(before: str, after: str, sentences: tuple[str, ...]) -> None:
    assert changes(parse_state(before), parse_state(after)) == sentences


@pytest.mark.parametrize(
    ("before", "after", "headline"),
    [
        (
            '/\\ pc = (t1 :> "a" @@ t2 :> "a") /\\ n = 0',
            '/\\ pc = (t1 :> "a" @@ t2 :> "b") /\\ n = 1',
            "2. Act, thread t2",
        ),
        ('pc = [reaper |-> "a"]', 'pc = [reaper |-> "b"]', "2. Act, thread reaper"),
        (
            '/\\ pc = (t1 :> "a" @@ t2 :> "a") /\\ seen = (t1 :> 0 @@ t2 :> 0)',
            '/\\ pc = (t1 :> "a" @@ t2 :> "a") /\\ seen = (t1 :> 0 @@ t2 :> 3)',
            "2. Act, thread t2",
        ),
        (
            '/\\ pc = (t1 :> "a" @@ t2 :> "a") /\\ task = (x :> 0 @@ y :> 0)',
            '/\\ pc = (t1 :> "a" @@ t2 :> "a") /\\ task = (x :> 0 @@ y :> 3)',
            "2. Act",
        ),
        (
            "/\\ due = (x :> 0 @@ y :> 0) /\\ state = (x :> 0 @@ y :> 0)",
            "/\\ due = (x :> 0 @@ y :> 1) /\\ state = (x :> 0 @@ y :> 1)",
            "2. Act, y",
        ),
        ("due = (x :> 0 @@ y :> 0)", "due = (x :> 1 @@ y :> 1)", "2. Act"),
        ("n = 0", "n = 1", "2. Act"),
    ],
)
def test_who_acted(before: str, after: str, headline: str) -> None:
    (step,) = explain(_pair(before, after))
    assert step.headline() == headline


def test_arguments_of_a_newer_tlc_stand_for_themselves() -> None:
    steps = (_step(None, "pc = (t1 :> 0)"), _step("Act", "pc = (t1 :> 1)", "(t1)"))
    (step,) = explain(Counterexample(steps=steps))
    assert step.headline() == "2. Act(t1)"


def test_the_whole_story() -> None:
    story = Counterexample(
        steps=(_step(None, "n = 0"), _step("Up", "n = 1"), _step("Stay", "n = 1")),
        back_to=2,
        back_action="Down",
    )
    assert explain_text(story).splitlines() == [
        "1. initially",
        "     n = 0",
        "2. Up",
        "     n: 0 -> 1",
        "3. Stay",
        "     nothing changes",
        "then back to state 2 by Down, and so on for ever",
    ]


def test_stuttering() -> None:
    story = Counterexample(steps=(_step(None, "n = 0"),), stutters=True)
    assert explain_text(story).splitlines()[-1] == "then nothing happens any more, for ever"
