"""A small model server on loopback that speaks the OpenAI chat API, with scripted answers.

What the model received is kept in `requests`: the only witness of what hermes really sends.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self


@dataclass(frozen=True, slots=True)
class Answer:
    """What the model does with one request.

    `chunks` are streamed with `delay` seconds before each. `status` other than 200 answers with
    `error` as an OpenAI error body. `tool` is a call: its name and its arguments. `cut` breaks the
    connection after the chunks, without an end. `prompt_tokens` is what the model says it read.
    """

    chunks: tuple[str, ...] = ("Hi.",)
    delay: float = 0.0
    status: int = 200
    error: str = ""
    tool: tuple[str, Mapping[str, Any]] | None = None
    cut: bool = False
    prompt_tokens: int = 10


Script = Callable[[dict[str, Any]], Answer]
"""Gets the request's JSON body, gives the answer."""


def user_text(request: Mapping[str, Any]) -> str:
    """The text of the last user message in a request, its parts joined."""
    for message in reversed(request.get("messages", [])):
        if message.get("role") == "user":
            return content_text(message.get("content"))
    return ""


def content_text(content: object) -> str:
    """A message's content as text, be it a string or a list of parts."""
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        return "".join(part.get("text", "") for part in content if isinstance(part, dict))
    return ""


@dataclass
class ModelServer:
    """Serves on 127.0.0.1 at a free port, in threads of its own; use it with `with`."""

    script: Script = lambda _request: Answer()
    requests: list[dict[str, Any]] = field(default_factory=list)

    def __enter__(self) -> Self:
        """Start serving."""
        owner: ModelServer = self

        class Handler(_Handler):
            server_owner = owner

        self._server = _Quiet(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._closing = threading.Event()
        self._thread = threading.Thread(
            target=self._server.serve_forever, args=(0.05,), name="model-server", daemon=True
        )
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Stop serving; calls under way are cut."""
        self._closing.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    @property
    def base_url(self) -> str:
        """What goes into hermes's config as `model.base_url`."""
        return f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    @property
    def turns(self) -> list[dict[str, Any]]:
        """The requests of turns: streamed ones (hermes makes others to name a session)."""
        return [request for request in self.requests if request.get("stream")]

    def pause(self, seconds: float) -> None:
        """Wait, but not beyond the server's end."""
        if seconds:
            self._closing.wait(seconds)


class _Quiet(ThreadingHTTPServer):
    """hermes breaks connections off when it is stopped; that is no fault to print."""

    def handle_error(self, request: object, client_address: object) -> None:
        """Say nothing: the screen is the operator's."""


class _Handler(BaseHTTPRequestHandler):
    server_owner: ModelServer
    protocol_version = "HTTP/1.1"

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Say nothing: the screen is the operator's."""

    def do_GET(self) -> None:
        if not self.path.rstrip("/").endswith("/models"):
            self._json(404, {"error": {"message": "not found"}})
            return
        self._json(200, {"object": "list", "data": [{"id": "mock-1", "object": "model"}]})

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        if not self.path.endswith("/chat/completions"):  # hermes asks which server this is
            self._json(404, {"error": {"message": "not found"}})
            return
        try:
            request = json.loads(body)
        except ValueError:
            self._json(400, {"error": {"message": "not JSON"}})
            return
        self.server_owner.requests.append(request)
        answer = self.server_owner.script(request)
        if answer.status != 200:
            self._json(answer.status, {"error": {"message": answer.error or "scripted error"}})
        elif request.get("stream"):
            try:
                self._stream(answer, request)
            except (BrokenPipeError, ConnectionResetError):
                self.close_connection = True
        else:
            for _ in answer.chunks:
                self.server_owner.pause(answer.delay)
            self._json(200, _completion(answer, request))

    def _json(self, status: int, body: object) -> None:
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def _stream(self, answer: Answer, request: Mapping[str, Any]) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        self.close_connection = True
        self._event(_delta(request, {"role": "assistant", "content": ""}))
        for chunk in answer.chunks:
            self.server_owner.pause(answer.delay)
            self._event(_delta(request, {"content": chunk}))
        if answer.cut:
            return
        if answer.tool is not None:
            self._event(_delta(request, {"tool_calls": [{"index": 0, **_call(answer.tool)}]}))
        end = _delta(request, {}, finish="tool_calls" if answer.tool else "stop")
        self._event(end | {"usage": _usage(answer)})
        self.wfile.write(b"data: [DONE]\n\n")

    def _event(self, body: object) -> None:
        self.wfile.write(b"data: " + json.dumps(body).encode() + b"\n\n")
        self.wfile.flush()


def _usage(answer: Answer) -> dict[str, int]:
    prompt = answer.prompt_tokens
    return {"prompt_tokens": prompt, "completion_tokens": 5, "total_tokens": prompt + 5}


def _call(tool: tuple[str, Mapping[str, Any]]) -> dict[str, Any]:
    name, arguments = tool
    call = {"name": name, "arguments": json.dumps(arguments)}
    return {"id": f"call-{time.monotonic_ns()}", "type": "function", "function": call}


def _delta(
    request: Mapping[str, Any], delta: Mapping[str, Any], finish: str | None = None
) -> dict[str, Any]:
    body: dict[str, Any] = {
        "id": "chatcmpl-1",
        "object": "chat.completion.chunk",
        "created": 1,
        "model": request.get("model", "mock-1"),
        "choices": [{"index": 0, "delta": dict(delta), "finish_reason": finish}],
    }
    return body


def _completion(answer: Answer, request: Mapping[str, Any]) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": "".join(answer.chunks)}
    if answer.tool is not None:
        message["tool_calls"] = [_call(answer.tool)]
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": request.get("model", "mock-1"),
        "choices": [
            {
                "index": 0,
                "message": message,
                "finish_reason": "tool_calls" if answer.tool else "stop",
            }
        ],
        "usage": _usage(answer),
    }
