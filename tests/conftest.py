"""What all tests share: how hard hypothesis searches, what is said of chance, and where the large public tables lie."""

import os
from functools import cache
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from sfumato.privacy.dp.sampling import InsecureSource, SecureSource
from tests import postgres_server, spark_session
from tests.error_rates import Guard
from tests.kept import keep

ROOT = Path(__file__).parents[1]

# No deadline: a busy machine is not a bug. The blob printed on failure replays the example anywhere. The quick profile
# takes the same examples in every run, so that none is red by chance; the slow one explores.
BUSY = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow], "print_blob": True}
settings.register_profile("quick", **BUSY, max_examples=30, derandomize=True)
settings.register_profile("slow", **BUSY, max_examples=1_000)
settings.load_profile("quick")  # `--hypothesis-profile=slow` comes later and wins


def pytest_configure(config):
    """Registered by name, not as hooks of this file: examples in the docstrings of src are watched too."""
    if not config.pluginmanager.has_plugin("error-rates"):
        config.pluginmanager.register(Guard(), "error-rates")


@pytest.fixture(autouse=True, scope="session")
def _working_folder(tmp_path_factory):
    """Studies in memory keep their ledgers in the working folder: each test has one of its own, made when needed."""

    @cache
    def folder(_test):
        return tmp_path_factory.mktemp("working")

    def working_folder():
        return folder(os.environ.get("PYTEST_CURRENT_TEST", "").rpartition(" (")[0])

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sfumato.workflow.steps.outcome.working_folder", working_folder)
        yield


@pytest.fixture(autouse=True, scope="session")
def _kept():
    """What is the same in every test is worked out once."""
    with pytest.MonkeyPatch.context() as patch:
        keep(patch)
        yield


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of public tables that are too large for the repository; without it the test is skipped."""
    folder = Path(os.environ.get("SFUMATO_SHARED", ROOT.parent / "shared" / "data"))
    if not folder.is_dir():
        pytest.skip("the shared tables are not here: put them in ../shared/data, or name the folder in SFUMATO_SHARED")
    return folder


@pytest.fixture
def seeded(monkeypatch) -> InsecureSource:
    """Whatever asks for a secure source in this process gets this one: a test that always draws the same."""
    source = InsecureSource(20_140)
    monkeypatch.setattr(SecureSource, "__new__", lambda _: source)
    return source


@pytest.fixture(scope="session")
def postgres():
    """The address of a server that runs as long as the tests do."""
    why = postgres_server.missing()
    if why:
        pytest.skip(why)
    with postgres_server.running() as address:
        yield address


@pytest.fixture(scope="session")
def spark(tmp_path_factory):
    """A session of Spark on this machine that runs as long as the tests do."""
    why = spark_session.missing()
    if why:
        pytest.skip(why)
    with spark_session.running(tmp_path_factory.mktemp("spark")) as session:
        yield session
