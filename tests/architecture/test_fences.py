"""The fences fail when provoked: each import rule, each wrong call that must not type."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

BREACHES = {
    "agents import an adapter": ("agents/intake_classifier.py", "import shared.adapters.records.tickets"),
    "agents import each other": ("agents/intake_classifier.py", "import agents.response_composer"),
    "a flow imports the clock": ("orchestrators/flows/answer_message.py", "import time"),
    "routing imports an agent": ("orchestrators/routing.py", "import agents.supervisor"),
    "an agent mints": ("agents/response_composer.py", "import shared.authority.mint"),
    "a flow verifies": ("orchestrators/flows/answer_message.py", "import shared.authority.verify"),
    "a decider holds a writer": ("agents/supervisor/review.py", "import shared.ports.writers"),
    "the composer holds an integration": ("agents/response_composer.py", "import shared.ports.integrations"),
    "the executor forges a verified grant": ("agents/action_executor.py", "import shared.domain.proof"),
    "shared imports upwards": ("shared/domain/ids.py", "import shared.adapters.records.tickets"),
    "shared imports an agent": ("shared/domain/ids.py", "import agents.supervisor"),
}
"""What a breach looks like: (module, line added)."""


@pytest.mark.req("AX-05")
def test_the_tree_as_it_is_keeps_every_fence() -> None:
    """Design §2."""
    done = _lint_imports(ROOT)

    assert done.returncode == 0, done.stdout


@pytest.mark.req("AX-05", "KB-11", "CL-06", "CO-04")
@pytest.mark.parametrize("name", BREACHES)
def test_each_fence_fails_when_provoked(name: str, tmp_path: Path) -> None:
    """Design §2: "no agent can both decide and act", as a build failure."""
    module, line = BREACHES[name]
    for part in ("agents", "orchestrators", "shared", "local"):
        shutil.copytree(ROOT / part, tmp_path / part, ignore=shutil.ignore_patterns("__pycache__", "*.npz", "*.txt"))
    for part in ("function_app.py", "pyproject.toml"):
        shutil.copy(ROOT / part, tmp_path / part)
    breached = tmp_path / module
    breached.write_text(breached.read_text() + f"\n{line}\n")

    done = _lint_imports(tmp_path)

    assert done.returncode != 0
    assert "BROKEN" in done.stdout


@pytest.mark.req("AX-05", "PV-01", "SU-03", "AX-02")
def test_wrong_calls_do_not_type() -> None:
    """Conventions "Types": each wrong call carries an ignore that must stay needed; mypy fails when one types."""
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--warn-unused-ignores", "--strict", "tests/typing/forbidden_calls.py"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 0, done.stdout


@pytest.mark.req("DC-02")
def test_the_top_level_has_what_the_design_card_names() -> None:
    """DC-02."""
    for name in (
        "function_app.py",
        "agents",
        "orchestrators",
        "shared",
        "host.json",
        "local.settings.sample.json",
        "infra",
        "tests",
    ):
        assert (ROOT / name).exists(), name


@pytest.mark.req("DC-01")
def test_importing_agents_executes_nothing() -> None:
    """Design §2: importing azure.durable_functions executes the package `agents`, so it holds a docstring only."""
    source = (ROOT / "agents" / "__init__.py").read_text().strip()

    assert source.startswith('"""')
    assert source.endswith('"""')
    assert source.count('"""') == 2


def _lint_imports(folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(Path(sys.executable).parent / "lint-imports"), "--no-cache"],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
