"""Structured logs: one JSON object per line with an event name, fields and the correlation id."""

import logging
import sys
from contextvars import ContextVar

import structlog
from structlog.tracebacks import ExceptionDictTransformer
from structlog.typing import EventDict, WrappedLogger

correlation_id: ContextVar[str] = ContextVar("correlation_id", default="")

SECRET_WORDS = ("password", "token", "secret", "authorization", "cookie", "private_key")


def configure(*, level: str = "info", human: bool | None = None) -> None:
    """Configure logging; main/ calls it once per process."""
    human = sys.stderr.isatty() if human is None else human
    renderer: structlog.typing.Processor = (
        structlog.dev.ConsoleRenderer(exception_formatter=structlog.dev.plain_traceback)
        if human
        else structlog.processors.JSONRenderer()
    )
    # Without local variables, because they contain tokens and passwords.
    tracebacks: structlog.typing.Processor = (
        structlog.processors.format_exc_info
        if human
        else structlog.processors.ExceptionRenderer(ExceptionDictTransformer(show_locals=False))
    )
    structlog.configure(
        processors=[
            _correlate,
            _redact,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            tracebacks,
            renderer,
        ],
        wrapper_class=structlog.make_filtering_bound_logger(logging.getLevelNamesMapping()[level.upper()]),
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
        cache_logger_on_first_use=True,
    )


def _correlate(_logger: WrappedLogger, _method: str, event: EventDict) -> EventDict:
    if correlation := correlation_id.get():
        event.setdefault("correlation_id", correlation)
    return event


def _redact(_logger: WrappedLogger, _method: str, event: EventDict) -> EventDict:
    """Redact fields whose name indicates a secret."""
    for field in event:
        if any(word in field.lower() for word in SECRET_WORDS):
            event[field] = "[redacted]"
    return event
