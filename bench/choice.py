"""Which cases of a benchmark are measured, and how long."""
import re
from dataclasses import dataclass


class NoSuchCase(Exception):
    """Says that nothing would be measured."""


@dataclass(frozen=True)
class Choice:
    quick: bool
    only: str | None = None  # a regular expression over the names of cases

    def of(self, cases):
        cases = list(cases)
        chosen = [case for case in cases if self.only is None or re.search(self.only, str(case))]
        if not chosen:
            raise NoSuchCase(f"no case has \"{self.only}\" in its name; one is \"{cases[0]}\"")
        return chosen
