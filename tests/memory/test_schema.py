"""The typed form, its policy and the migration there and back (rule M5)."""

from __future__ import annotations

import time
from datetime import date, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from qterm.memory.entries import decode, parse, serialise
from qterm.memory.policies.registry import stray_ticks
from qterm.memory.proposal import Action
from qterm.memory.schema import (
    MOST_READ,
    SchemaEntry,
    inspect,
    read_schema,
    to_schema,
    to_tags,
    why_not,
    write_schema,
)
from qterm.memory.tags import Kind, Priority, tag_of
from tests.memory.cases import (
    FIRST_RUN,
    MEMORY,
    SETTINGS,
    TAGGED,
    TEXTS,
    TODAY,
    UNTAGGED,
    entries_of,
    indices,
    planned,
    reasons,
    ticks,
)

RULE = "type: rule\npriority: p1\nexpires: never\ncontent: Never push on a Friday"


def typed(priority: str, expires: date | str = "never", content: str = "Tea is at four") -> str:
    return f"type: task\npriority: {priority}\nexpires: {expires}\ncontent: {content}"


PAST, SOON = TODAY - timedelta(days=1), TODAY + timedelta(days=1)


def test_the_first_run_after_migrate() -> None:
    migration = to_schema(TAGGED, SETTINGS)
    assert all(step.changed for step in migration.steps)
    proposal = planned("schema", migration.entries)
    assert indices(proposal, Action.PRUNE) == FIRST_RUN["schema_prunes_after_migrate"]
    assert to_tags(migration.entries).entries == TAGGED
    untagged = planned("schema", to_schema(UNTAGGED, SETTINGS).entries)
    assert indices(untagged, Action.PRUNE) == FIRST_RUN["schema_untagged_prunes"]
    assert set(reasons(untagged)) == {"not typed: never pruned"}


@pytest.mark.parametrize(
    ("entry", "action", "reason"),
    [
        (typed("p1"), Action.KEEP, "p1: always kept"),
        (typed("p1", TODAY), Action.KEEP, "p1: always kept"),
        (typed("p1", PAST), Action.OFFER, "p1: expired on 2026-11-29, tick to prune"),
        (typed("p2"), Action.KEEP, "p2: kept, expires never"),
        (typed("p2", TODAY), Action.KEEP, "p2: kept, expires 2026-11-30"),
        (typed("p2", PAST), Action.PRUNE, "p2: expired on 2026-11-29"),
        (typed("p3", SOON), Action.PRUNE, "p3: passing state"),
        (typed("p4"), Action.KEEP, "not typed, “priority” must be p1, p2 or p3: never pruned"),
        (
            "[P3] tea",
            Action.KEEP,
            "tagged P3, not typed: never pruned here (`qterm memory migrate --to schema` types it)",
        ),
        ("tea", Action.KEEP, "not typed: never pruned"),
    ],
)
def test_each_rule_of_the_policy(entry: str, action: Action, reason: str) -> None:
    proposal = planned("schema", [entry])
    assert [(d.action, d.reason) for d in proposal.decisions] == [(action, reason)]
    assert bool(proposal.going) is (action is Action.PRUNE)


def test_over_the_limit_p2_is_offered_oldest_first_until_it_fits() -> None:
    entries = [typed("p1"), typed("p2", SOON), typed("p2", SOON), typed("p3"), typed("p1", PAST)]
    size = len(serialise([*entries[:3], entries[4]]))
    assert indices(planned("schema", entries, limit=size), Action.OFFER) == [4]
    over = planned("schema", entries, limit=size - 1)
    assert indices(over, Action.OFFER) == [1, 4]
    assert reasons(over)[1] == f"p2: still over the limit ({size} of {size - 1})"
    assert indices(planned("schema", entries, limit=None), Action.OFFER) == [4]
    # the offers don't depend on their ticks, but on an unticked prune they do
    ticked = planned("schema", entries, limit=size - 1, on=[1, 4])
    assert indices(ticked, Action.OFFER) == [1, 4]
    assert [decision.index for decision in ticked.going] == [1, 3, 4]
    assert indices(planned("schema", entries, limit=size, off=[3]), Action.OFFER) == [1, 4]
    assert stray_ticks(over, ticks([0, 1, 2])) == [(MEMORY, 0), (MEMORY, 2)]


