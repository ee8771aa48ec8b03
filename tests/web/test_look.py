"""What the stylesheet promises of parts that have broken before, without a server."""

import pytest

from sfumato.look import stylesheet

PAIRS = """<dl class="pairs"><dt>Exposed by the combination only</dt><dd>45,222 of 45,222</dd>
<dt>One possible value of <code>income</code></dt><dd>35.3 % (alone 35.2 % and 11.6 %)</dd><dt>k</dt><dd>5</dd></dl>"""


@pytest.fixture(scope="module")
def page(chromium):
    context = chromium.new_context()
    yield context.new_page()
    context.close()


@pytest.mark.parametrize("width", [220, 300, 600])
def test_a_long_name_leaves_its_value_half_of_the_line(page, width):
    page.set_content(f"<style>{stylesheet()} .test {{ width: {width}px }}</style><div class=test>{PAIRS}</div>")
    for value in page.locator("dd").all():
        assert value.bounding_box()["width"] >= 0.45 * width


def test_a_short_name_takes_no_more_than_it_needs(page):
    pairs = "<dl class=pairs><dt>k</dt><dd>5</dd></dl>"
    page.set_content(f"<style>{stylesheet()} .test {{ width: 400px }}</style><div class=test>{pairs}</div>")
    assert page.locator("dd").bounding_box()["width"] > 350


def test_a_part_that_is_empty_takes_no_room(page):
    places = []
    for part in ("", '<div id="study-problem">\n\n</div>', '<div id="study-problem"><p>c</p></div>'):
        body = f'<div class="page-body"><p>a</p>{part}<p id="last">b</p></div>'
        page.set_content(f"<style>{stylesheet()}</style>{body}")
        places.append(page.locator("#last").bounding_box()["y"])
    assert places[0] == places[1] < places[2]
