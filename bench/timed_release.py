"""One release with the seconds of each phase and the peak memory up to its end, as JSON; `bench.engines` runs it.

python -m bench.timed_release STUDY RELEASE FOLDER [--memory-limit 2GB]
"""

import argparse
import json
import os
from pathlib import Path

from bench.process_tree import memory_of
from papers.phases import Phases
from sfumato.api import Study


class PhasesAndMemory(Phases):
    """Phases with the MiB that this process had taken at most when each ended."""

    def __init__(self) -> None:
        super().__init__()
        self.peaks: dict[str, float] = {}

    def __call__(self, what: str, done: int, total: int) -> None:
        """A progress report."""
        self.peaks[self._doing] = memory_of(os.getpid(), "VmHWM")  # getrusage also knows the peak of who started us
        super().__call__(what, done, total)


def main() -> None:
    """Release, and print the phases."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("study", type=Path)
    parser.add_argument("release")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--memory-limit")
    asked = parser.parse_args()
    phases = PhasesAndMemory()
    study = Study.load(asked.study)
    study.release(asked.release, out=asked.folder, progress=phases, memory_limit=asked.memory_limit, report=False)
    seconds = phases.ended()
    print(json.dumps({what: [round(took, 1), round(phases.peaks[what])] for what, took in seconds.items()}))


if __name__ == "__main__":
    main()
