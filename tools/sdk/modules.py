"""The modules of `gpuaas.sdk.routes`: one class per resource, and one that holds them all."""

import keyword
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping
from textwrap import wrap

import msgspec

from tools.sdk.document import REQUIRED, Operation, Parameter
from tools.sdk.names import ONLY_READ, PREFIX, Name, Naming
from tools.sdk.sources import Argument, Imports, argument_name, body_argument, default_source, source_of

HEAD = '"""{about}. Generated from the OpenAPI description by `make sdk`; do not edit."""'
WIDTH = 106  # of a line of a docstring
REQUESTS, METHODS = "gpuaas.sdk.requests", "gpuaas.sdk.methods"
STDIN = "src/gpuaas/sdk/routes/generated.py"  # whose settings apply
MOST_POSITIONAL = 5  # with `self`
WITH_KEY = {"POST": "post", "PUT": "put", "PATCH": "patch"}
ENTRY = ("gpuaas.wire.timeline", "Entry")  # what event streams carry; OpenAPI 3.1 has no schema for their items
HAND_WRITTEN = {
    "admin.accounts": ("gpuaas.sdk.accounts", "AdminAccounts"),
    "admin.quotas": ("gpuaas.sdk.quotas", "AdminQuotas"),
    "admin.runtimes": ("gpuaas.sdk.runtimes", "AdminRuntimes"),
    "allocations": ("gpuaas.sdk.allocations", "Allocations"),
    "invitations": ("gpuaas.sdk.invitations", "Invitations"),
    "operations": ("gpuaas.sdk.operations", "Operations"),
    "runtimes": ("gpuaas.sdk.runtimes", "Runtimes"),
}
"""Resources with hand-written methods: waiting, watching, one call for several routes."""


def modules(operations: Iterable[Operation]) -> dict[str, str]:
    """File names and their formatted source."""
    found = list(operations)
    naming = Naming(found)
    resources: dict[str, dict[Name, Operation]] = {}
    for operation in found:
        name = naming.name(operation)
        methods = resources.setdefault(name.resource, {})
        if name in methods:
            both = f"{methods[name].key} and {operation.key}"
            raise LookupError(f"{both} are both {name.resource}.{name.method}: name one in tools/sdk/names.py")
        methods[name] = operation
    written = {file_of(resource): module(resource, methods, naming) for resource, methods in resources.items()}
    written["all_resources.py"] = all_resources(resources)
    return {name: formatted(source) for name, source in written.items()}


def file_of(resource: str) -> str:
    return f"{resource.replace('.', '_')}.py"


def class_of(resource: str) -> str:
    return "".join(word.capitalize() for word in resource.replace(".", "_").split("_")) + "Routes"


def formatted(source: str) -> str:
    """As `ruff format` and its import order would have it, whether or not the imported files exist yet."""
    known = ["--select", "I", "--config", 'lint.isort.known-first-party = ["gpuaas"]']
    for command in (["check", "--fix", "--quiet", *known], ["format", "--quiet"]):
        ruff = [
            sys.executable,
            "-P",
            "-m",
            "ruff",
            *command,
            "--stdin-filename",
            "src/gpuaas/sdk/routes/generated.py",
            "-",
        ]
        source = subprocess.run(ruff, input=source, capture_output=True, text=True, check=True).stdout
    return source


def module(resource: str, methods: Mapping[Name, Operation], naming: Naming) -> str:
    imports = Imports()
    imports.use(METHODS, "Resource")
    imports.use(METHODS, "R_co")
    bodies = [part for name in sorted(methods) for part in methods_of(name, methods[name], naming, imports)]
    about = "Routes of " + resource.replace("_", " ").replace(".", " ")
    head = [HEAD.format(about=about), imports.source(), f"class {class_of(resource)}(Resource[R_co]):"]
    return "\n\n".join([*head, *bodies]) + "\n"


def methods_of(name: Name, operation: Operation, naming: Naming, imports: Imports) -> Iterator[str]:
    """One method, or two for a listing that can also be followed."""
    path = [path_argument(naming, name, operation, one, imports) for one in operation.path_parameters]
    query = [query_argument(one, imports) for one in operation.query if one.name not in {"cursor", "limit", "follow"}]
    if operation.is_stream:
        yield method("Following", name.method, operation, [*path, *query], imports, answer=imports.use(*ENTRY))
    elif operation.page_item and operation.method == "GET":
        pages = f"{imports.use('gpuaas.wire.common', 'Page')}[{source_of(operation.page_item, imports)}]"
        # Each listing takes the size of its pages, also where everything still fits one page.
        limit = Argument(name="limit", type="int | None", default="None", sends_as="limit", expression="limit")
        yield method("Listing", name.method, operation, [*path, *query, limit], imports, answer=pages)
        if operation.resumes:
            follow = Argument(name="", type="", sends_as="follow", expression='"true"')
            item = source_of(operation.page_item, imports)
            yield method("Following", f"follow_{name.method}", operation, [*path, *query, follow], imports, answer=item)
    else:
        answer = "type(None)" if operation.answer is None else source_of(operation.answer, imports)
        body = [body_argument(one, imports) for one in msgspec.structs.fields(operation.body)] if operation.body else []
        yield method("Call", name.method, operation, [*path, *query], imports, answer=answer, body=body)


