"""Histories of released versions, replayed through the flows of today: would instances in flight still go on?"""

import json
from pathlib import Path
from typing import Any

import pytest

from local.host_json import read_host_json
from local.indexing import index
from local.replay_check import replay_check
from local.serve import default_app_dir
from local.versions import may_run
from tests.replay.record import HISTORIES, SCENARIOS

STORED = sorted(HISTORIES.glob("*/*.json"))
HOW_TO = (
    "A released version's instances may be in flight: raise defaultVersion in host.json, branch on context.version and "
    "keep the old branch. While the version is not released: python -m tests.replay.record --again"
)

pytestmark = pytest.mark.req("DC-03")


def read(path: Path) -> list[dict[str, Any]]:
    """Return a stored history."""
    history: list[dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))
    return history


def started(history: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the event that names the instance's flow and version."""
    return next(event for event in history if "OrchestrationInstance" in event)


@pytest.mark.parametrize("path", STORED, ids=[f"{p.parent.name}-{p.stem}" for p in STORED])
def test_fault_080_a_released_history_replays_through_the_code_of_today(path: Path) -> None:
    """Another step, another order or another result would break every instance that a deployment finds in flight."""
    history = read(path)
    orchestrator = index(default_app_dir())[started(history)["Name"]]

    problems = replay_check(history, orchestrator.call)

    assert problems == (), HOW_TO


def test_fault_080_the_current_version_has_a_history_of_every_kind() -> None:
    """A new defaultVersion is recorded before it is released, and this app may run every version that is stored."""
    settings = read_host_json(default_app_dir())
    recorded = {path.stem for path in STORED if path.parent.name == settings.default_version}

    assert recorded == set(SCENARIOS)
    for path in STORED:
        version = started(read(path))["Version"]
        assert version == path.parent.name
        assert may_run(version, settings.default_version, settings.match)


def test_fault_045_stored_histories_hold_invented_text_and_nothing_of_the_machine() -> None:
    """They are published with the code."""
    text = "\n".join(path.read_text(encoding="utf-8") for path in STORED)

    for mark in ("/home/", "/root/", "/tmp/", "Traceback", "@gmail", "vk_"):
        assert mark not in text
