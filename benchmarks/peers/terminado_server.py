"""terminado as its documentation runs it: a shell for each socket."""

import asyncio
import sys

import tornado.web
from terminado.management import UniqueTermManager
from terminado.websocket import TermSocket


async def main(port: int) -> None:
    manager = UniqueTermManager(shell_command=["bash", "--noprofile", "--norc"])
    app = tornado.web.Application([(r"/websocket", TermSocket, {"term_manager": manager})])
    app.listen(port, "127.0.0.1")
    await asyncio.Event().wait()


asyncio.run(main(int(sys.argv[1])))
