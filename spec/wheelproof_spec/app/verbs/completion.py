"""The verb `completion`: prints a script that completes the words of `wheelproof` in a shell."""

import argparse
import shlex
from collections.abc import Iterator, Mapping, Sequence
from typing import cast

from wheelproof_spec.app.verbs.declaring import Verbs
from wheelproof_spec.base.results.verdicts import ExitCode

_SCRIPT = """_wheelproof() {{
    local words="" before="${{COMP_WORDS[COMP_CWORD - 1]}}"
    case "${{COMP_WORDS[*]:1:COMP_CWORD-1}} " in
{cases}
    esac
    COMPREPLY=($(compgen -W "$words" -- "${{COMP_WORDS[COMP_CWORD]}}"))
}}
complete -o default -F _wheelproof wheelproof
"""
_IN_ZSH = "autoload -U +X bashcompinit && bashcompinit\n"


def register(verbs: Verbs) -> None:
    """Declare the verb."""
    verbs.own("completion", run)


def run(arguments: argparse.Namespace) -> int:
    """Print the script; `eval "$(wheelproof completion bash)"` turns it on."""
    from wheelproof_spec.app.cli import build_parser

    # The shell takes the first pattern that fits, so the longest path comes first.
    cases = dict(sorted(_cases("", build_parser()), reverse=True))
    script = _SCRIPT.format(cases="\n".join(cases.values()))
    print(_IN_ZSH + script if arguments.shell == "zsh" else script, end="")
    return ExitCode.PASS


def _cases(path: str, parser: argparse.ArgumentParser) -> Iterator[tuple[str, str]]:
    """Yield a case for each verb, with the words that lead to it."""
    words: list[str] = []
    after: list[str] = []
    for action in cast("list[argparse.Action]", vars(parser)["_actions"]):
        words += action.option_strings
        known = cast("Mapping[str, object] | Sequence[str] | None", action.choices)
        for name, verb in known.items() if isinstance(known, Mapping) else ():
            if isinstance(verb, argparse.ArgumentParser):
                yield from _cases(f"{path}{name} ", verb)
        if known is not None:
            choices = " ".join(map(shlex.quote, known))
            if action.option_strings:
                after.append(f'case "$before" in {"|".join(action.option_strings)}) ')
                after[-1] += f'words="{choices}";; esac'
            else:
                words.append(choices)
    listed = f'words="{" ".join(words)}"'
    pattern = f'"{path}"*' if path else "*"
    yield path, f"        {pattern}) {'; '.join([listed, *after])};;"
