"""Whether a home has a model, told from its files alone."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from qterm.hermes.model_state import ModelState, model_reachable, model_state
from qterm.rehearsal.model_server import ModelServer


def look(home: Path, config: str = "", **environ: str) -> ModelState:
    if config:
        (home / "config.yaml").write_text(config)
    return model_state(home, {"HOME": str(home), **environ})


def test_a_missing_home_and_an_empty_one_have_no_model(tmp_path: Path) -> None:
    for home in (tmp_path / "missing", tmp_path):
        state = look(home)
        assert not state.is_set
        assert "hermes setup" in state.sentence
    assert list(tmp_path.iterdir()) == []


def test_a_model_in_the_config(tmp_path: Path) -> None:
    state = look(
        tmp_path,
        "model:\n  default: mock-1\n  provider: custom\n  base_url: http://127.0.0.1:1/v1\n",
    )
    assert (state.is_set, state.model, state.provider) == (True, "mock-1", "custom")
    assert state.base_url == "http://127.0.0.1:1/v1"


@pytest.mark.parametrize("config", ["model: some/model\n", "model:\n  default: m\n", "[]\n", "3\n"])
def test_a_model_without_a_provider_is_none(tmp_path: Path, config: str) -> None:
    assert not look(tmp_path, config).is_set


@pytest.mark.parametrize(
    "config", ["model: [\n", "model: {default: \n", "\x00", "a: &a [*a, *b]\n", "{" * 1_000]
)
def test_a_broken_config_is_a_sentence(tmp_path: Path, config: str) -> None:
    state = look(tmp_path, config)
    assert not state.is_set
    assert str(tmp_path / "config.yaml") in state.sentence
    assert "\n" not in state.sentence


def test_a_config_that_is_no_text_or_no_file(tmp_path: Path) -> None:
    (tmp_path / "config.yaml").write_bytes(b"model: \xff\xfe\n")
    assert "not UTF-8" in look(tmp_path).sentence
    (tmp_path / "config.yaml").unlink()
    (tmp_path / "config.yaml").mkdir()
    assert "can't be read" in look(tmp_path).sentence


def test_a_key_in_the_environment_or_in_dotenv(tmp_path: Path) -> None:
    assert look(tmp_path, OPENROUTER_API_KEY="k").is_set
    assert not look(tmp_path, OPENROUTER_API_KEY="").is_set
    (tmp_path / ".env").write_text("# OPENAI_API_KEY=x\nOPENAI_API_KEY=''\nOTHER=1\n")
    assert not look(tmp_path).is_set
    (tmp_path / ".env").write_text("\ufeffexport OPENAI_API_KEY='k'\n")
    assert look(tmp_path).is_set


def test_a_sign_in(tmp_path: Path) -> None:
    (tmp_path / "auth.json").write_text('{"active_provider": null}')
    assert not look(tmp_path).is_set
    (tmp_path / "auth.json").write_text('{"active_provider": "nous"}')
    assert look(tmp_path).is_set
    (tmp_path / "auth.json").write_text("{broken")
    assert not look(tmp_path).is_set


async def test_a_model_that_answers() -> None:
    with ModelServer() as server:
        reachable, sentence = await model_reachable(ModelState(True, base_url=server.base_url))
    assert reachable is True
    assert server.base_url in sentence


async def test_a_model_that_does_not() -> None:
    with ModelServer() as server:
        gone = server.base_url
    reachable, sentence = await model_reachable(ModelState(True, base_url=gone))
    assert reachable is False
    assert gone in sentence
    for broken in ("no address", "http://[broken", "ftp://x"):
        assert (await model_reachable(ModelState(True, base_url=broken)))[0] is False


async def test_no_address_is_nothing_to_ask() -> None:
    assert (await model_reachable(ModelState(True)))[0] is None


def test_pipes_in_the_home_are_not_waited_for(tmp_path: Path) -> None:
    """A password manager may put a pipe where the .env is."""
    for name in ("config.yaml", ".env", "auth.json"):
        os.mkfifo(tmp_path / name)
    assert not look(tmp_path).is_set
