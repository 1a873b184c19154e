"""`qterm memory`: a saved plan is printed whole first; a file over its limit is named."""

from __future__ import annotations

from pathlib import Path

from tests.cli.conftest import Qterm


def test_a_saved_plan_is_printed_whole_first(
    qterm: Qterm, tmp_path: Path, environ: dict[str, str]
) -> None:
    home = tmp_path / "hermes"
    (home / "memories").mkdir(parents=True)
    environ["HERMES_HOME"] = str(home)
    memory = home / "memories" / "MEMORY.md"
    memory.write_text("[P1] core\n§\n[P3] a first line\nand a second\n§\nno tag")
    plan = str(tmp_path / "plan.json")
    qterm("memory", "plan", "-o", plan)
    done = qterm("memory", "apply", plan)
    assert done.code == 0
    shown, _, report = done.out.partition("Written: ")
    assert report
    for text in ("Policy: tags", "P3: passing state", "a first line", "and a second", "no tag"):
        assert text in shown
    memory.write_text("[P1] core\n§\n[P3] another")
    qterm("memory", "plan", "-o", plan)
    made, written = qterm("memory", "apply", plan, "--json").json_lines
    assert [each["text"] for each in made["entries"]] == ["[P1] core", "[P3] another"]
    assert written["written"][0]["path"] == str(memory)


def test_a_file_that_is_written_over_its_limit_is_named(
    qterm: Qterm, tmp_path: Path, environ: dict[str, str]
) -> None:
    home = tmp_path / "hermes"
    home.mkdir()
    (home / "config.yaml").write_text("memory: {memory_char_limit: 10}")
    environ["HERMES_HOME"] = str(home)
    assert qterm("memory", "add", "a" * 10).err == ""
    assert "over its limit (14 of 10 characters)" in qterm("memory", "add", "b").err
