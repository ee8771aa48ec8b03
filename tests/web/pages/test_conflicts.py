"""Two tabs, and pages that are no longer true: the second of two is refused, by its code, and nothing is done twice."""

import re

import pytest

from sfumato.api import Study
from tests.web.conftest import serving
from tests.web.http_client import Client, threads
from tests.web.small_study import write_adult
from tests.web.stopped_process import children, going_on, stopping, wait_until


@pytest.fixture(scope="module")
def bench(tmp_path_factory):
    folder = tmp_path_factory.mktemp("conflicts")
    write_adult(folder, rows=500)
    with serving(folder, "study.yaml") as found:
        client = Client(found)
        yield found, client, re.search(r"/s/(\w+)/columns", client.get("/")[1])[1]


@pytest.mark.error_rate(0, reason="how often it is released is looked at, and not what was drawn")
def test_a_second_release_at_a_time_is_refused(bench):
    workbench, client, key = bench
    version = re.search(r'name="version" value="(\w+)"', client.get(f"/s/{key}/release?release=dp")[1])[1]
    form = {"release": "dp", "version": version, "typed_name": "dp", "typed_epsilon": "0.5"}
    with threads(6) as pool:
        with stopping(workbench, "release", "dp") as stopped:
            asked = [pool.submit(client.post, f"/s/{key}/release", form) for _ in range(6)]
            job = stopped()
        with going_on(job):
            answers = [one.result() for one in asked]
            assert len(children(workbench.process.pid, "release", "dp")) == 1
    assert sorted(status for status, _ in answers) == [204] + [422] * 5
    assert all("SF-USAGE-444" in text for status, text in answers if status == 422)
    study = Study.load(workbench.folder / "study.yaml")
    wait_until(lambda: [entry.state for entry in study.ledger.entries("adult")] == ["done"])


@pytest.mark.error_rate(0, reason="how often it is started is looked at, and not what was drawn")
def test_a_second_sweep_at_a_time_is_refused_and_changes_nothing_of_the_first(bench):
    workbench, client, key = bench
    with threads(6) as pool:
        forms = [{"sweep": "default", "purpose": "survey", "repeats": n} for n in range(1, 7)]
        with stopping(workbench, "frontier") as stopped:
            asked = [pool.submit(client.post, f"/s/{key}/frontier/start", form) for form in forms]
            started = stopped()
        with going_on(started):
            answers = [one.result() for one in asked]
            assert len(children(workbench.process.pid, "frontier")) == 1
            page = client.get(f"/s/{key}/frontier")[1]
            job = page.split('sse-connect="/jobs/')[1].split("/")[0]
            client.post(f"/jobs/{job}/cancel")
    assert sorted(status for status, _ in answers) == [204] + [422] * 5
    assert all("SF-USAGE-467" in text for status, text in answers if status == 422)
    (started,) = (form["repeats"] for form, (status, _) in zip(forms, answers, strict=True) if status == 204)
    assert f'name="repeats" inputmode="numeric" value="{started}"' in page
    wait_until(lambda: not children(workbench.process.pid, "frontier"))


def test_an_edit_of_a_tree_or_study_that_changed_elsewhere_is_refused(bench):
    _, client, key = bench
    place = f"/s/{key}/taxonomies/1"
    text = client.get(place)[1]
    revision = re.search(r'name="revision" value="(\d+)"', text)[1]
    form = {"attribute": "education", "revision": revision, "do": "sort"}
    assert client.post(f"{place}/edit", {**form, "revision": int(revision) + 1})[1].count("SF-USAGE-471") == 1
    assert client.post(f"{place}/edit", {**form, "attribute": "sex"})[1].count("SF-USAGE-478") == 1


def test_an_attribute_keeps_its_address_when_another_comes_before_it_or_goes(bench):
    workbench, client, key = bench
    file = workbench.folder / "study.yaml"
    before = file.read_text()
    numbers = dict(re.findall(rf'href="/s/{key}/taxonomies/(\d+)">(\w+)', client.get(f"/s/{key}/taxonomies")[1]))
    parts = ("", "/children?node=0&from=0", "/taxonomy.csv")

    def found(number):
        return [client.get(f"/s/{key}/taxonomies/{number}{part}")[1] for part in parts]

    shown = {number: found(number) for number, name in numbers.items() if name in {"education", "sex", "occupation"}}
    assert len(shown) == 3
    try:
        for more in ("  region: {role: quasi_identifier, values: [north, south]}\n  age:", "  age:"):
            text = before.replace("  age:", more, 1)
            file.write_text(text if "region" in text else re.sub(r"  age: .*\n", "", text))
            for number, parts_shown in shown.items():
                pages = found(number)
                assert pages[1:] == parts_shown[1:]
                assert f'<span class="mono">{numbers[number]}</span>' in pages[0]
        gone = next(number for number, name in numbers.items() if name == "age")
        assert "SF-USAGE-477" in client.get(f"/s/{key}/taxonomies/{gone}")[1]
    finally:
        file.write_text(before)
