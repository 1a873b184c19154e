"""The chat frame: rule F1."""

from __future__ import annotations

import pytest

from qterm.frame import ChatFrame, FrameError, decode, encode


def test_a_home_frame() -> None:
    frame = decode('{"t":"chat","taskId":null,"text":"hi"}')
    assert frame == ChatFrame(text="hi")
    assert frame.given_context is None
    assert encode(frame) == b'{"t":"chat","text":"hi","taskId":null}'


@pytest.mark.parametrize(
    ("field", "given"), [('"as it is"', "as it is"), ('""', ""), ("null", None)]
)
def test_a_given_context(field: str, given: str | None) -> None:
    """Absent (or null): made here; given: as it is; empty: none."""
    assert (
        decode(f'{{"t":"chat","taskId":null,"text":"hi","context":{field}}}').given_context == given
    )


@pytest.mark.parametrize("context", ['"mine"', "5", "null", '{"a":1}'])
def test_on_a_task_the_context_is_ignored(context: str) -> None:
    frame = decode(f'{{"t":"chat","taskId":"7f3kq2ma","text":"hi","context":{context}}}')
    assert (frame.task_id, frame.given_context) == ("7f3kq2ma", "")


def test_unknown_fields_are_ignored() -> None:
    assert decode('{"t":"chat","taskId":null,"text":"hi","later":[1]}').text == "hi"


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"{}",
        b'{"t":"chat"}',
        b'{"t":"chat","text":1}',
        b'{"t":"other","text":"x"}',
        b'{"t":"chat","text":"x","context":5}',
        b'{"t":"chat","text":"\xff"}',
        b"[]",
    ],
)
def test_what_is_no_frame(data: bytes) -> None:
    with pytest.raises(FrameError, match=r"^Not a chat frame: "):
        decode(data)
