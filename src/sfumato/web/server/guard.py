"""Who may talk to the workbench: requests of its own pages, in a browser that was given the start token.

Every request is held to this before a page sees it. The Host must be one of ours: a foreign name that was made to point
here (DNS rebinding) is refused. A cookie, which only the start token gives, must come along. What changes anything must
come from our own origin and carry the request token that stands in our pages; other sites, and pages on other ports of
this machine, have neither. A browser that says where a request comes from is believed: nothing is fetched, not even an
image, for the page of another site or port.
"""

from secrets import compare_digest
from typing import Final
from urllib.parse import parse_qs

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import HTMLResponse, PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from sfumato.errors import UsageError
from sfumato.web.server.peer import ADMIT
from sfumato.web.server.settings import Settings
from sfumato.web.workspace import Workspace

START: Final = "/start"
REQUEST_TOKEN: Final = "x-sfumato-token"  # noqa: S105 - the name of a header
_SAFE: Final = ("GET", "HEAD")
UPLOAD: Final = "/open/upload"  # has a limit of its own
MOST_BODY: Final = 32 << 20
_OUR_OWN: Final = ("same-origin", "none")  # where a browser says that a request comes from: our page, or nowhere

# Nothing from elsewhere, no script or style in a page itself, no page in a frame of another site.
_POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "font-src 'self'; frame-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
_HEADERS: Final = {
    "content-security-policy": _POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), microphone=(), geolocation=(), interest-cohort=()",
    "cache-control": "no-store",
}


class Guard:
    """An ASGI application around another one."""

    def __init__(self, app: ASGIApp, settings: Settings, workspace: Workspace) -> None:
        self._app = app
        self._settings = settings
        self.workspace = workspace

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or refuse it."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":  # no other kind of connection is used
            return
        refused = self._refused(scope)
        if refused is None:
            scope.get("state", {}).get(ADMIT, _nobody)()
        bounded = receive if scope["path"] == UPLOAD else _bounded(receive)
        await (refused or self._app)(scope, bounded, _with_headers(send))

    def _refused(self, scope: Scope) -> Response | None:  # noqa: PLR0911 - a reason each
        """The answer to a request that goes no further; None for one that does."""
        headers, settings = Headers(scope=scope), self._settings
        if headers.get("host", "").lower() not in settings.hosts:
            return _forbidden("this address is not that of the workbench")
        if scope["path"] == START:
            return self._start(scope)
        if headers.get("sec-fetch-site", "none") not in _OUR_OWN:
            return _forbidden("the request came from another site")
        if not _has_cookie(headers, settings.cookie, settings.session):
            return _forbidden("open the workbench by the address that `sfumato serve` printed")
        if scope["method"] in _SAFE:
            return None
        origin = headers.get("origin")
        if origin is not None and origin.lower() not in settings.origins:
            return _forbidden("the request came from another site")
        if not compare_digest(headers.get(REQUEST_TOKEN, "").encode(), settings.request_token.encode()):
            return _forbidden("the page is not of this workbench: reload it")
        return None

    def _start(self, scope: Scope) -> Response:
        """Exchange the start token for the cookie; the address with the token does not stay in the browser's bar."""
        given = parse_qs(scope["query_string"].decode("latin-1")).get("token", [""])[0]
        if scope["method"] not in _SAFE or not compare_digest(given.encode(), self._settings.token.encode()):
            return _forbidden("open the workbench by the address that `sfumato serve` printed")
        # A browser that was sent here from elsewhere keeps a strict cookie back on the way, and sends it from our page.
        sent = Headers(scope=scope).get("sec-fetch-site", "none") not in _OUR_OWN
        answer: Response = HTMLResponse(_ONWARD) if sent else RedirectResponse("/", status_code=303)
        answer.set_cookie(
            self._settings.cookie, self._settings.session, httponly=True, samesite="strict", secure=self._settings.tls
        )
        return answer


_ONWARD: Final = (
    '<!doctype html><html lang="en"><meta charset="utf-8"><meta http-equiv="refresh" content="0;url=/">'
    '<title>Sfumato</title><p><a href="/">Open the workbench</a></p></html>'
)


def _bounded(receive: Receive) -> Receive:
    """The same request, if its body has no more bytes than the largest form."""
    size = 0

    async def received() -> Message:
        nonlocal size
        message = await receive()
        size += len(message.get("body", b""))
        if size > MOST_BODY:
            raise UsageError(
                f"what the page sent is larger than {MOST_BODY >> 20} MiB",
                "write it to a file, and open that",
                code="SF-USAGE-642",
            )
        return message

    return received


def _forbidden(why: str) -> Response:
    return PlainTextResponse(f"Refused: {why}.\n", status_code=403, headers={"connection": "close"})


def _nobody() -> None:
    """Requests of tests come over no connection."""


def _has_cookie(headers: Headers, name: str, value: str) -> bool:
    """Whether one of the cookies is ours.

    A browser also sends those that other programs of this machine have set, on any port, in any form, and maybe under
    our name: each part is looked at by itself, so that none of them locks the owner out.
    """
    parts = (part.strip() for line in headers.getlist("cookie") for part in line.split(";"))
    given = (part.removeprefix(f"{name}=") for part in parts if part.startswith(f"{name}="))
    return any(compare_digest(one.encode(), value.encode()) for one in given)


def _with_headers(send: Send) -> Send:
    async def sent(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in _HEADERS.items():
                headers.setdefault(name, value)
        await send(message)

    return sent
