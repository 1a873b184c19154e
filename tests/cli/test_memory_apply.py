"""`qterm memory apply FILE`: a saved plan is printed whole before it is done (rule M2)."""

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
