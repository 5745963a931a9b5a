"""Runs the verb `tlc` as the program does."""

import argparse

from wheelproof_spec.app.verbs import tlc
from wheelproof_spec.app.verbs.declaring import Verbs


def run_verb(*arguments: str) -> int:
    parser = argparse.ArgumentParser()
    tlc.register(Verbs(parser))
    return tlc.run(parser.parse_args(["tlc", *arguments]))
