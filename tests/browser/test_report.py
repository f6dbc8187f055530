"""report.html in Chromium: from a number to a prompt in three clicks, on a screen and on a phone, without a network."""

import pandas as pd
import pytest

from tests.browser.desk import PICTURES
from workbench.experiment.report import write_report
from workbench.report.figures.outcomes import outcome_pie
from workbench.report.tables import alone
from workbench.study import open_study
from workbench.study.settings import Experiment
from workbench.systems.chase_sql import chase_sql

WIDTHS = {"screen": 1280, "phone": 390}


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("WORKBENCH_HOME", str(tmp_path_factory.mktemp("home")))
        experiment = Experiment("mine", folder=tmp_path_factory.mktemp("folder"))
        with open_study(experiment, limit=5) as study:
            run = study.run(chase_sql(samples=1))
            shown = alone(pd.DataFrame([run.row()]), study.stamp, "Systems")
            study.save("chase_table_2", shown)
            study.save("chase_figure_6", outcome_pie(run.questions, stamp=study.stamp))
            yield write_report(study.saved.folder, study.lab.client.store, {})[0]


@pytest.fixture(
    params=[(name, scheme) for name in WIDTHS for scheme in ("light", "dark")], ids="-".join
)
def visit(request, chromium, path):
    """The report on a page; afterwards no request has left the folder, and no script has failed."""
    name, scheme = request.param
    size = {"width": WIDTHS[name], "height": 800}
    strangers, alarms = [], []
    with chromium.new_context(viewport=size, color_scheme=scheme) as context:
        page = context.new_page()
        page.on("request", lambda request: strangers.append(request.url))
        page.on("pageerror", lambda error: alarms.append(error.message))
        page.on(
            "console",
            lambda message: alarms.append(message.text) if message.type == "error" else None,
        )
        page.goto(path.as_uri())
        yield page
        page.screenshot(path=PICTURES / f"report-{name}-{scheme}.png")
    assert not [url for url in strangers if not url.startswith(("data:", path.parent.as_uri()))]
    assert alarms == []


def fits(page):
    return page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_two_clicks_lead_from_a_number_of_a_table_to_a_prompt(visit, expect):
    assert fits(visit)
    visit.click("#chase_table_2 td a")
    expect(visit.locator("article.question")).to_have_count(5)
    assert fits(visit)
    visit.click("article.question a >> nth=0")
    expect(visit.locator("h2", has_text="user")).to_be_visible()
    expect(visit.locator("pre").nth(1)).to_contain_text("Database schema")
    assert fits(visit)


def test_three_clicks_lead_from_a_figure_to_a_prompt(visit, expect):
    visit.click("#chase_figure_6 a")
    visit.click("td a >> nth=0")
    visit.click("article.question a >> nth=0")
    expect(visit.locator("h2", has_text="user")).to_be_visible()


def test_the_candidates_of_a_question_open_in_place(visit, expect):
    visit.click("#chase_table_2 td a")
    visit.click("article.question summary >> nth=0")
    expect(visit.locator("article.question >> nth=0").locator("details pre")).to_have_count(4)
