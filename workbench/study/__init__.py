"""What notebooks work with: `open_study` opens an experiment, its `run` takes a system through the questions."""

from workbench.study.runs import Run, accuracy, across, by_difficulty, cells
from workbench.study.study import Study, open_study

__all__ = ["Run", "Study", "accuracy", "across", "by_difficulty", "cells", "open_study"]
