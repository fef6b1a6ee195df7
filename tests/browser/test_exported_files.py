"""An exported SVG of a hostile text, opened by itself: it draws, runs nothing and asks nobody."""

import sys
from dataclasses import replace
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
HOSTILE = [
    "</text><script>document.title='ran'</script>",
    "</title></desc></metadata><script>document.title='ran'</script>",
    "<svg/onload=document.title='ran'>",
    "]]><script>document.title='ran'</script>",
    '"><image href="http://evil.example/x.png" onerror="document.title=1"/>',
    "<foreignObject><iframe src=javascript:parent.document.title=1></iframe></foreignObject>",
    "<a href=javascript:document.title=1>x</a>",
    "</style><style>@import url(http://evil.example/x.css);</style>",
    "&lt;script&gt;document.title='ran'&lt;/script&gt;",
]


@pytest.fixture(scope="module")
def hostile_files() -> dict[str, bytes]:
    """The SVGs of two figures of a model whose every token, and whose own name, is hostile."""
    sys.path.insert(0, str(ROOT / "tests/unit"))
    from specimens import embedded_loaded

    from analysis.figures import FIGURES, export
    from analysis.probes.text_probe import LayersRequest, TermsRequest

    params = {"text": " ".join(HOSTILE), "pair": "", "model": "", "revision": "", "layer": 0, "truncate": True}
    params |= {
        "measure": "share",
        "term": "word_to_word",
        "head": 0,
        "method": "frozen",
        "group": "four",
        "words": False,
        "specials": True,
    }
    params |= {"centred": True}
    loaded = embedded_loaded()
    depth = FIGURES["probe_layers"].of(params, LayersRequest.of(params).run(loaded))
    terms = TermsRequest.of(params).run(loaded)
    tokens = tuple(replace(token, text=HOSTILE[index % len(HOSTILE)]) for index, token in enumerate(terms.token_info))
    provenance = replace(terms.provenance, model=HOSTILE[0], text=HOSTILE[1])
    maps = FIGURES["probe_maps"].of(params, replace(terms, token_info=tokens, provenance=provenance))
    every = " ".join(HOSTILE)
    named = replace(depth, title=every, alt=every, caption=every, command=every, provenance={"model": every})
    return {
        figure.name: export.render(figure, "svg", f"https://addend.example/?x={HOSTILE[0]}") for figure in (maps, named)
    }


@pytest.mark.parametrize("opened", ["by itself", "in a page", "as an object"])
def test_nothing_runs_in_an_exported_svg(browser, hostile_files, tmp_path, opened):
    for name, content in hostile_files.items():
        (tmp_path / f"{name}.svg").write_bytes(content)
        assert any(part.encode() in content for part in ("&lt;script", "&amp;lt;script")), "the text is not in the file"
        page_of = {
            "by itself": content.decode(),
            "in a page": f"<!doctype html><title>still</title><body>{content.decode()}</body>",
            "as an object": f'<!doctype html><title>still</title><object data="{name}.svg"></object>',
        }
        where = tmp_path / (f"{name}.svg" if opened == "by itself" else f"{name}.html")
        where.write_text(page_of[opened], encoding="utf-8")
        page = browser.new_page()
        asked: list[str] = []
        dialogs: list[str] = []
        page.on("request", lambda request, asked=asked: asked.append(request.url))
        page.on("dialog", lambda dialog, dialogs=dialogs: (dialogs.append(dialog.message), dialog.dismiss()))
        page.goto(where.as_uri())
        page.wait_for_timeout(300)
        assert not dialogs
        assert [url for url in asked if not url.startswith(("file:", "data:"))] == []
        if opened != "by itself":
            assert page.title() == "still"
        assert page.locator("script, iframe, image[onerror], a[href^=javascript]").count() == 0
        drawn = page.evaluate("document.querySelectorAll('text').length")
        assert opened == "as an object" or drawn > 3
        page.close()
