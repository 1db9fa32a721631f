"""The grants matrix: the README says what the table says, and nobody may both decide and act."""

import pytest

from shared.domain.agents import SPECS, AgentName, MessageIntent, Right
from tests.matrix import END, README, matrix, written


@pytest.mark.req("AX-05", "PR-03")
def test_the_readmes_matrix_is_the_tables() -> None:
    """One table: `python -m tests.matrix --write` puts it into the README."""
    text = README.read_text()

    assert END in text
    assert text == written(text)
    assert matrix() in text


@pytest.mark.req("AX-05")
def test_no_agent_both_decides_and_acts() -> None:
    """S2 §1: whoever grants does not act, whoever acts does not grant."""
    for spec in SPECS.values():
        deciding = spec.rights & {Right.APPROVE_REPLIES, Right.GRANT_ACTIONS}
        assert not (deciding and Right.ACT_UNDER_GRANT in spec.rights)
    assert [s.name for s in SPECS.values() if Right.GRANT_ACTIONS in s.rights] == [AgentName.SUPERVISOR]
    assert [s.name for s in SPECS.values() if Right.ACT_UNDER_GRANT in s.rights] == [AgentName.ACTION_EXECUTOR]


@pytest.mark.req("PR-01")
def test_only_the_supervisor_sends_requests() -> None:
    """S2 §2: agents answer; the supervisor's flow asks."""
    assert [s.name for s in SPECS.values() if MessageIntent.REQUEST in s.emits] == [AgentName.SUPERVISOR]