def method(
    kind: str,
    name: str,
    operation: Operation,
    arguments: list[Argument],
    imports: Imports,
    *,
    answer: str,
    body: Iterable[Argument] = (),
) -> str:
    body = list(body)
    lines = [f"    @{imports.use(METHODS, kind)}", *signature(name, operation, [*arguments, *body], answer, imports)]
    lines += docstring(operation.description)
    if operation.body:
        fields = ", ".join(f"{one.sends_as}={one.expression}" for one in body)
        lines.append(f"        body = {source_of(operation.body, imports)}({fields})")
    lines.append(f"        return {request(operation, arguments, answer, imports)}")
    return "\n".join(lines)


def signature(
    name: str, operation: Operation, arguments: list[Argument], answer: str, imports: Imports
) -> Iterator[str]:
    """Path parameters first, then required arguments, then optional ones by keyword."""
    named = [one for one in arguments if one.name]
    positional = [one for one in named if one.default is None and not one.by_keyword]
    if len(positional) >= MOST_POSITIONAL:
        positional = positional[: len(operation.path_parameters)]
    keyword = [one.source for one in named if one not in positional]
    if operation.takes_key and operation.key not in ONLY_READ:
        keyword.append("idempotency_key: str | None = None")
    parts = ["self", *(one.source for one in positional), *(["*", *keyword] if keyword else [])]
    type = "None" if answer == "type(None)" else answer
    yield f"    def {name}({', '.join(parts)}) -> {imports.use(REQUESTS, 'Request')}[{type}]:"


def docstring(description: str) -> list[str]:
    if not description:
        return []
    lines = wrap(" ".join(description.split()), WIDTH)
    lines[0], lines[-1] = f'"""{lines[0]}', f'{lines[-1]}"""' if len(lines) > 1 else f'"""{lines[0]}"""'
    return [f"        {line}" for line in lines]


def request(operation: Operation, arguments: list[Argument], answer: str, imports: Imports) -> str:
    in_path = {one.name for one in operation.path_parameters}
    parts = []
    for part in operation.path.strip("/").split("/"):
        found = next((one for one in arguments if part == f"{{{one.sends_as}}}" and one.sends_as in in_path), None)
        parts.append(found.expression if found else f'"{part}"')
    route = f"{imports.use(REQUESTS, 'path')}({', '.join(parts)})"
    query = [query_source(one) for one in arguments if one.sends_as not in in_path]
    if operation.method == "GET":
        return f"{imports.use(REQUESTS, 'get')}({', '.join([route, answer, *query])})"
    if operation.method == "DELETE":
        return f"{imports.use(REQUESTS, 'delete')}({', '.join([route, answer, 'idempotency_key', *query])})"
    if query:
        raise LookupError(f"{operation.key} has a query and a body")
    sent = [route, answer, *(["body"] if operation.body else [])]
    if operation.key in ONLY_READ or not operation.takes_key:
        wrapper = imports.use(REQUESTS, "only_read" if operation.key in ONLY_READ else "once")
        return f"{wrapper}({imports.use(REQUESTS, 'post')}({', '.join(sent)}))"
    return f"{imports.use(REQUESTS, WITH_KEY[operation.method])}({', '.join([*sent, 'key=idempotency_key'])})"


def query_source(argument: Argument) -> str:
    if keyword.iskeyword(argument.sends_as):
        return f'**{{"{argument.sends_as}": {argument.expression}}}'
    return f"{argument.sends_as}={argument.expression}"


def path_argument(naming: Naming, name: Name, operation: Operation, parameter: Parameter, imports: Imports) -> Argument:
    called = naming.parameter(name, operation, parameter.name)
    return Argument(name=called, type=source_of(parameter.type, imports), sends_as=parameter.name, expression=called)


def query_argument(parameter: Parameter, imports: Imports) -> Argument:
    is_required = parameter.default is REQUIRED
    name = argument_name(parameter.name)
    return Argument(
        name=name,
        type=source_of(parameter.type, imports),
        default=None if is_required else default_source(parameter.default, imports),
        sends_as=parameter.name,
        expression=name,
    )


ALL_RESOURCES = """{head}

{imports}

class AdminResources({admin}[R_co]):
    \"""For operators.\"""

    def __init__(self, runner: R_co) -> None:
        super().__init__(runner)
{below}

class Resources(Generic[R_co]):
    \"""Everything that the API serves.\"""

    def __init__(self, runner: R_co) -> None:
        self._runner = runner
{above}
        self.{prefix} = AdminResources(runner)
"""


def all_resources(resources: Iterable[str]) -> str:
    imports = Imports()
    imports.use(METHODS, "R_co")
    imports.use("typing", "Generic")
    found = sorted({*resources, *HAND_WRITTEN} - {PREFIX})
    admin = imports.use(f"gpuaas.sdk.routes.{PREFIX}", class_of(PREFIX))
    above = attributes((one for one in found if not one.startswith(f"{PREFIX}.")), imports)
    below = attributes((one for one in found if one.startswith(f"{PREFIX}.")), imports)
    head = HEAD.format(about="Every resource of the API")
    return ALL_RESOURCES.format(
        head=head, imports=imports.source(), admin=admin, prefix=PREFIX, above=above, below=below
    )


def attributes(resources: Iterable[str], imports: Imports) -> str:
    lines = []
    for one in resources:
        module, name = HAND_WRITTEN.get(one, (f"gpuaas.sdk.routes.{file_of(one)[:-3]}", class_of(one)))
        lines.append(f"        self.{one.rpartition('.')[2]} = {imports.use(module, name)}(runner)")
    return "\n".join(lines)
