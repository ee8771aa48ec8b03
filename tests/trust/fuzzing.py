"""Mutated inputs by number: the same number gives the same input, whichever process makes it.

Run as a program it tries ranges of numbers in a process with little memory and an alarm for each input, and prints
what was neither a result nor an error of ours: `python -m tests.trust.fuzzing manifest 0 1000 study 0 500`.
"""

import copy
import json
import os
import resource
import shutil
import signal
import sys
import tempfile
from functools import cache
from pathlib import Path
from random import Random

from sfumato.errors import InternalError, SfumatoError, VerifyError
from sfumato.interactive import DiffPC45
from sfumato.privacy.dp.sampling import InsecureSource
from sfumato.privacy.models import parse_models
from sfumato.study.file import load_study, load_taxonomy, read_models
from tests.trust import forged

SECONDS = 30  # for one input, which takes some milliseconds
ROOM = 1 << 31  # bytes of address space beyond what the process has before it begins

VALUES = [
    None, True, False, 0, 1, -1, 5, 2**31, 2**53, 2**62, 2**63, -(2**63), 10**30, 10**400, 0.5, -1.0, 1e308, 1e-308,
    float("nan"), float("inf"), "", "x", "0", "-1", "1/0", "1/3", "9" * 400, "1e99", "\ud800", "\x00", "\x1b[2J",
    "a" * 10**4, "day", "integer", "number", "finest", "grid", "sets", "categories", "regions", "values", "anatomy",
    [], {}, [[]], [None], [0], [-1], [0, 0], [2**62], {"a": 1}, ["x", "x"], list(range(300)),
]  # fmt: skip


def mutate(tree, random):
    """A copy of plain values with one to three changes anywhere in it."""
    found = copy.deepcopy(tree)
    for _ in range(random.randint(1, 3)):
        place, key = random.choice(_places(found))
        old = place[key]
        kind = random.randrange(8)
        if kind == 0:
            del place[key]
        elif kind == 1:
            place[key] = copy.deepcopy(random.choice(VALUES))
        elif kind == 2:
            other, its = random.choice(_places(found))
            place[key] = copy.deepcopy(other[its])
        elif kind == 3 and isinstance(place, list):
            place.insert(key, copy.deepcopy(old))
        elif kind == 4 and isinstance(old, list):
            random.shuffle(old)
        elif kind == 5 and type(old) in {int, float}:
            place[key] = random.choice([old + 1, old - 1, -old, old * 2**40, old * 10**20])
        elif kind == 6 and isinstance(old, str):
            place[key] = _mutate_text(old, random)
        else:
            place[key] = [old] if random.random() < 0.5 else {"x": old}
        if not _places(found):
            break
    return found


def mutate_bytes(raw, random):
    """A copy of bytes with flips, cuts, repeats and numbers put in."""
    found = bytearray(raw)
    for _ in range(random.randint(1, 4)):
        size = len(found)
        place = random.randrange(size + 1)
        kind = random.randrange(6)
        if kind <= 1 and place < size:
            found[place] ^= 1 << random.randrange(8)
        elif kind == 2 and place < size:
            found[place] = random.choice([0, 0x7F, 0x80, 0xFF, 0x0A, 0x22, 0x2C])
        elif kind == 3:
            del found[place : place + random.choice([1, 4, 16, size])]
        elif kind == 4:
            part = found[place : place + random.choice([1, 4, 16, 64])]
            found[place:place] = part * random.choice([1, 2, 100])
        else:
            number = random.choice([0, 1, 2**31 - 1, 2**32 - 1, 2**63 - 1, 2**64 - 1])
            found[place : place + 8] = number.to_bytes(8, "little")
    return bytes(found)


def _mutate_text(text, random):
    return mutate_bytes(text.encode("utf-8", "surrogatepass"), random).decode("utf-8", "replace")


def _places(tree):
    """Everything that can be changed: a list or mapping, and a place in it."""
    found = []
    todo = [tree]
    while todo:
        part = todo.pop()
        inner = list(part.items()) if isinstance(part, dict) else list(enumerate(part))
        found += [(part, key) for key, _ in inner]
        todo += [value for _, value in inner if isinstance(value, (dict, list))]
    return found


