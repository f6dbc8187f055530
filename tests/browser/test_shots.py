def test_shot(desk, expect):
    desk.open(desk.small("notebooks/explore.ipynb", limit=24))
    assert desk.run_all() == []
    desk.stand_on("PromptExplorer(")
    explorer = desk.page.locator(".wb-prompt-explorer")
    expect(explorer.locator(".wb-answer-view")).to_contain_text("Gold")
    desk.top(explorer)
    desk.page.wait_for_timeout(1500)
    desk.picture("shot_prompt")
    explorer.get_by_role("button", name="Variants").click()
    explorer.locator(".wb-folders textarea").fill("packaged\nmine")
    from tests.browser.desk import ROOT

    mine = desk.folder / "notebooks" / "mine" / "generate"
    mine.mkdir(parents=True)
    (mine / "zero_shot.md").write_text(
        (ROOT / "workbench/prompts/generate/zero_shot.md")
        .read_text()
        .replace("{{ hint", '{{ "" and hint')
    )
    (mine / "direct.md").write_text(
        (ROOT / "workbench/prompts/generate/direct.md")
        .read_text()
        .replace("{{ hint or", '{{ "" or')
    )
    explorer.locator(".wb-variant-system select").select_option("zero-shot")
    explorer.locator(".wb-variants-price").click()
    expect(explorer.locator(".wb-variants-cost")).to_contain_text("variant")
    desk.picture("shot_variants_cost")
    explorer.locator(".wb-variants-run").click()
    expect(explorer.locator(".wb-variants-view")).to_contain_text("Variants side by side")
    desk.page.wait_for_timeout(1000)
    desk.picture("shot_variants")
    explorer.locator(".wb-questions tbody tr").first.click()
    desk.page.wait_for_timeout(1500)
    desk.picture("shot_variants_question")
    print(desk.sideways())
    for name, text in {"run": "RunBrowser", "cache": "CacheBrowser", "pool": "PoolBrowser"}.items():
        desk.stand_on(text)
        desk.top(desk.page.locator(f".wb-{name}-browser"))
        desk.page.wait_for_timeout(700)
        desk.picture(f"shot_{name}")
        print(name, desk.sideways())
