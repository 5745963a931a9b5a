"""What a campaign is made of: ranges of seeds, targets by name, counts that add up."""

import argparse
import itertools
import random

import pytest

from wheelproof_spark.base.errors import PipelineError
from wheelproof_spark.campaign.ledger import CampaignManifest, Failure, TargetEntry
from wheelproof_spark.campaign.seed_ranges import joined, missing, seed_range, size
from wheelproof_spark.campaign.targets import find_target, selected_targets, targets_of_bug
from wheelproof_spec.base.errors import UsageError
from wheelproof_spec.components.registry import machines


def test_ranges_are_sets_of_seeds() -> None:
    chance = random.Random(1)
    for _ in range(300):
        done = {chance.randrange(12) for _ in range(chance.randrange(12))}
        first = chance.randrange(12)
        asked = first, first + chance.randrange(12)
        ranges = joined((seed, seed) for seed in done)
        assert size(ranges) == len(done)
        assert all(later[0] > last + 1 for (_, last), later in itertools.pairwise(ranges))
        left = [seed for start, end in missing(asked, ranges) for seed in range(start, end + 1)]
        assert left == [seed for seed in range(asked[0], asked[1] + 1) if seed not in done]


@pytest.mark.parametrize("text", ["5", "5..4", "-1..2", "a..b", f"0..{2**63}"])
def test_what_is_no_range_is_refused(text: str) -> None:
    with pytest.raises(argparse.ArgumentTypeError, match="no range of seeds"):
        seed_range(text)


def test_targets_have_names() -> None:
    targets = selected_targets(["*"], [])
    assert [find_target(target.name) for target in targets] == list(targets)
    usual = selected_targets([], [])
    assert all(target.repeats for target in usual)
    assert {f"fuzz/{name}/none" for name in machines()} <= {target.name for target in usual}
    assert not any("bug" in target.name for target in usual)


def test_a_known_bug_stands_for_the_targets_that_find_it() -> None:
    names = [target.name for target in targets_of_bug("test-then-submit")]
    assert names == ["fuzz/timer/none/test-then-submit", "explore/bug/test-then-submit"]
    with pytest.raises(UsageError, match="no known bug"):
        selected_targets([], ["no-such-bug"])
    with pytest.raises(UsageError, match=r"no target 'fuzz/abc'; there are: fuzz/timer/none"):
        selected_targets(["fuzz/abc"], [])


def test_counts_that_do_not_add_up_are_not_committed() -> None:
    entry = TargetEntry(done=[(0, 9)], passed=9, failed=1, failed_to_run=[12])
    manifest = CampaignManifest(meaning={}, targets={"t": entry})
    with pytest.raises(PipelineError, match="1 seeds fail without a rule"):
        manifest.counts()
    manifest.add_failure(Failure(target="t", rule="r", seed=3, seeds=1, repeat="again"))
    assert (manifest.counts().seeds, manifest.counts().done) == (11, 10)
    manifest.entry("t").add_done([12])
    with pytest.raises(PipelineError, match="11 seeds are done, but 9 pass and 1 fail"):
        manifest.counts()
    entry.passed = 10
    assert (entry.done, entry.failed_to_run) == ([(0, 9), (12, 12)], [])
    assert manifest.counts().failed_to_run == 0