class Manifests:
    """Manifests of every form, changed in their structure and sealed again, or in their bytes."""

    def __init__(self, folder):
        self.folder = folder
        self.sound = _sound()

    def try_one(self, random):
        bundle = forged.copy(self.sound[random.choice(forged.FORMS)], self.folder / "bundle")
        self.change(bundle, random)
        outcomes = forged.receive(bundle)
        for one in outcomes[:2]:  # of `verify` and `open`: what is wrong is the bundle
            if isinstance(one, SfumatoError) and not isinstance(one, VerifyError):
                outcomes.append(AssertionError(repr(one)))
        return outcomes

    def change(self, bundle, random):
        if random.random() < 0.15:
            raw = mutate_bytes((bundle / "manifest.json").read_bytes(), random)
            (bundle / "manifest.json").write_bytes(raw)
        else:
            content = mutate(forged.manifest(bundle), random)
            forged.write_manifest(bundle, content) if isinstance(content, dict) else None


@cache
def _sound():
    """The files of a sound bundle of every form, the same in every process: buckets are drawn from a seed."""
    source = InsecureSource(1)
    with tempfile.TemporaryDirectory(prefix="fuzz-") as folder:
        return {form: forged.files_of(forged.write_sound(form, Path(folder) / form, source)) for form in forged.FORMS}


class DataFiles(Manifests):
    """The other files of bundles, changed in their bytes; the manifest tells their hashes as they are then."""

    def change(self, bundle, random):
        names = sorted(path.name for path in bundle.iterdir() if path.name != "manifest.json")
        weights = [8 if name.endswith(".parquet") else 3 if name.endswith(".csv") else 1 for name in names]
        for name in {*random.choices(names, weights, k=random.choice([1, 1, 2]))}:
            (bundle / name).write_bytes(mutate_bytes((bundle / name).read_bytes(), random))
        forged.forge(bundle)


STUDY = {
    "name": "clinic", "source": {"path": "clinic.csv", "delimiter": ",", "encoding": "utf-8", "missing": ["?"]},
    "privacy": {"unit": {"person": "id", "at_most": "2"}, "budget": "3/2"},
    "attributes": {
        "id": {"role": "identifier"},
        "when": {"role": "time", "type": "date", "format": ["%d.%m.%Y"]},
        "age": {"role": "quasi_identifier", "type": "integer", "bounds": ["0", "99"], "step": "1", "missing": "keep"},
        "pay": {"role": "sensitive", "type": "number", "bounds": ["0", "10"], "step": "0.25",
                "taxonomy": {"intervals": {"width": "2"}}},
        "job": {"role": "quasi_identifier",
                "taxonomy": {"Any": {"Professional": ["Engineer", "Lawyer"], "Artist": ["Dancer"]}}},
        "codes": {"role": "quasi_identifier", "type": "set", "separator": ";", "most": "3", "level": "1",
                  "taxonomy": {"All": {"1*": ["15", "16"], "3*": ["31"]}}},
        "ill": {"role": "class", "values": ["no", "yes"]},
    },
    "purposes": {"old": {"attributes": ["age", "job", "ill"], "where": {"age": ["60"]},
                         "span": ["2020-01-01", "2021-01-01"]},
                 "rich": {"attributes": ["pay", "ill"], "where": "pay >= 5 and not (job = Artist)"}},
    "releases": {"dp": {"method": "diffgen", "epsilon": "1", "h": 3},
                 "groups": {"method": "mondrian", "privacy": {"t-closeness": {"t": "0.2", "distance": "js"}}}},
    "sweeps": {"ks": [{"method": "mondrian", "k": [2, 5]}]},
    "ledger": "ledger.sqlite",
}  # fmt: skip
TREE = "Engineer,Professional,Any\nLawyer,Professional,Any\nDancer,Artist,Any\n"
NESTED = {"Any": {"Professional": ["Engineer", "Lawyer"], "Artist": {"Stage": ["Dancer"], "Page": "Writer"}}}
PROMISE = {"t-closeness": {"t": "0.2", "distance": "js"}, "k-anonymity": 5, "capped-confidence": {"rate": "0.5"}}
MODEL = {
    "format": "sfumato-tree", "version": 1, "parameters": {"epsilon": "1", "depth": 2},
    "class": {"name": "ill", "domain": {"kind": "categories", "declared": True, "missing": None, "other": None,
              "taxonomy": {"labels": ["Any", "no", "yes"], "parents": [-1, 0, 0]}}},
    "attributes": [{"name": "age", "domain": {"kind": "grid", "declared": True, "unit": "integer", "lower": "0",
                    "upper": "99", "step": "1", "missing": None, "missing_label": "", "taxonomy": None}}],
    "nodes": [{"counts": [5, 4], "attribute": "age", "ranges": [[0, 40], [40, 100]], "children": [1, 2]},
              {"counts": [5, -1]}, {"counts": [0, 5]}],
}  # fmt: skip


