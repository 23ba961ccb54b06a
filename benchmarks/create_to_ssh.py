from benchmarks.harness import Run


async def run(run: Run) -> None:
    pass
