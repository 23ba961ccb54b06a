"""GET a row, INSERT a row. No authentication, no tenant, no idempotency, one statement each."""

import os
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from typing import Annotated
from uuid import uuid4

from fastapi import Depends, FastAPI, HTTPException
from pydantic import BaseModel, ConfigDict
from sqlalchemy.ext.asyncio import AsyncSession, async_sessionmaker, create_async_engine
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

engine = create_async_engine(os.environ["TWIN_URL"], pool_size=12, max_overflow=4)
sessions = async_sessionmaker(engine, expire_on_commit=False)
app = FastAPI()


class Base(DeclarativeBase):
    pass


class Machine(Base):
    __tablename__ = "twin_machines"

    id: Mapped[str] = mapped_column(primary_key=True)
    project_id: Mapped[str]
    name: Mapped[str]
    sku: Mapped[str]
    gpu_count: Mapped[int]
    node_id: Mapped[str]
    status: Mapped[str]
    created_at: Mapped[datetime]


class MachineIn(BaseModel):
    project_id: str
    sku: str
    gpu_count: int = 1


class MachineOut(BaseModel):
    model_config = ConfigDict(from_attributes=True)

    id: str
    project_id: str
    name: str
    sku: str
    gpu_count: int
    node_id: str
    status: str
    created_at: datetime


async def session() -> AsyncIterator[AsyncSession]:
    async with sessions() as opened:
        yield opened


Session = Annotated[AsyncSession, Depends(session)]


@app.get("/machines/{id}")
async def get_machine(id: str, session: Session) -> MachineOut:
    machine = await session.get(Machine, id)
    if machine is None:
        raise HTTPException(404)
    return MachineOut.model_validate(machine)


@app.post("/machines", status_code=202)
async def create_machine(data: MachineIn, session: Session) -> MachineOut:
    id = str(uuid4())
    machine = Machine(
        id=id, name=id[-8:], node_id="node", status="requested", created_at=datetime.now(UTC).replace(tzinfo=None),
        **data.model_dump(),
    )  # fmt: skip
    session.add(machine)
    await session.commit()
    return MachineOut.model_validate(machine)


@app.get("/ready")
async def ready() -> dict[str, bool]:
    return {"ok": True}
