"""Drains no-op jobs with one procrastinate worker and says how long that took: `python … JOBS CONNINFO`."""

import asyncio
import json
import sys
import time

from procrastinate import App, PsycopgConnector

JOBS, CONNINFO = int(sys.argv[1]), sys.argv[2]
app = App(connector=PsycopgConnector(conninfo=CONNINFO, min_size=4, max_size=20))


@app.task(name="noop")
async def noop() -> None:
    pass


async def main() -> None:
    async with app.open_async():
        if not await app.check_connection_async():
            await app.schema_manager.apply_schema_async()
        await noop.batch_defer_async(*({} for _ in range(JOBS)))
        began = time.monotonic()
        await app.run_worker_async(concurrency=20, wait=False, listen_notify=False, install_signal_handlers=False)
        print(json.dumps({"jobs": JOBS, "seconds": time.monotonic() - began, "left": 0}))


asyncio.run(main())
