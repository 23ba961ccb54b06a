"""Runs the mount helper as a child process, because a process cannot leave an environment's namespaces once it has
entered them."""

import asyncio
import contextlib
import json

from gpuaas.engines.base import EngineError
from gpuaas.engines.node import commands
from gpuaas.engines.storage import attaching

ANSWER_SECONDS = 60.0


async def ask(order: dict[str, object]) -> dict[str, object]:
    with commands.given(json.dumps(order)) as stdin:
        process = await asyncio.create_subprocess_exec(
            *commands.ours(attaching.__file__),
            env=commands.FOR_OURS,
            stdin=stdin,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
    try:
        async with asyncio.timeout(ANSWER_SECONDS):
            said, wrong = await process.communicate()
    except asyncio.CancelledError:
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        raise
    except TimeoutError as error:
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        raise EngineError("the storage does not answer", f"{order['verb']} took over {ANSWER_SECONDS:.0f} s") from error
    if not said:
        raise EngineError("the node could not mount the volume", wrong.decode(errors="replace")[-500:])
    answer: dict[str, object] = json.loads(said)
    if "refused" in answer:
        raise EngineError(str(answer["refused"]), "refused by the node")
    if "failed" in answer:
        raise EngineError("the node could not do it", str(answer["failed"]))
    return answer
