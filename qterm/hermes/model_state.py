"""Whether a hermes home has a model: read from its files, without starting hermes."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from qterm.hermes.home_config import read_config
from qterm.private import read_bounded

# The variables in which hermes looks for a provider's key, on both lines; it counts any of them,
# in the environment or in the home's .env, as a provider that is set up.
PROVIDER_KEYS = frozenset(
    """
    ACTUAL_API_KEY AI_GATEWAY_API_KEY ALIBABA_CODING_PLAN_API_KEY ALIBABA_CODING_PLAN_CN_API_KEY
    ALIBABA_TOKEN_PLAN_API_KEY ALIBABA_TOKEN_PLAN_CN_API_KEY ANTHROPIC_API_KEY ANTHROPIC_TOKEN
    ARCEEAI_API_KEY AZURE_FOUNDRY_API_KEY CLAUDE_CODE_OAUTH_TOKEN COMMANDCODE_API_KEY
    COPILOT_GITHUB_TOKEN DASHSCOPE_API_KEY DEEPINFRA_API_KEY DEEPSEEK_API_KEY FIREWORKS_API_KEY
    GEMINI_API_KEY GH_TOKEN GITHUB_TOKEN GLM_API_KEY GMI_API_KEY GOOGLE_API_KEY HF_TOKEN
    KILOCODE_API_KEY KIMI_API_KEY KIMI_CN_API_KEY KIMI_CODING_API_KEY LM_API_KEY META_API_KEY
    META_MODEL_API_KEY MINIMAX_API_KEY MINIMAX_CN_API_KEY MODEL_API_KEY NEBIUS_API_KEY
    NEBIUS_TOKEN_FACTORY_API_KEY NOVITA_API_KEY NVIDIA_API_KEY OLLAMA_API_KEY OPENAI_API_KEY
    OPENAI_BASE_URL OPENCODE_GO_API_KEY OPENCODE_ZEN_API_KEY OPENROUTER_API_KEY
    RAMP_ROUTER_API_KEY ROUTER_API_KEY STEPFUN_API_KEY TOKENHUB_API_KEY TOKENPLAN_API_KEY
    UPSTAGE_API_KEY XAI_API_KEY XIAOMI_API_KEY ZAI_API_KEY Z_AI_API_KEY
    """.split()  # noqa: SIM905 - one key a line would be fifty lines
)
_LIMIT = 16 << 20
"""Bytes of a file of hermes's that are read; these are its own files, so there is room."""

_NONE = "hermes has no model yet: run `hermes setup`."


@dataclass(frozen=True, slots=True)
class ModelState:
    """What a home says about its model. `sentence` is for the operator, whatever was found."""

    is_set: bool
    model: str = ""
    provider: str = ""
    base_url: str = ""
    sentence: str = _NONE


def model_state(home: Path, environ: Mapping[str, str]) -> ModelState:
    """Look into the home's config.yaml, .env and auth.json the way hermes's own check does.

    Nothing is written and nothing is started. A file that can't be read becomes the sentence.
    """
    try:
        config = read_config(home)
    except (OSError, ValueError) as error:
        return ModelState(False, sentence=str(error))
    section = config.get("model")
    model, provider, base_url, api_key = _model(section)
    found_in = _provider_found(home, environ, provider or base_url or api_key, bool(model))
    if not found_in:
        return ModelState(False, model, provider, base_url)
    name = model or "the provider's own choice"
    by = f" by {provider}" if provider else ""
    return ModelState(True, model, provider, base_url, f"The model is {name}{by} ({found_in}).")


async def model_reachable(state: ModelState, *, seconds: float = 3.0) -> tuple[bool | None, str]:
    """Ask the model's address whether it is there; None when the config names no address.

    Any answer counts, also a refusal: only the way there is looked at. Comes with a sentence.
    It may take so many `seconds`.
    """
    if not state.base_url:
        return None, "hermes's config names no address of its own: nothing to ask."
    import httpx

    url = state.base_url.rstrip("/") + "/models"
    try:
        async with httpx.AsyncClient(timeout=seconds, follow_redirects=False) as client:
            answer = await client.get(url)
    except (httpx.HTTPError, httpx.InvalidURL, ValueError) as error:
        why = str(error) or type(error).__name__
        return False, (
            f"The model at {state.base_url} can't be reached ({why}): "
            "see whether it runs, or mend model.base_url in hermes's config."
        )
    return True, f"The model at {state.base_url} answers (HTTP {answer.status_code})."


def _model(section: object) -> tuple[str, str, str, str]:
    """Model, provider, address and key of the config's `model`, which may be a plain name."""
    if isinstance(section, str):
        return section.strip(), "", "", ""
    if not isinstance(section, dict):
        return "", "", "", ""
    name = section.get("default") or section.get("model") or ""
    if isinstance(name, dict):
        name = name.get("model") or name.get("default") or name.get("name") or ""
    others = (section.get(key) or "" for key in ("provider", "base_url", "api_key"))
    provider, base_url, api_key = (str(value).strip() for value in others)
    return str(name).strip(), provider, base_url, api_key


def _provider_found(
    home: Path, environ: Mapping[str, str], configured: str, has_model: bool
) -> str:
    """Where a provider was found, in a few words; empty when there is none."""
    for name in sorted(PROVIDER_KEYS):
        if environ.get(name):
            return f"a key in {name}"
    if _dotenv_has_key(home / ".env"):
        return f"a key in {home / '.env'}"
    if _signed_in(home / "auth.json"):
        return f"signed in, {home / 'auth.json'}"
    if configured:
        return str(home / "config.yaml")
    # hermes takes Claude Code's sign-in only where a model was chosen.
    claude = Path(environ.get("HOME") or Path.home()) / ".claude" / ".credentials.json"
    if has_model and claude.is_file():
        return f"signed in, {claude}"
    return ""


def _dotenv_has_key(path: Path) -> bool:
    try:
        lines = read_bounded(path, limit=_LIMIT).decode("utf-8-sig", "replace").splitlines()
    except OSError:
        return False
    for line in lines:
        name, equals, value = line.strip().removeprefix("export ").partition("=")
        if equals and name.strip() in PROVIDER_KEYS and value.strip().strip("'\""):
            return True
    return False


def _signed_in(path: Path) -> bool:
    try:
        found = json.loads(read_bounded(path, limit=_LIMIT).decode("utf-8-sig"))
    except (OSError, ValueError):
        return False
    return isinstance(found, dict) and bool(found.get("active_provider"))
