"""Runs the verb `tlc` as the program does."""

import argparse

from wheelproof_spec.app.verbs import tlc


def run_verb(*arguments: str) -> int:
    parser = argparse.ArgumentParser()
    tlc.declare(parser)
    return tlc.run(parser.parse_args(arguments))
