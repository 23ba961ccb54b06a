"""The most frequent routes, answered without Litestar's routing and response models (docs/design/foundations.md).

Each calls the function of its Litestar route, which remains for the contract and for unusual requests: None here
means that Litestar answers. Malformed requests therefore always get Litestar's response.
"""

from msgspec import MsgspecError
from msgspec.json import Decoder

from gpuaas.api import allocations
from gpuaas.api.edge import KEY_HEADER, PROJECT_HEADER
from gpuaas.api.unit import Direct, Unit
from gpuaas.wire.allocations import CreateAllocation

CREATE = Decoder(CreateAllocation)


async def get_allocation(unit: Unit, id: str) -> object:
    return await allocations.get_allocation.fn(id, unit) if id else None


async def create_allocation(unit: Unit, rest: str) -> object:
    key = unit.headers.get(KEY_HEADER)
    if rest or key is None or PROJECT_HEADER in unit.headers:
        return None
    try:
        data = CREATE.decode(unit.body)
    except MsgspecError:
        return None
    return await allocations.create_allocation.fn(data, key.decode(), unit)


DIRECT = {
    ("GET", "/api/v1/allocations/"): Direct(allocations.get_allocation, get_allocation),
    ("POST", "/api/v1/allocations"): Direct(allocations.create_allocation, create_allocation),
}
