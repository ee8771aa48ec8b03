"""Bundles as a forger makes them: any manifest and any files, hashed and sealed again."""

import hashlib
import json
import shutil
from pathlib import Path

from sfumato.privacy.models import parse_models
from sfumato.release.release import Release
from sfumato.release.storage.seal import seal
from sfumato.release.verify import verify_bundle
from tests.release import conftest as counts
from tests.release import partitions

FORMS = ("counts", "generalised", "bucketized", "anatomy", "suppressed")


def write_sound(form, folder, source=None):
    """A small bundle of each form, and of records with suppressed ones among them; a source is for what is drawn."""
    if form == "counts":
        return counts.publish(counts.small_draft(), folder).path
    lost = form == "suppressed"
    draft = partitions.small_draft(form="generalised" if lost else form, suppressed=lost)
    if form in {"bucketized", "anatomy"}:
        draft = partitions.small_draft(form=form, models=parse_models({"distinct-l-diversity": 1}))
    return partitions.publish(draft, folder, suppression=lost, source=source).path


def manifest(bundle):
    return json.loads((bundle / "manifest.json").read_text(encoding="utf-8"))


def forge(bundle, change=lambda content: None):
    """Change the manifest, tell the hashes of the files as they are now, and seal it."""
    content = manifest(bundle)
    for name in content["files"]:
        raw = (bundle / name).read_bytes()
        content["files"][name] = {"size": len(raw), "sha256": hashlib.sha256(raw).hexdigest()}
    change(content)
    write_manifest(bundle, content)


def write_manifest(bundle, content):
    """As manifests are written, sealed where that can be done; what JSON does not allow is written all the same."""
    try:
        content["seal"] = seal(content)
    except (ValueError, TypeError, RecursionError):
        content["seal"] = "0" * 64
    text = json.dumps(content, ensure_ascii=False, indent=2) + "\n"
    (bundle / "manifest.json").write_bytes(text.encode("utf-8", "surrogatepass"))


def receive(bundle):
    """Everything that a receiver does with a bundle; the outcome of each step is a result or an exception."""
    outcomes = [outcome(verify_bundle, bundle)]
    release = outcome(Release.open, bundle)
    outcomes.append(release)
    if isinstance(release, Release):
        column = next(iter(release.domains))
        outcomes += [
            outcome(release.to_arrow),
            outcome(release.to_training),
            outcome(release.encoder),
            outcome(release.sample, None, 2),
            outcome(release.sample, 3, 1),
            outcome(release.query, f"'{column}' != nowhere"),
            outcome(release.query, f"'{column}' >= 3"),
        ]
    return outcomes


def outcome(function, *arguments):
    try:
        return function(*arguments)
    except Exception as error:  # noqa: BLE001 - the tests look at what it is
        return error


def copy(files, folder):
    """The files of a bundle in a folder of their own."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for name, raw in files.items():
        (folder / name).write_bytes(raw)
    return folder


def files_of(bundle):
    return {path.name: path.read_bytes() for path in Path(bundle).iterdir()}