@pytest.mark.parametrize(
    ("entry", "why"),
    [
        ("type: rule\npriority: p1", "“expires” is missing"),
        (f"{RULE}\nnote: x", "“note” is no key of it"),
        (f"type: rule\n{RULE}", "“type” stands there twice"),
        (RULE.replace("rule", "law"), "“type” must be one of"),
        (RULE.replace("p1", "P1"), "“priority” must be p1, p2 or p3"),
        (RULE.replace("never", "2026-02-30"), "“expires” is no day of the calendar"),
        (RULE.replace("never", "2026-02-03 10:00"), "“expires” must be a day"),
        (RULE.replace("never", "soon"), "“expires” must be a day"),
        (typed("p1", content="42"), "“content” is no text for YAML"),
        (typed("p1", content="true"), "“content” is no text for YAML"),
        (typed("p1", content=""), "“content” is no text for YAML"),
        (typed("p1", content="[a, b]"), "not a mapping of plain texts"),
        (typed("p1", content="{a: b}"), "not a mapping of plain texts"),
        (typed("p1", content="[" * 9_000), "not a mapping of plain texts"),
        (typed("p1", content="'a"), "no valid YAML"),
        (typed("p1", content='"\\UFFFFFFFF"'), "no valid YAML"),
        (typed("p1", content="a\x00"), "no valid YAML"),
        (typed("&x p1", content="*x"), "an anchor or alias"),
        (typed("!!python/name:os.system p1"), "a YAML tag"),
        (f"{RULE}\n---\n{RULE}", "more than one YAML document"),
        (f"{RULE}\n...\n%YAML 1.1\n---\na", "a YAML directive in it"),
        (typed("p1", content="x" * MOST_READ), "longer than 50,000 characters"),
    ],
)
def test_what_only_looks_like_the_form_is_kept_and_pointed_at(entry: str, why: str) -> None:
    assert read_schema(entry) is None
    assert why in (why_not(entry) or "")
    proposal = planned("schema", [entry])
    assert not proposal.going
    assert why in reasons(proposal)[0]


@pytest.mark.parametrize(
    "entry", ["tea", "content: see the wiki", "type: [", "{a}", "---", "'x'", "[P1] type: rule", ""]
)
def test_what_does_not_look_like_it_is_not(entry: str) -> None:
    assert inspect(entry) is None
    assert why_not(entry) is None


@pytest.mark.parametrize(
    "entry",
    [
        RULE,
        '{type: rule, priority: p1, expires: never, content: "Never push on a Friday"}',
        "---\ncontent: Never push on a Friday\nexpires: never\npriority: 'p1'\n\"type\": rule",
        RULE.replace("content: Never", "content: >-\n  Never\n "),
        f"{RULE}  # ours",
    ],
)
def test_any_yaml_of_that_shape_is_read(entry: str) -> None:
    assert read_schema(entry) == SchemaEntry(Kind.RULE, Priority.P1, None, "Never push on a Friday")


def test_the_quick_way_reads_as_yaml_does() -> None:
    from qterm.memory import schema

    for content in ("two words", "so a, b; (c) it's 5/6 - x+y", "a b.", "null and void"):
        quick = schema._plain(typed("p2", SOON, content))
        assert quick is not None
        assert quick == schema._read(typed("p2", SOON, content))
    for content in ("null", "a: b", "a #b", "a b ", "a\tb", "- a", "a b\nc: d", "a  b"):
        quick = schema._plain(typed("p2", SOON, content))
        assert quick is None or quick == schema._read(typed("p2", SOON, content))


@settings(max_examples=150, deadline=None)
@given(st.text("aZ5 ,.;()/+'-:#\n", max_size=12))
def test_the_quick_way_never_reads_anything_else(content: str) -> None:
    from qterm.memory import schema

    entry = typed("p2", SOON, content)
    if (quick := schema._plain(entry)) is not None:
        assert quick == schema._read(entry)


@settings(max_examples=150, deadline=None)
@given(st.sampled_from(Kind), st.sampled_from(Priority), st.one_of(st.none(), st.dates()), TEXTS)
def test_what_is_written_reads_back_exactly(
    kind: Kind, priority: Priority, expires: date | None, content: str
) -> None:
    wanted = SchemaEntry(kind, priority, expires, content)
    text = write_schema(wanted)
    assert text is not None
    assert read_schema(text) == wanted
    assert parse(decode(text.encode())) == (text,)
    assert "\x1b" not in text.replace(content, "")


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ("See § 4.2", "See § 4.2"),
        ("a\n\n  b", "|-\n  a\n\n    b"),
        ("a\n§\nb", "|-\n  a\n  §\n  b"),
        ("a: b", '"a: b"'),
        ("\x1b[31m", '"\\u001b[31m"'),
        ("a\u2028b", '"a\\u2028b"'),
        ("😀", "😀"),
    ],
)
def test_the_form_stays_readable(content: str, text: str) -> None:
    written = write_schema(SchemaEntry(Kind.TASK, Priority.P3, None, content))
    assert written == f"type: task\npriority: p3\nexpires: never\ncontent: {text}"


