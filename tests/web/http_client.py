"""Requests to a real workbench without a browser, as an attacker or a program would send them."""

import http.client
import re
from contextlib import contextmanager
from urllib.parse import urlencode


class Client:
    """Speaks to a workbench with whatever of cookie, token and headers it is given."""

    def __init__(self, workbench):
        self.port = workbench.port
        answer = self.ask("GET", f"/start?token={workbench.token}")
        self.cookie = answer.getheader("set-cookie").split(";")[0]
        self.token = re.search(r'"x-sfumato-token": "([^"]+)"', self.get("/")[1].replace("&#34;", '"'))[1]

    def ask(self, method, path, body=None, headers=None):
        """The answer to a request with these headers alone."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=120)
        connection.request(method, path, body, headers or {})
        answer = connection.getresponse()
        answer.body = answer.read().decode("utf-8", "replace")
        connection.close()
        return answer

    @property
    def ours(self):
        """The headers of our own page."""
        return {
            "cookie": self.cookie,
            "x-sfumato-token": self.token,
            "hx-request": "true",
            "content-type": "application/x-www-form-urlencoded",
        }

    def get(self, path):
        """A page: its status and text."""
        answer = self.ask("GET", path, headers={"cookie": self.cookie})
        return answer.status, answer.body

    def post(self, path, form=None):
        """A form: the status and text of the answer."""
        answer = self.ask("POST", path, urlencode(form or {}, doseq=True), self.ours)
        return answer.status, answer.body


@contextmanager
def threads(count):
    """A pool of so many threads."""
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(count) as pool:
        yield pool
