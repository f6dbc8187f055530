def test_shot(desk, expect):
    desk.open(desk.small("notebooks/explore.ipynb", limit=8))
    assert desk.run_all() == []
    desk.stand_on("PromptExplorer(")
    explorer = desk.page.locator(".wb-prompt-explorer")
    expect(explorer.locator(".wb-answer-view")).to_contain_text("Gold")
    desk.top(explorer)
    desk.page.wait_for_timeout(1500)
    desk.picture("shot_prompt")
    print(
        desk.page.evaluate(
            """() => [...document.querySelectorAll('.wb-prompt-explorer > *, .wb-prompt-explorer .wb-pane, .wb-prompt-explorer .widget-vbox > *')].map(e => e.className.slice(0,60)+' '+JSON.stringify(e.getBoundingClientRect())).slice(0,60).join('\\n')"""
        )
    )
    print(desk.sideways())
