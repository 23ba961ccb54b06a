"""A command tried once in the root that a person would see, with a person's rights and no network at all.

Started by `unshare` and ended with it; orders come as a line on standard input. Standard library only.
"""

import json
import os
import sys
from typing import Any

from gpuaas.engines.sandbox import init, kernel, rootview


def main() -> None:
    orders: dict[str, Any] = json.loads(sys.stdin.buffer.readline())
    rootview.build(
        orders["view"],
        orders["folder"],
        etc=orders["etc"],
        hide=orders["hide"],
        uid=orders["uid"],
        owner=orders["owner"],
        shm_mib=256,
        platform=orders["platform"],
    )
    if orders["maps"]:
        init.enter_user_namespace(orders["maps"])
    init.forbid_user_namespaces()
    kernel.empty_bounding_set()
    if os.getuid() != orders["uid"]:
        os.setgroups([])
        os.setresgid(orders["uid"], orders["uid"], orders["uid"])
        os.setresuid(orders["uid"], orders["uid"], orders["uid"])
    kernel.give_up_privileges(())
    os.chdir(orders["environment"]["HOME"])
    os.execve(orders["argv"][0], orders["argv"], orders["environment"])  # noqa: S606 (the operator's recipe, caged)


if __name__ == "__main__":
    main()
