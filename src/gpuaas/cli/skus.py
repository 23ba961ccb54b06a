"""`gpuaas skus`."""

from collections.abc import Iterator

import typer

from gpuaas.cli.connections import connected
from gpuaas.cli.output import Column, Output, OutputOption, show_json, show_rows
from gpuaas.cli.words import memory, money
from gpuaas.wire.capacity import Size, Sku

Offer = tuple[Sku, Size]


def command(ctx: typer.Context, output: OutputOption = Output.TABLE) -> None:
    """Show what can be had, its price and how many are free now.

    \b
    Examples:
      gpuaas skus
      gpuaas skus -o json
    """
    with connected(ctx) as client:
        skus = list(client.skus.list())
    if output is Output.JSON:
        show_json(skus)
        return
    columns: list[Column[Offer]] = [
        Column("Sku", lambda offer: offer[0].sku, may_shrink=True),
        Column("GPUs", lambda offer: offer[1].gpu_count, align="right"),
        Column("Size", lambda offer: offer[1].name, may_shrink=True),
        Column("vCPU", lambda offer: vcpus(offer[1]), align="right"),
        Column("Memory", lambda offer: offer[1].memory_mib, memory, align="right"),
        Column("Disk", lambda offer: f"{offer[1].disk_gib} GiB", align="right"),
        Column("Init", lambda offer: offer[1].init),
        Column("GPU hour", lambda offer: money(offer[0].price_per_gpu_hour), align="right"),
        Column("Free", free, align="right", may_shrink=True),
        Column("Kind", lambda offer: "sim" if offer[0].simulated else "", may_shrink=True),
    ]
    show_rows(offers(skus), columns, output, empty="Nothing is on sale here yet.")


def offers(skus: list[Sku]) -> Iterator[Offer]:
    for sku in skus:
        for size in sku.sizes:
            yield sku, size


def vcpus(size: Size) -> str:
    """Shared: the node may sell more vCPUs than it has CPUs."""
    return f"{size.vcpus}, shared" if size.shares_cpus else str(size.vcpus)


def free(offer: Offer) -> str:
    """Per region when there are several: eu 3, us 0."""
    sku, size = offer
    if size.not_placeable:
        return f"0: {size.not_placeable}"
    found = [(one.region, one.free) for one in sku.availability if one.gpu_count == size.gpu_count]
    if len(found) == 1:
        return str(found[0][1])
    return ", ".join(f"{region} {count}" for region, count in found) or "0"
