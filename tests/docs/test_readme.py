"""What README says in passing: exit codes, extras, targets, how much is run, which Kafka."""

import re

from support.checkout import ROOT
from wheelproof_lab.publish.main_job.job import DEMO_RUNS
from wheelproof_spec.app.cli import build_parser
from wheelproof_spec.base.needs import EXTRAS

_README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_exit_codes_are_those_of_the_help() -> None:
    epilog = build_parser([]).epilog
    assert epilog is not None
    assert " ".join(epilog.split()) in _README


def test_extras_are_those_that_there_are() -> None:
    named = re.search(r"extras for the engines: (.*?)\.", _README)
    assert named is not None
    assert set(re.findall(r"`(\w+)`", named[1])) == {extra.name for extra in EXTRAS}


def test_the_main_job_is_as_large_as_it_says() -> None:
    assert f"{DEMO_RUNS:,} recorded runs judged on Spark" in _README


def test_kafka_is_the_one_that_is_judged() -> None:
    pom = (ROOT / "adapters/kafka-java/pom.xml").read_text(encoding="utf-8")
    versions = re.findall(r"Apache Kafka (\d+\.\d+\.\d+)", _README)
    assert versions
    assert all(f">{version}<" in pom for version in versions)


def test_targets_of_make_are_verbs() -> None:
    targets = set(re.findall(r"^make ([\w-]+)|`make ([\w-]+)`", _README, re.MULTILINE))
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for target in filter(None, (name for pair in targets for name in pair)):
        assert f" {target}" in makefile


def test_its_picture_can_be_read_on_a_phone_and_in_the_dark() -> None:
    (name,) = re.findall(r"!\[[^]]*\]\(([^)]+\.svg)\)", _README)
    picture = (ROOT / name).read_text(encoding="utf-8")
    width = re.search(r'viewBox="0 0 (\d+) ', picture)
    letters = re.search(r"text { font: (\d+)px", picture)
    assert width is not None
    assert letters is not None
    # A phone of 390 pixels leaves 358 for a picture: letters have to keep 10.
    assert int(letters[1]) * min(358 / int(width[1]), 1) >= 10
    lines = re.findall(r'x="(\d+)"[^>]*>([^<]*)</text>', picture)
    wide = [text for x, text in lines if int(x) + 7.3 * len(text) > int(width[1])]
    assert (wide, "prefers-color-scheme: dark" in picture) == ([], True)
