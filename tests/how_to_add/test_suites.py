"""What the pages promise: a copied skeleton is tested by the suites that test every file of its kind.

Each suite runs in a process of its own, in which the copy is registered before anything is collected.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.how_to_add.skeletons import PAGES
from tests.support.patience import PATIENCE

REGISTERED = """
from {registry} import REGISTRY
REGISTRY.packages.append("own_{stem}")
"""
KINDS = {
    "skeleton_structure_learner": (
        "pairs", "mlnlab.structure.learner_registry",
        ("conformance/test_structure.py", "conformance/test_identity.py"), 12,
    ),
    "skeleton_optimizer": (
        "plain-ascent", "mlnlab.learning.descent.optimizer_registry",
        ("learning/ask/test_conformance.py",), 20,
    ),
    "skeleton_inference_method": (
        "plain-gibbs", "mlnlab.inference.method_registry",
        ("conformance/test_inference.py", "conformance/test_runs.py", "conformance/test_identity.py"), 30,
    ),
}  # fmt: skip


@pytest.mark.parametrize("skeleton", KINDS)
def test_the_suites_take_up_a_copied_skeleton(skeleton, repository, tmp_path):
    name, registry, files, least = KINDS[skeleton]
    stem = name.replace("-", "_")
    own = tmp_path / f"own_{stem}"
    own.mkdir()
    (own / "__init__.py").write_text("")
    text = (PAGES / f"{skeleton}.py").read_text(encoding="utf-8")
    (own / f"{stem}.py").write_text(text.replace('"skeleton.', f'"{stem}.'), encoding="utf-8")
    # Python runs this file in each process that has the folder on its path, those of the suites included.
    (tmp_path / "sitecustomize.py").write_text(REGISTERED.format(registry=registry, stem=stem))
    paths = os.pathsep.join([str(tmp_path), str(repository)])
    command = [sys.executable, "-m", "pytest", "-q", "-n0", "-p", "no:cacheprovider"]
    tests = [str(Path("tests") / file) for file in files]
    done = subprocess.run(
        [*command, "-m", "not proof", "-k", name, *tests], check=False, cwd=repository,
        env={**os.environ, "PYTHONPATH": paths}, capture_output=True, text=True, timeout=20 * PATIENCE,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]
    passed = int(done.stdout.rstrip().split("\n")[-1].split(" passed")[0].split()[-1])
    assert passed >= least, done.stdout[-500:]
