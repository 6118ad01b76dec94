"""What the scripts of both Python SDKs share: the calls, and counting."""

import contextlib
import json
import os
import pathlib
import sys
import traceback

CALLS = json.loads(pathlib.Path(os.environ.get("CALLS", pathlib.Path(__file__).with_name("calls.json"))).read_text())


def expect(holds, found) -> None:
    if not holds:
        raise AssertionError(found)


def expect_refusal(is_error: bool, text: str, code: str) -> None:
    expect(is_error and json.loads(text)["code"] == code, text)


class Checks:
    """Counts what passed and what failed."""

    def __init__(self, name: str) -> None:
        self.name, self.passed, self.failed = name, 0, 0

    @contextlib.contextmanager
    def of(self, what: str):
        """One check: fails when its block raises."""
        try:
            yield
        except Exception:
            self.failed += 1
            print(f"{self.name}: FAILED to {what}")
            traceback.print_exc()
        else:
            self.passed += 1

    def end(self) -> None:
        print(f"{self.name}: {self.passed} passed, {self.failed} failed")
        sys.exit(1 if self.failed else 0)
