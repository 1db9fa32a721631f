"""`make requirements`: each requirement id with the tests that prove it, from one recorded test run.

An id is proven when at least one test marked with it ran and passed and none failed; a skipped test proves nothing.
Run the tests with `--requirements FILE` to record, then `python -m tests.requirements FILE` to print.
"""

import json
import re
import sys
from collections import defaultdict
from pathlib import Path
from typing import Final

DOCUMENT: Final = Path(__file__).parent.parent / "docs" / "requirements.md"
"""The list of requirements with their ids."""


def known_ids(text: str) -> dict[str, str]:
    """Return id → first words of its sentence, in the document's order."""
    found = re.findall(r"^- ([A-Z]{2}-\d{2})[,:]? (.*)$", text, flags=re.MULTILINE)
    return {key: words[:70] for key, words in found}


def main(path: Path) -> int:
    """Print the table; 1 when a test names an id that does not exist."""
    recorded = json.loads(path.read_text())
    ids = known_ids(DOCUMENT.read_text())
    tests: defaultdict[str, list[tuple[str, str]]] = defaultdict(list)
    for test in recorded:
        for key in test["req"]:
            tests[key].append((test["outcome"], test["name"]))
    unknown = sorted(set(tests) - set(ids))
    unproven = []
    for key, words in ids.items():
        outcomes = [outcome for outcome, _ in tests[key]]
        passed, failed, skipped = (outcomes.count(o) for o in ("passed", "failed", "skipped"))
        state = "FAILED" if failed else "proven" if passed else "open"
        if state != "proven":
            unproven.append(key)
        extra = f", {skipped} not run" if skipped else ""
        print(f"{key}  {state:7} {passed:3} tests{extra:14}  {words}")
    print(f"\n{len(ids) - len(unproven)} of {len(ids)} requirements have a passing test; a passing test is not the")
    print("whole of a requirement. Without one:", " ".join(unproven) or "none")
    if unknown:
        print("tests name unknown ids:", " ".join(unknown))
    return 1 if unknown else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