def test_half_a_character_is_not_written() -> None:
    assert write_schema(SchemaEntry(Kind.TASK, Priority.P3, None, "\ud800")) is None
    step = to_schema(["[P1] \ud800"], SETTINGS).steps[0]
    assert not step.changed
    assert step.sentence.startswith("stays tagged: this text can't be written")


def _file(texts: list[tuple[str, str, str]]) -> list[str]:
    joined = serialise([tag + behind + text for tag, behind, text in texts])
    return list(parse(decode(joined.encode())))


@settings(max_examples=150, deadline=None)
@given(
    st.lists(
        st.tuples(
            st.sampled_from(["[P1]", "[P2]", "[P3]", "", "[p1]"]),
            st.sampled_from([" ", "\n", "\t", "  ", " \n", "\xa0", "\u2028", ""]),
            TEXTS,
        ),
        max_size=4,
    ).map(_file)
)
def test_tags_to_schema_to_tags_gives_exactly_the_same(entries: list[str]) -> None:
    there = to_schema(entries, SETTINGS)
    for step in there.steps:
        if tag_of(step.before) is None:
            assert not step.changed
        else:
            assert step.changed, step
    assert parse(decode(serialise(there.entries).encode())) == there.entries
    back = to_tags(there.entries)
    assert list(back.entries) == entries
    assert there.cost == len(serialise(there.entries)) - len(serialise(entries)) == -back.cost


@pytest.mark.parametrize("name", ["multi-line.md", "sign-in-line.md", "sole-sign.md"])
def test_measured_files_come_back(name: str) -> None:
    entries = entries_of(name)
    assert to_tags(to_schema(entries, SETTINGS).entries).entries == entries


def test_going_back_lists_what_is_lost() -> None:
    steps = to_tags([typed("p2", SOON), RULE, "tea", typed("p9")]).steps
    assert steps[0].after == "[P2] Tea is at four"
    assert steps[0].lost == ("type task", "expires 2026-12-01")
    assert steps[1].lost == ("type rule",)
    assert steps[1].cost == len("[P1] Never push on a Friday") - len(RULE)
    assert [step.sentence for step in steps[2:]] == [
        "stays: not in this form",
        "stays: “priority” must be p1, p2 or p3",
    ]
    assert not any(step.changed or step.lost for step in steps[2:])


@pytest.mark.parametrize(
    "content", ['"tea "', '"a\\r"', '"a\\rb"', '"a\\n§\\nb"', '"\\ud800"', '"x\\n§"']
)
def test_a_text_that_hermes_would_change_stays_typed(content: str) -> None:
    step = to_tags([typed("p1", content=content), "tea"]).steps[0]
    assert not step.changed
    assert step.sentence.startswith("stays in this form: as a tagged entry, ")


def test_a_lone_sign_at_the_end_of_the_file_is_no_trouble() -> None:
    last = typed("p1", content='"x\\n§"')
    assert to_tags(["tea", last]).entries == ("tea", "[P1] x\n§")


def test_what_is_pruned_anyway_is_not_counted_on_to_make_room() -> None:
    entries = [typed("p2", PAST), typed("p2", SOON), typed("p2", SOON)]
    left = len(serialise(entries[1:]))
    assert indices(planned("schema", entries, limit=left - 1), Action.OFFER) == [1]


def test_the_type_is_that_of_the_suggestion() -> None:
    entries = ["[P1] Team meets at ten", "[P1] Soup", "[P2] Soup", "[P3] Soup", "[P3] Likes soup"]
    kinds = [
        read.type for entry in to_schema(entries, SETTINGS).entries if (read := read_schema(entry))
    ]
    assert kinds == [Kind.TEAM, Kind.RULE, Kind.PREFERENCE, Kind.TASK, Kind.PREFERENCE]


def test_a_text_too_long_for_the_form_stays_tagged() -> None:
    step = to_schema(["[P1] " + "tea " * 10_000 + "end"], SETTINGS).steps[0]
    assert not step.changed
    assert "longer than" in step.sentence


def test_plain_entries_cost_next_to_nothing() -> None:
    entries = [f"Build {number}: the type of soup" for number in range(50_000)]
    start = time.perf_counter()
    proposal = planned("schema", entries)
    assert time.perf_counter() - start < 5  # a YAML parser would take some twenty
    assert not proposal.has_work


def test_plain_entries_never_meet_the_yaml_parser(monkeypatch: pytest.MonkeyPatch) -> None:
    from qterm.memory import schema

    def never(*_arguments: object) -> None:
        raise AssertionError("read as YAML")

    monkeypatch.setattr(schema, "read_mapping", never)
    planned("schema", [*TAGGED, *UNTAGGED, "content: see the wiki", RULE, "{x}", "x" * 10**7])
