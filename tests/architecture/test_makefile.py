"""`make ask` hands the question on as text: neither make nor the shell reads it, and nobody is signed in unasked."""

import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def arguments_of(*given: str, target: str = "ask") -> list[str]:
    """Return what `make ask` would run, one argument a line."""
    command = ["make", "-s", target, r"PY=printf '%s\n'", "-o", ".venv/.run", *given]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    return done.stdout.splitlines()


@pytest.mark.req("GW-03")
@pytest.mark.parametrize("question", ["Does it cost $20?", "is it `echo 5`?", 'the "big" one', "it's $(echo no) good"])
def test_a_question_arrives_as_it_was_asked(question: str) -> None:
    """A question about prices holds a dollar sign; a backtick must not run."""
    assert question in arguments_of(f"Q={question}")


@pytest.mark.req("GW-03")
def test_without_a_name_the_visitor_is_anonymous() -> None:
    """Make has a variable AS of its own: the assembler must not become a customer."""
    asked = arguments_of("Q=hello")

    assert asked[asked.index("--as") + 1 :] in ([], [""])
    assert "ana" in arguments_of("Q=hello", "AS=ana")


@pytest.mark.req("KB-01")
def test_a_file_to_import_arrives_as_it_is_named() -> None:
    """A merchant's file may be called anything."""
    name = "My $hop's catalog (1).csv"

    assert name in arguments_of(f"FILE={name}", "ARGS=--resume", target="import")