class StudyFiles:
    """What the owner of a table writes: studies, taxonomies, promises; and models, which others publish."""

    def __init__(self, folder):
        self.folder = folder

    def try_one(self, random):
        name, content, read = random.choice([
            ("study.yaml", STUDY, self._study), ("study.yaml", STUDY, self._study), ("tree.csv", TREE, load_taxonomy),
            ("tree.yaml", NESTED, load_taxonomy), ("models.yaml", PROMISE, self._promise),
            ("model.json", MODEL, self._model),
        ])  # fmt: skip
        path = self.folder / name
        if isinstance(content, str) or random.random() < 0.4:
            raw = content if isinstance(content, str) else json.dumps(content, indent=1, ensure_ascii=False)
            path.write_bytes(mutate_bytes(raw.encode(), random))
        else:
            text = json.dumps(mutate(content, random), indent=1, ensure_ascii=random.random() < 0.5)
            path.write_bytes(text.encode("utf-8", "surrogatepass"))
        return [forged.outcome(read, path)]

    @staticmethod
    def _study(path):
        study = load_study(path)
        return [forged.outcome(recipe_and_method, study, name) for name in study.releases]

    @staticmethod
    def _promise(path):
        return [model.sentence() for model in parse_models(read_models([str(path)]))]

    @staticmethod
    def _model(path):
        found = DiffPC45.load(path)
        return found.to_text(), found.predict({"age": [3, None, "x", 400]}), found.to_json()


def recipe_and_method(study, name):
    from sfumato.methods import build
    from sfumato.study.recipe import recipe_from_study

    return build(recipe_from_study(study, name))


TARGETS = {"manifest": Manifests, "data": DataFiles, "study": StudyFiles}


def strange(outcomes):
    """What is neither a result nor an error that a user should see."""
    found = []
    todo = list(outcomes)
    while todo:
        one = todo.pop()
        if isinstance(one, list):
            todo += one
        elif isinstance(one, Exception) and (not isinstance(one, SfumatoError) or isinstance(one, InternalError)):
            found.append(one)
    return found


def caught_by_net(outcomes):
    """The exceptions that only the net below everything turned into an answer."""
    found = [one for one in outcomes if isinstance(one, SfumatoError)]
    return [one.__context__ for one in found if "in a way that" in str(one) or "cannot be understood" in str(one)]


def _limited():
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    used = int(Path("/proc/self/statm").read_text().split()[0]) * os.sysconf("SC_PAGESIZE")
    _, most = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (used + ROOM, most))  # the soft one: the next range begins with more


def _ring(*_):
    raise AssertionError("it hangs")


def main(target, start, count):
    """Try inputs; prints the number of each that went wrong, and how often the net was needed."""
    folder = Path(tempfile.mkdtemp(prefix="fuzz-"))
    wrong, nets = 0, {}
    try:
        tried = TARGETS[target](folder)
        tried.try_one(Random(f"{target} warm"))  # imports what is imported late, before memory is limited
        _limited()
        signal.signal(signal.SIGALRM, _ring)
        for number in range(start, start + count):
            (folder / "number").write_text(str(number))
            sys.stdout.flush()
            signal.alarm(SECONDS)
            try:
                outcomes = tried.try_one(Random(f"{target} {number}"))
                bad = strange(outcomes)
            except Exception as error:  # noqa: BLE001 - reported below
                outcomes, bad = [], [error]
            finally:
                signal.alarm(0)
            for error in caught_by_net(outcomes):
                nets.setdefault(repr(error)[:100], number)
            if bad:
                wrong += 1
                print(f"{target} {number}: {[repr(error)[:200] for error in bad]}")  # noqa: T201 - a program
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    print(json.dumps({"target": target, "tried": count, "wrong": wrong, "net": nets}))  # noqa: T201 - a program
    return int(wrong > 0)


if __name__ == "__main__":
    ranges = zip(sys.argv[1::3], sys.argv[2::3], sys.argv[3::3], strict=True)
    sys.exit(max([main(target, int(start), int(count)) for target, start, count in ranges]))
