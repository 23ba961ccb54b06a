"""Packages of our own, made on the spot: bundles are staged for real, and nothing is asked of any network."""

import hashlib
import zipfile
from pathlib import Path

from gpuaas.wire.runtimes import (
    BundleSpec,
    PublishRuntimeBundle,
    Recipe,
    Requirement,
    RuntimeDescriptor,
    RuntimeFamily,
    digest_of,
)

EPOCH = (2026, 1, 1, 0, 0, 0)
CHECK = ["python", "-c", "import tiny_data; print('tiny_data', tiny_data.__version__)"]
BROKEN = ["python", "-c", "print('looking'); import tiny_data; raise SystemExit('tiny_data has no planets')"]


def wheel(folder: Path, version: str) -> str:
    """`tiny_data`, with a program, in this folder; its checksum. The same version is the same to the byte."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"tiny_data-{version}-py3-none-any.whl"
    about = f"tiny_data-{version}.dist-info"
    parts = {
        "tiny_data/__init__.py": f"__version__ = {version!r}\n\n\ndef main():\n    print('tiny', __version__)\n",
        f"{about}/METADATA": f"Metadata-Version: 2.1\nName: tiny-data\nVersion: {version}\n",
        f"{about}/WHEEL": "Wheel-Version: 1.0\nGenerator: tests\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        f"{about}/entry_points.txt": "[console_scripts]\ntiny = tiny_data:main\n",
    }
    parts[f"{about}/RECORD"] = "".join(f"{name},,\n" for name in (*parts, f"{about}/RECORD"))
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in parts.items():
            archive.writestr(zipfile.ZipInfo(name, EPOCH), text)
    path.chmod(0o644)
    return hashlib.sha256(path.read_bytes()).hexdigest()


def publication(
    folder: Path, version: str, *, slug: str = "python-data", check: list[str] | None = None
) -> PublishRuntimeBundle:
    locked = Requirement(name="tiny-data", version=version, sha256=[wheel(folder, version)])
    return PublishRuntimeBundle(
        product_name="Python for data",
        slug=slug,
        version=version,
        vendor="tests",
        runtime_family=RuntimeFamily.CPU,
        recipe=Recipe(python="3.11", requirements=[locked], check=check or CHECK),
    )


def spec(folder: Path, version: str, *, slug: str = "python-data", check: list[str] | None = None) -> BundleSpec:
    wanted = publication(folder, version, slug=slug, check=check)
    return BundleSpec(
        id=f"rtb_{slug}_{version}",
        slug=slug,
        version=version,
        digest=digest_of(wanted.recipe),
        recipe=wanted.recipe,
    )


def descriptor(bundle: BundleSpec) -> RuntimeDescriptor:
    return RuntimeDescriptor(
        bundle_id=bundle.id,
        slug=bundle.slug,
        version=bundle.version,
        digest=bundle.digest,
        runtime_family=RuntimeFamily.CPU,
    )
