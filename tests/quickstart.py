"""The README's first steps, run as a stranger would: start, ask by curl, read the answer, start again.

`make quickstart` runs it in CI; it needs no network and leaves nothing behind. Source: fault 109.
"""

import json
import re
import shlex
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, Final

ROOT: Final = Path(__file__).resolve().parent.parent
READY_AGAIN_S: Final = 5.0
"""Seconds in which a second start is ready. Source: issue of the main job."""


def main() -> int:
    """Run the steps; 0 when each did what the README says."""
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder) / "data"
        product, ready = start(data)
        try:
            turn = ask_as_the_readme_does(data, ready["url"])
        finally:
            stop(product)
        check(turn["outcome"] == "answered", "the README's question is answered", turn)
        check(bool(turn["reply"]) and bool(turn["sources"]), "with a reply and its sources", turn)
        product, again = start(data)
        stop(product)
        check(again["took_ms"] < READY_AGAIN_S * 1000, f"the second start is ready in {again['took_ms']} ms", again)
    print(f"quickstart: first start {ready['took_ms']} ms, second {again['took_ms']} ms, turn {turn['took_ms']} ms")
    return 0


def start(data: Path) -> tuple["subprocess.Popen[str]", dict[str, Any]]:
    """Start the product and wait for its one ready line."""
    command = [sys.executable, "-m", "local", "serve", "--data", str(data), "--port", "0", "--rpc-port", "0"]
    product = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
    assert product.stdout is not None
    line = product.stdout.readline()
    check(line.startswith("{"), "the ready line is one JSON object", line)
    return product, json.loads(line)


def ask_as_the_readme_does(data: Path, url: str) -> dict[str, Any]:
    """Run the README's curl command against this start's address and keys."""
    block = re.search(r"```sh quickstart\n(.*?)```", (ROOT / "README.md").read_text(), flags=re.DOTALL)
    check(block is not None, "the README has its curl command", "README.md")
    assert block is not None
    script = (
        block.group(1)
        .replace("http://127.0.0.1:7071", url)
        .replace(".local/demo.json", shlex.quote(str(data / "demo.json")))
    )
    done = subprocess.run(["bash", "-euc", script], cwd=ROOT, capture_output=True, text=True, timeout=120, check=False)
    check(done.returncode == 0, "the curl command works", done.stderr)
    turn: dict[str, Any] = json.loads(done.stdout)
    return turn


def stop(product: "subprocess.Popen[str]") -> None:
    """Stop the product and wait for it."""
    product.send_signal(signal.SIGTERM)
    started = time.monotonic()
    check(product.wait(timeout=30) == 0, "the product stops when asked", f"{time.monotonic() - started:.1f} s")


def check(is_so: bool, claim: str, seen: object) -> None:
    """End with the claim and what was seen when it is not so."""
    if not is_so:
        sys.exit(f"quickstart: not so: {claim}\n{seen}")


if __name__ == "__main__":
    sys.exit(main())
