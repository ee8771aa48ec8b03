"""The last check of a study's table, as its pages show it."""

from sfumato.web.jobs import Job
from sfumato.web.workspace import OpenStudy


def last_check(opened: OpenStudy) -> tuple[Job, str] | None:
    """The job that compared the table with the study last, and the state of the file that it looked at."""
    found: tuple[Job, str] | None = opened.cache.get("check")
    return found


def collect_check(opened: OpenStudy) -> None:
    """Keep what a check found once it has ended; values that the study declares an error make it end with code 4."""
    job, looked_at = last_check(opened) or (None, "")
    if job is None or job.state == "running" or opened.cache.get("collected") == job.id:
        return
    reports = job.result
    if isinstance(reports, list):
        opened.cache["checked"] = {"version": looked_at, "reports": reports, "id": job.id}
    opened.cache["collected"] = job.id
