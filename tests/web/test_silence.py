"""What the workbench writes outside of its pages: no value of a record, no token, whatever goes wrong."""

import re

from tests.web.conftest import serving
from tests.web.http_client import Client
from tests.web.stopped_process import wait_until

SECRETS = ("Zaphod-4711", "31415.92", "Trillian Astra", "column of Zaphod-4711")
BREAKS = """
from pathlib import Path
from sfumato.web.workspace import Workspace
def studies(self):
    text = Path("t.csv").read_text()
    if Path("break").exists():
        raise ValueError(f"a record: {text}")
    return list(self._studies.values())
Workspace.studies = property(studies)
from sfumato.cli.main import main
main()
"""


def test_neither_records_nor_tokens_stand_in_the_log_or_in_names_of_files(tmp_path):
    name, wage, city, odd = SECRETS
    rows = "".join(f"{name}{n},{wage},{city},1\n" for n in range(30))
    (tmp_path / "t.csv").write_text(f"name,wage,city,{odd}\n{rows}")
    errors = tmp_path / "errors.txt"
    with serving(tmp_path, program=("-c", BREAKS), errors=errors) as bench:
        client = Client(bench)
        key = re.search(
            r"/s/(\w+)/", client.ask("POST", "/open/table", "path=t.csv", client.ours).getheader("hx-redirect")
        )[1]
        wait_until(lambda: "column-rows" in client.get(f"/s/{key}/columns")[1])
        assert name in client.get(f"/s/{key}/columns/0")[1]  # the owner sees what is there
        for number, values in ((0, "Ford"), (2, "Arthur")):  # domains that the records are not in
            form = {"role": "quasi_identifier", "type": "text", "values": values, "origin": "public"}
            assert client.post(f"/s/{key}/columns/{number}", form)[0] in {200, 422}
        client.post(f"/s/{key}/columns/check")
        wait_until(lambda: "progress" not in client.get(f"/s/{key}/columns")[1].partition('id="messages"')[2][:400])
        upload = {**client.ours, "x-file-name": f"{name}.csv"}
        assert client.ask("POST", "/open/upload", f"name\n{name}\n" * 20, upload).status == 201
        for path in (f"/{name}", f"/s/{name}/columns", f"/b/{name}", f"/jobs/{name}/cancel", f"/start?token={name}"):
            assert client.get(path)[0] in {403, 404, 405, 422}
        client.post("/open/table", {"path": f"{name}/none.csv"})
        client.post("/open/table", {"path": "\0", "address": f"no-such://{name}"})
        (tmp_path / "break").touch()
        status, text = client.get("/")
        assert status == 500 and "SF-INTERNAL" in text
        assert not [secret for secret in SECRETS if secret in text]
        (tmp_path / "break").unlink()
        tokens = [bench.token, client.token, client.cookie.partition("=")[2]]
        made = [path.name for path in tmp_path.iterdir()]
    said = errors.read_text()
    assert [secret for secret in (*SECRETS, *tokens) if secret in said] == []
    assert [one for one in made if city in one or wage in one or any(token in one for token in tokens)] == []
