"""Serving a timer in Python as a driver."""

import io
import subprocess

import pytest

from support.drive.commands import REFERENCE
from wheelproof_spec.base.errors import InputRejectedError
from wheelproof_spec.base.results.verdicts import ExitCode
from wheelproof_spec.components.timer.component import DEFINITION
from wheelproof_spec.components.timer.reference import ReferenceTimerPort
from wheelproof_spec.drive.driver.serve import serve, served

RESET = '{"id":1,"op":"reset","component":"timer","config":%s}'


def answers_to(*requests: str) -> list[str]:
    """Return the reference's answers, line by line."""
    written = io.BytesIO()
    serve(
        [served(DEFINITION, ReferenceTimerPort())],
        implementation="reference",
        version="9",
        requests=io.BytesIO("".join(f"{request}\n" for request in requests).encode()),
        answers=written,
    )
    return written.getvalue().decode().splitlines()


def test_a_conversation() -> None:
    assert answers_to(
        '{"id":1,"op":"hello","schema":"wheelproof.driver/1"}',
        '{"id":2,"op":"reset","component":"timer",'
        '"config":{"tick_ms":10,"wheel_size":4,"start_ms":5}}',
        '{"id":3,"op":"add","args":{"task":"\u00e4","delay_ms":20}}',
        '{"id":4,"op":"size"}',
        '{"id":5,"op":"advance","args":{"to_ms":20}}',
        '{"id":6,"op":"cancel","args":{"task":"\u00e4"}}',
        '{"id":7,"op":"bye"}',
        "what follows is not read",
    ) == [
        '{"id":1,"ok":{"impl":"reference","version":"9","components":["timer"],'
        '"capabilities":["virtual_time"],"profiles":{"timer":"kafka"}}}',
        '{"id":2,"ok":{}}',
        '{"id":3,"ok":{"fired":[]}}',
        '{"id":4,"ok":{"fired":[],"size":1}}',
        '{"id":5,"ok":{"fired":["\\u00e4"]}}',
        '{"id":6,"ok":{"fired":[],"cancelled":false}}',
        '{"id":7,"ok":{}}',
    ]


@pytest.mark.parametrize(
    ("request_line", "kind"),
    [
        ('{"id":1,"op":"hello","schema":"wheelproof.driver/2"}', "UnsupportedSchema"),
        (
            '{"id":1,"op":"reset","component":"carburettor",'
            '"config":{"tick_ms":1,"wheel_size":2,"start_ms":0}}',
            "UnsupportedComponent",
        ),
        (RESET % '{"tick_ms":0,"wheel_size":2,"start_ms":0}', "IllegalArgument"),
        (RESET % '{"tick_ms":1,"wheel_size":2,"start_ms":-1}', "IllegalArgument"),
        (f'{{"id":1,"op":"add","args":{{"task":"a","delay_ms":{2**63}}}}}', "IllegalArgument"),
        ('{"id":1,"op":"advance","args":{"to_ms":-1}}', "IllegalArgument"),
    ],
)
def test_what_is_outside_the_domain_is_refused(request_line: str, kind: str) -> None:
    (answer,) = answers_to(request_line)
    assert answer.startswith(f'{{"id":1,"error":{{"kind":"{kind}","message":"')


def test_a_line_that_is_no_request_is_rejected_with_its_number() -> None:
    with pytest.raises(InputRejectedError, match="requests:2: the line asks for the unknown op"):
        answers_to('{"id":1,"op":"size"}', '{"id":2,"op":"sizes"}')


def test_the_reference_driver_ends_with_a_sentence() -> None:
    ended = subprocess.run(
        REFERENCE.split(), input="nonsense\n", capture_output=True, text=True, check=False
    )
    assert ended.returncode == ExitCode.INPUT_REJECTED
    assert ended.stderr.startswith("reference driver: requests:1: the line is not JSON: ")
    assert ended.stdout == ""
