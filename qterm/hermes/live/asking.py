"""The requests of one turn that stand until somebody answers them (rule A1)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from qterm.hermes.live import updates
from qterm.hermes.way import Answer, Approval, Approvals, Asked, AskedNoMore

_CANCELLED: dict[str, Any] = {"outcome": {"outcome": "cancelled"}}


def denial(params: object) -> dict[str, Any]:
    """The answer that allows nothing."""
    return _chosen(params, Answer.DENY)


@dataclass(slots=True)
class Asking:
    """Turns hermes's requests into events, and answers into hermes's options.

    `put` takes the events, `where` is the folder commands run in, `seconds` how long hermes waits.
    Where `approvals` is not ASK nobody is asked, and everything is denied.
    """

    approvals: Approvals
    put: Callable[[Asked | AskedNoMore], None]
    where: str
    seconds: float
    _standing: dict[str, tuple[Approval, asyncio.Future[Answer]]] = field(default_factory=dict)
    _count: int = 0
    _is_over: bool = False

    async def ask(self, params: object) -> dict[str, Any]:
        """Wait for an answer to this request; what hermes is told."""
        if self.approvals is not Approvals.ASK or self._is_over:
            return denial(params)
        self._count += 1
        name = str(self._count)  # hermes's own ids can come twice
        approval = updates.approval_of(params, id=name, where=self.where, seconds=self.seconds)
        if approval is None:
            return denial(params)
        answered: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()
        self._standing[name] = (approval, answered)
        self.put(Asked(approval))
        answer: Answer | None = None
        try:
            async with asyncio.timeout(self.seconds):
                answer = await answered
        except TimeoutError:
            pass
        finally:
            if self._standing.pop(name, None) is not None:
                self.put(AskedNoMore(name, answer))
        return denial(params) if answer is None else _chosen(params, answer)

    def answer(self, name: str, answer: Answer) -> bool:
        """Answer a request; False where it stands no more or does not take this answer."""
        approval, answered = self._standing.get(name, (None, None))
        if approval is None or answered is None or answered.done():
            return False
        if answer not in approval.answers:
            return False
        answered.set_result(answer)
        return True

    def end(self) -> None:
        """The turn is over: what stands is denied, and what comes later, too."""
        self._is_over = True
        for name, (_, answered) in list(self._standing.items()):
            del self._standing[name]
            if not answered.done():
                answered.set_result(Answer.DENY)
                self.put(AskedNoMore(name, None))
            else:
                self.put(AskedNoMore(name, answered.result()))


def _chosen(params: object, answer: Answer) -> dict[str, Any]:
    option = updates.option_for(params, answer)
    if option is None:
        return _CANCELLED
    return {"outcome": {"outcome": "selected", "optionId": option}}
