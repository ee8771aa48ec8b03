"""How pages answer: in a thread, since studies, ledgers and tables are files, and nothing may hold up the others."""

import re
from collections.abc import Awaitable, Callable
from typing import Final

from starlette.concurrency import run_in_threadpool
from starlette.datastructures import FormData
from starlette.requests import Request
from starlette.responses import Response

from sfumato.web.server.guard import MOST_BODY

_MOST_FIELDS = 20_000  # of a form: a grid of thousands of columns
_ODD: Final = re.compile(r"[^\w .,+=()@-]", re.ASCII)


def posted(handler: Callable[[Request, FormData], Response]) -> Callable[[Request], Awaitable[Response]]:
    """A page that takes a form. Pages without one are plain functions, which Starlette runs in a thread itself."""

    async def handle(request: Request) -> Response:
        form = await request.form(max_files=0, max_fields=_MOST_FIELDS, max_part_size=MOST_BODY)
        return await run_in_threadpool(handler, request, form)

    handle.__name__ = handler.__name__
    handle.__doc__ = handler.__doc__
    return handle


def attachment(name: str) -> dict[str, str]:
    r"""The header by which a browser saves an answer under a name; names of files may hold anything, a header may not.

    >>> attachment('Größe "a b"\n.yaml')
    {'content-disposition': 'attachment; filename="Gr__e _a b__.yaml"'}
    """
    return {"content-disposition": f'attachment; filename="{_ODD.sub("_", name)}"'}


def go(address: str) -> Response:
    """Send the browser to another page, from a request of htmx."""
    return Response(status_code=204, headers={"hx-redirect": address})
