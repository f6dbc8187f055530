"""Tidy tables to draw, and a look at a figure for text that leaves the canvas or lies on other text."""

import random

import pandas as pd
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg

GENERATORS = ("divide_and_conquer", "query_plan", "synthetic_examples")
DATABASES = ("clinic", "harbour", "cinema")
ABOUT = ("question_id", "db_id", "difficulty")


def about(db_id, number):
    return f"{db_id}/{number}", db_id, ("simple", "moderate", "challenging")[number % 3]


def make_trials(generators=GENERATORS, databases=DATABASES, each=12):
    """Three samples of every generator for every question."""
    chance = random.Random(7)
    rows = []
    for db_id in databases:
        for number in range(each):
            hard = chance.random()
            for generator in generators:
                luck = chance.gauss(0, 0.3)
                for sample in range(3):
                    correct = chance.random() < 1.1 - hard + luck
                    rows.append((*about(db_id, number), generator, sample, correct))
    frame = pd.DataFrame(rows, columns=[*ABOUT, "generator", "sample", "correct"])
    frame.insert(0, "run", "a1b2c3d4e5f6")
    return frame


def make_questions(systems=("chase_sql", "MAC-SQL"), databases=DATABASES, each=12):
    """What each system answered: every third question is lost by the choice, every fifth has no right one."""
    rows = []
    for index, system in enumerate(systems):
        for db_id in databases:
            for number in range(each):
                oracle = number % 5 > 0
                correct = oracle and (number + index) % 3 > 0
                feature = ["JOIN", "ORDER BY"] if number % 2 else ["GROUP BY"]
                named = (f"run{index}", system, *about(db_id, number))
                rows.append((*named, feature, correct, oracle))
    return pd.DataFrame(
        rows, columns=["run", "system", *ABOUT, "feature", "correct", "oracle"]
    )


def texts(figure):
    """All text that a figure shows, with where it stands: (text, box), rotated text left out of overlaps."""
    renderer = FigureCanvasAgg(figure).get_renderer()
    found = list(figure.texts)
    for legend in figure.legends:
        found += [legend.get_title(), *legend.get_texts()]
    for axes in [a for top in figure.axes for a in (top, *top.child_axes)]:
        if not axes.get_visible():
            continue
        found += [*axes.texts, axes.title, axes._left_title]
        if axes.get_legend():
            found += axes.get_legend().get_texts()
        if axes.axison:
            for axis in (axes.xaxis, axes.yaxis):
                found.append(axis.label)
                found += [
                    one
                    for tick in axis._update_ticks()
                    for one in (tick.label1, tick.label2)
                ]
    found = [text for text in found if text.get_visible() and text.get_text().strip()]
    return [(text, text.get_window_extent(renderer)) for text in found]


def faults_of(figure):
    """What a reader would stumble over, in words."""
    shown = texts(figure)
    canvas = figure.bbox
    faults = [
        f"{text.get_text()!r} leaves the canvas"
        for text, box in shown
        if box.x0 < -0.5
        or box.y0 < -0.5
        or box.x1 > canvas.x1 + 0.5
        or box.y1 > canvas.y1 + 0.5
    ]
    faults += [
        f"{text.get_text()!r} is small"
        for text, _ in shown
        if text.get_fontsize() < 6.5
    ]
    level = [(text, box) for text, box in shown if text.get_rotation() in {0.0, 90.0}]
    for index, (one, box) in enumerate(level):
        for other, there in level[index + 1 :]:
            wide = min(box.x1, there.x1) - max(box.x0, there.x0)
            high = min(box.y1, there.y1) - max(box.y0, there.y0)
            # Pixels; a box is a little higher than its letters.
            if wide > 1 and high > 3:
                faults.append(f"{one.get_text()!r} lies on {other.get_text()!r}")
    return faults


@pytest.fixture(scope="session")
def faults():
    return faults_of


@pytest.fixture(scope="session")
def trials():
    return make_trials


@pytest.fixture(scope="session")
def questions():
    return make_questions


@pytest.fixture(scope="session")
def shown_text():
    """All text of a figure in one string."""
    return lambda figure: "\n".join(text.get_text() for text, _ in texts(figure))
