"""Preconditions of each document: its reader, resources before its first block, and values of its variables."""

from collections.abc import Mapping
from dataclasses import dataclass, field

Step = tuple[str, str]
"""A role (`user`, `operator` or `colleague`) and the shell commands of that person."""

COLLEAGUE = ("colleague@example.com", "a colleague has a horse and a battery")
KEY = 'ssh-keygen -q -t ed25519 -N "" -f ~/.ssh/id_ed25519'
ADD_KEY = f"{KEY}; gpuaas ssh-keys add --title documents"
TRAIN_A = ("user", f"{ADD_KEY}; gpuaas allocations create --sku sim-h200-slice --name train-a")
REMOVE_KEY = ("user", "gpuaas ssh-keys remove --yes documents")
RELEASE_ALL = ("user", "for name in train-a train-b night; do gpuaas allocations release --yes $name || true; done")
NODE = ("operator", "gpuaas admin nodes list -o json | jq -r '.[] | select(.name | startswith(\"local\")) | .name'")
TENANT = ("operator", f"gpuaas admin tenants list --search {COLLEAGUE[0].split('@')[0]} -o json | jq -r '.[0].id'")


@dataclass(frozen=True)
class Scene:
    reader: str = "user"
    is_signed_in: bool = True
    before: tuple[Step, ...] = ()
    after: tuple[Step, ...] = ()
    variables: Mapping[str, Step] = field(default_factory=dict)
    replacements: tuple[tuple[str, str], ...] = ()


NO_SCENE = Scene()
WITH_TRAIN_A = Scene(before=(TRAIN_A,), after=(RELEASE_ALL, REMOVE_KEY))
SCENES = {
    "README.md": Scene(is_signed_in=False),
    "docs/tutorial/first-allocation.md": Scene(
        is_signed_in=False, before=(("user", f"{KEY}; mkdir project; touch project/a data.bin"),)
    ),
    "docs/howto/live-allocations.md": WITH_TRAIN_A,
    "docs/howto/metrics.md": WITH_TRAIN_A,
    "docs/howto/quotas.md": Scene(
        before=(("colleague", "gpuaas whoami"),),
        after=(("operator", "gpuaas admin quotas set gpus=8 allocations=8"),),
        variables={
            "TENANT": TENANT,
            "USER_ID": ("operator", f"gpuaas admin users list --search {COLLEAGUE[0]} -o json | jq -r '.[0].id'"),
        },
    ),
    "docs/howto/runtimes.md": Scene(  # nodes of tests have no package index, so these bundles are small
        before=(
            TRAIN_A,
            ("operator", "for file in $BUNDLES/documented-*.json; do gpuaas admin runtimes publish $file; done"),
        ),
        after=(RELEASE_ALL, REMOVE_KEY),
        variables={"NODE": NODE},
        replacements=(
            ("pytorch@2.13.0-cpu", "documented@2.0"),
            ("pytorch@2.12.0-cpu", "documented@1.0"),
            ("pytorch", "documented"),
            ("./our-bundle.json", "$BUNDLES/our-bundle-1.0.json"),
        ),
    ),
    "docs/howto/share-an-allocation.md": Scene(
        before=(TRAIN_A, ("colleague", KEY)),
        after=(RELEASE_ALL, REMOVE_KEY),
        variables={"LINK": ("user", f"gpuaas members invite {COLLEAGUE[0]} -o json | jq -r .link")},
        replacements=(("bob@example.com", COLLEAGUE[0]), ("--key laptop", "--key documents")),
    ),
    "docs/howto/terminal.md": Scene(
        before=(TRAIN_A,),
        after=(RELEASE_ALL, REMOVE_KEY),
        variables={"TERMINAL": ("user", "gpuaas allocations terminals train-a -o json | jq -r '.[0].id'")},
    ),
    "docs/howto/nodes.md": Scene(variables={"NODE": NODE}),
    "docs/howto/task-keys.md": Scene(variables={"NODE": NODE}),
    "docs/runbooks/node-keys.md": Scene(variables={"NODE": NODE}),
    "docs/howto/volumes.md": Scene(
        before=(TRAIN_A,),
        after=(RELEASE_ALL, REMOVE_KEY),
        variables={"NODE": NODE},
        replacements=(("datasets", "documented-datasets"),),  # other tests of the platform use the name
    ),
}
