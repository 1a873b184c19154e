"""The hook's lines in hermes's config: what is put in, and that the old text comes out again."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from qterm.maintenance.hook_config import (
    EVENT,
    EditError,
    commands,
    load,
    others,
    ours,
    with_hook,
    without_hook,
)

COMMAND = "/opt/python -I -S '/opt/q term/qterm/maintenance/from_hook.py' --data-dir /tmp/ü"
CONFIGS = {
    "empty": "",
    "a comment": "# mine\n",
    "no hooks": "# mine\nmodel:\n  default: x  # why\n\n# the end\n",
    "no final newline": "model: x",
    "no hooks, blank lines": "model: x\n\n\n",
    "hooks empty": "model: x\nhooks: {}\nother: 1\n",
    "hooks null": "hooks:\nother: 1\n",
    "hooks null, said": "hooks: null  # none yet\nother: 1\n",
    "hooks only a comment": "hooks:   # my hooks\n  # none\nother: 1\n",
    "other event": "hooks:\n  pre_tool_call:\n    - command: /bin/guard  # keep\nother: 1\n",
    "same event": f"hooks:\n  {EVENT}:\n    - command: /bin/mine\n      timeout: 5\n\nother: 1\n",
    "same event, not indented": f"hooks:\n  {EVENT}:\n  - command: /bin/mine\n\n# end\n",
    "same event empty": f"hooks:\n  {EVENT}: []\n  pre_tool_call: []\n",
    "same event null": f"hooks:\n  {EVENT}:\nother: 1\n",
    "wide indent": f"hooks:\n      {EVENT}:\n          - command: /bin/mine\n",
    "quoted": '"hooks":\n  pre_tool_call:\n    - command: x\n',
    "crlf": "model: x\r\nhooks:\r\n  pre_tool_call:\r\n    - command: x\r\n",
    "at the end": "model: x\nhooks:\n  pre_tool_call:\n    - command: x",
    "a key of that name further in": "deep:\n  hooks:\n    post_llm_call: []\nhooks:\n  x: []\n",
    "text that looks so": "note: |\n  hooks:\n    post_llm_call:\nother: 1\n",
}
BY_HAND = {
    "flow": "hooks: {pre_tool_call: [{command: x}]}\n",
    "flow list": f"hooks:\n  {EVENT}: [{{command: x}}]\n",
    "an alias": "base: &b\n  pre_tool_call: []\nhooks: *b\n",
    "a word": "hooks: yes please\n",
    "a list": "hooks:\n  - command: x\n",
    "no mapping": "- a\n- b\n",
    "broken": "hooks: [\n",
    "two documents": "a: 1\n---\nb: 2\n",
    "a tab": "hooks:\n\tx: 1\n",
    "a word for the event": f"hooks:\n  {EVENT}: nothing\n",
}
WHOLE = {  # nothing is broken in these: only qterm can't add lines to them
    "braces": "{}\n",
    "settings in braces": "{a: 1}\n",
    "indented": "  a: 1\n  b: 2\n",
    "an end of the document": "a: 1\n...\n",
    "braces below the key": "hooks:\n  {}\n",
    "line ends of old": "a: 1\rb: 2\r",
    "a long nest": f"a: {'[' * 3000}{']' * 3000}\n",
}


@pytest.mark.parametrize("name", CONFIGS)
def test_it_goes_in_and_out_again(name: str) -> None:
    text = CONFIGS[name]
    made = with_hook(text, COMMAND)
    found = load(made)
    assert ours(found) == [COMMAND]
    before: Any = load(text) or {}
    assert commands(found)[:-1] == commands(before)
    assert others(found) == others(before)
    rest = {key: value for key, value in found.items() if key != "hooks"}
    assert rest == {key: value for key, value in before.items() if key != "hooks"}
    for line in text.splitlines():
        assert line.partition(":")[0] in made  # comments and all
    assert with_hook(made, COMMAND) == made
    assert without_hook(made) == text
    assert without_hook(text) == text


@pytest.mark.parametrize("name", BY_HAND)
def test_what_cannot_be_added_to_is_left_alone(name: str) -> None:
    with pytest.raises(EditError) as refused:
        with_hook(BY_HAND[name], COMMAND)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("name", WHOLE)
def test_a_whole_config_is_not_called_broken(name: str) -> None:
    with pytest.raises(EditError) as refused:
        with_hook(WHOLE[name], COMMAND)
    assert "by hand" in str(refused.value)
    assert "broken" not in str(refused.value)
    assert without_hook(WHOLE[name]) == WHOLE[name]


def test_another_command_takes_the_place_of_the_old_one() -> None:
    made = with_hook(CONFIGS["same event"], COMMAND)
    other = COMMAND.replace("/opt/python", "/opt/python3")
    again = with_hook(made, other)
    assert ours(load(again)) == [other]
    assert without_hook(again) == CONFIGS["same event"]


def test_what_others_put_below_its_keys_stays() -> None:
    made = with_hook("model: x\n", COMMAND)
    theirs = made.rstrip("\n") + "\n    - command: /bin/theirs\n"
    out = without_hook(theirs)
    assert commands(load(out)) == ["/bin/theirs"]


UNMARKED = {  # what hermes or the operator made of it, and what is left of that
    "no marks": (
        "hooks:\n  post_llm_call:\n    - command: {ours}\nother: 1  # why\n",
        "other: 1  # why\n",
    ),
    "as hermes 0.19 writes it anew": (
        "model: x\nhooks:\n  post_llm_call:\n  - command: {folded}\n\nother: 1\n",
        "model: x\n\nother: 1\n",
    ),
    "at the end, without a newline": (
        "model: x\nhooks:\n  post_llm_call:\n    - command: {ours}",
        "model: x\n",
    ),
    "beside theirs": (
        "hooks:\n  post_llm_call:\n  - command: /a # a\n  - command: {folded}\n"
        "    timeout: 5\n  # theirs\n  - command: /b\n",
        "hooks:\n  post_llm_call:\n  - command: /a # a\n  # theirs\n  - command: /b\n",
    ),
    "beside another event": (
        "hooks:\n  post_llm_call:\n  - command: {ours}\n  # guard\n  pre_tool_call:\n"
        "  - command: /b\n",
        "hooks:\n  # guard\n  pre_tool_call:\n  - command: /b\n",
    ),
    "keys with a comment": (
        "hooks:  # mine\n  # all of them\n  post_llm_call:\n    - command: {ours}\na: 1\n",
        "hooks:  # mine\n  # all of them\na: 1\n",
    ),
    "twice": (
        "a: 1\nhooks:\n  post_llm_call:\n"
        "  - command: {ours}\n  - timeout: 3\n    command: {ours}\n",
        "a: 1\n",
    ),
    "a setting below the mark": (
        "hooks:  # qterm-hook\n  post_llm_call:  # qterm-hook\n"
        "    - command: {ours}  # qterm-hook\n      timeout: 5\n",
        "",
    ),
    "crlf": (
        "a: 1\r\nhooks:\r\n  post_llm_call:\r\n    - command: {ours}\r\nb: 2\r\n",
        "a: 1\r\nb: 2\r\n",
    ),
}


@pytest.mark.parametrize("name", UNMARKED)
def test_an_entry_whose_marks_are_gone_is_found_by_its_program(name: str) -> None:
    given_text, left = UNMARKED[name]
    ours_here = COMMAND.replace("ü", "u")
    folded = ours_here.replace(" --data-dir", "\n      --data-dir")
    text = given_text.format(ours=ours_here, folded=folded)
    assert ours_here in ours(load(text))
    out = without_hook(text)
    assert ours(load(out)) == []
    assert out == left
    moved = COMMAND.replace("/opt/python", "/opt/python3")
    assert ours(load(with_hook(text, moved))) == [moved]


def test_an_entry_that_is_not_in_lines_of_its_own_is_for_the_operator() -> None:
    text = f"hooks: {{{EVENT}: [{{command: '/p qterm/maintenance/from_hook.py'}}], x: []}}\n"
    with pytest.raises(EditError, match="by hand"):
        without_hook(text)


KEYS = st.sampled_from(["model", "hooks", EVENT, "pre_tool_call", "memory", "x y"])
VALUES = st.recursive(
    st.one_of(st.none(), st.integers(), st.text("ab §#:'\"é", max_size=6)),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(KEYS, inner, max_size=3),
        st.lists(st.fixed_dictionaries({"command": st.text("ab /", min_size=1)}), max_size=2),
    ),
    max_leaves=8,
)


@settings(max_examples=300, deadline=None)
@given(st.dictionaries(KEYS, VALUES, max_size=4), st.booleans(), st.sampled_from(["\n", "\r\n"]))
def test_any_config_is_added_to_or_left_alone(
    config: dict[str, Any], is_flow: bool, end: str
) -> None:
    from io import StringIO

    from ruamel.yaml import YAML

    yaml = YAML()
    yaml.default_flow_style = is_flow
    out = StringIO()
    yaml.dump(config, out)
    text = f"# mine{end}" + out.getvalue().replace("\n", end)
    try:
        made = with_hook(text, COMMAND)
    except EditError:
        return
    assert ours(load(made)) == [COMMAND]
    assert without_hook(made) == text


@settings(max_examples=150, deadline=None)
@given(st.dictionaries(KEYS, VALUES, max_size=4))
def test_any_config_that_hermes_wrote_anew_loses_the_entry_alone(config: dict[str, Any]) -> None:
    from io import StringIO

    from ruamel.yaml import YAML

    yaml = YAML(typ="safe", pure=True)
    yaml.default_flow_style = False
    out = StringIO()
    yaml.dump(config, out)
    try:
        made = load(with_hook(out.getvalue(), COMMAND))
    except EditError:
        return
    out = StringIO()
    yaml.dump(made, out)
    left = load(without_hook(out.getvalue())) or {}
    assert commands(left) == commands(config)
    assert sorted(others(left)) == sorted(others(config))  # the dumper sorts the keys
    assert {key: left[key] for key in left if key != "hooks"} == {
        key: config[key] for key in config if key != "hooks"
    }
