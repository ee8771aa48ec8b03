"""Forms of methods: the parameters of a release as a page asks for them, and as the study file has them.

The fields come from the dataclass of a method, so a new method has a form. What a value means and whether it is allowed
is the method's business: `sfumato.methods.build` refuses what it does not understand.
"""

from collections.abc import Collection, Mapping
from dataclasses import MISSING, Field, dataclass, field, fields
from functools import cache
from typing import Any, Final

from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError
from starlette.datastructures import FormData

from sfumato.errors import UsageError
from sfumato.methods import METHODS, SCORES
from sfumato.privacy.models import MODELS
from sfumato.study.file.yaml_nodes import NotPlainError, refuse_too_much
from sfumato.study.recipe import Chosen

EPSILON: Final = "epsilon"
PRIVACY: Final = "privacy"

_NOT_ASKED: Final = frozenset({"ε-differential privacy", "capped-confidence", "template"})  # not written as one number
_POST: Final = ("class_totals", "none", "scale", "least_squares")
_CHOICES: Final[Mapping[str, tuple[str, ...]]] = {
    "score": tuple(SCORES),
    "post": _POST,
    "strategy": ("cells", "hierarchical", "wavelet", "consistent-marginals", "auto"),
    "choose": ("widest", "info_gain", "loss"),
    "ranges": ("tight", "partition"),
    "strict": ("true", "false"),
    "distance": ("equal", "ordered", "hierarchical", "js"),
}

SUITED: Final[Mapping[str, str]] = {
    "staged": "A few tables of noisy counts, a classifier and synthetic records with all attributes. Suited to "
    "predicting the target.",
    "marginals": "Noisy marginals of one to three attributes, and synthetic records. Suited to receivers whose "
    "questions are not known yet.",
    "diffgen": "Equivalence classes with noisy counts. Suited to training a classifier and to queries with few "
    "conditions.",
    "contingency": "A noisy count for each combination of the finest values. Suited to a few attributes with few "
    "values each.",
    "mondrian": "Records, generalised class by class, with low information loss.",
    "tds": "Records, all recoded by the same cuts. Suited to training a classifier.",
    "full-domain": "Records, each attribute at one level of its taxonomy: one recoding for all records.",
    "bucketization": "Exact quasi-identifiers; sensitive values are shuffled within buckets. Membership is disclosed.",
    "anatomy": "Exact quasi-identifiers and sensitive values in two tables. Membership in the table is disclosed.",
    "capped-confidence": "A random sample of the records, each generalised as far as it needs.",
}
"""What each method publishes and what it is for."""

TITLES: Final[Mapping[str, str]] = {
    "staged": "Staged tables",
    "marginals": "Marginals",
    "diffgen": "DiffGen",
    "contingency": "Contingency table",
    "mondrian": "Mondrian",
    "tds": "TDS",
    "full-domain": "Full-domain recoding",
    "bucketization": "Bucketization",
    "anatomy": "Anatomy",
    "capped-confidence": "Capped confidence",
}

LABELS: Final[Mapping[str, str]] = {
    "h": "Specialisations h",
    "k": "k",
    "l": "l",
    "t": "t",
    "c": "c",
    "alpha": "α",
    "beta": "β",
    "delta": "δ",
    "maximum": "δmax",
    "minimum": "δmin",
    "rate": "Sampling rate β",
    "distortion": "Largest distortion δ′",
    "post": "Post-processing",
    "time_limit": "Time limit in seconds",
    "ordered": "Categories cut by their order",
    "choose": "Which split comes first",
    "ranges": "Region of a group",
    "strict": "Strict: children do not overlap",
    "suppress": "Share of records that may be suppressed",
}

HELP: Final[Mapping[str, str]] = {
    "epsilon": "ε, the total cost of the release: 1, 0.1, 1/3. Stored exactly as typed.",
    "workload": "The sets of attributes that are expected to be looked at together: pairs, target (all pairs, and "
    "every pair joined with the target), or a list of sets such as [[age, sex], [age, job, income]].",
    "groups": "How many groups an attribute may have at most, from 2 to 1,000. More groups mean more noise on each.",
    "h": "The number of specialisations: a whole number of at least 1, or auto, which spends ε/100 on a noisy number "
    "of records.",
    "score": "The score of a specialisation.",
    "threshold": "The smallest noisy count that is published: a whole number of at least 1, or auto.",
    "post": "The post-processing of the noisy counts. class_totals has no expected bias in the number of each class.",
    "strategy": "What is measured: every value by itself, or sums of neighbouring values, for ranges.",
    "order": "Of consistent-marginals: how many attributes each marginal has.",
    "k": "The smallest number of records of an equivalence class. One of k and a privacy model is required.",
    "l": "The smallest number of different sensitive values in a bucket.",
    "strict": "With false, records on the median may be assigned to either child, which gives smaller groups.",
    "choose": "On the attribute in which the group is widest, the split with the highest information gain for the "
    "target, or the one with the least remaining loss.",
    "ranges": "The range of the group's values (tight), or its whole part of the space (partition).",
    "ordered": "Categories that are split at the median of their order instead of along the taxonomy: names, or all.",
    "suppress": "From 0 to 1, where that allows a finer partition.",
    "time_limit": "After this time the best combination so far is used.",
    "levels": "Bounds on levels, such as {age: [1, 3], sex: 0}.",
    "tables": "One table with shuffled sensitive values, or two: records with their bucket, and counts by bucket.",
    "rate": "The share of the records that is sampled, above 0 and at most 1. A smaller share protects better.",
    "distortion": "Of a published record, from 0 to 1.",
    "attribute": "The sensitive attribute to cap; without it, each one.",
    "population": "Public statistics: {attribute: {value: share}}, or a file with the columns attribute, value, share.",
    "rules": "Known correlations, such as [{where: {age: '[40, 60)'}, value: cancer, confidence: 0.02}].",
}
"""What a parameter means, in the words of docs/reference/methods.md."""


@dataclass(frozen=True, kw_only=True)
class Parameter:
    """One field of a form."""

    name: str
    label: str
    help: str
    value: str = ""
    hint: str = ""  # what holds if it is left empty
    choices: tuple[str, ...] = ()
    required: bool = False


@dataclass(frozen=True, kw_only=True)
class ModelForm:
    """A privacy model that a release may be required to satisfy."""

    name: str
    used: bool
    parameters: tuple[Parameter, ...]


@dataclass(frozen=True, kw_only=True)
class ReleaseForm:
    """What a page says about a release. Everything is text as typed; empty text is a parameter that is left out."""

    name: str = ""
    purpose: str = ""
    method: str = ""
    chosen: str = Chosen.IN_ADVANCE.value
    parameters: Mapping[str, str] = field(default_factory=dict)
    models: Mapping[str, Mapping[str, str]] = field(default_factory=dict)

    @classmethod
    def from_form(cls, form: FormData) -> "ReleaseForm":
        """What the page sent; only parameters of the method are taken, so those of another one do not stay behind."""
        method = _text(form, "method")
        known = {f.name for f in fields(METHODS[method])} - {PRIVACY}
        models = {
            name: {f.name: text for f in fields(MODELS[name]) if (text := _text(form, f"m.{name}.{f.name}"))}
            for name in MODELS
            if f"m.{name}" in form and _holds_models(method)
        }
        return cls(
            name=_text(form, "name"),
            purpose=_text(form, "purpose"),
            method=method,
            chosen=_text(form, "chosen") or Chosen.IN_ADVANCE.value,
            parameters={name: text for name in sorted(known) if (text := _text(form, f"p.{name}"))},
            models=models,
        )

    @classmethod
    def from_settings(cls, name: str, settings: Mapping[str, Any]) -> "ReleaseForm":
        """What the study file says."""
        plain = {key: value for key, value in settings.items() if key not in {"method", "purpose", "chosen", PRIVACY}}
        return cls(
            name=name,
            purpose=str(settings.get("purpose") or ""),
            method=str(settings.get("method") or ""),
            chosen=str(settings.get("chosen") or Chosen.IN_ADVANCE.value),
            parameters={key: _written(value) for key, value in plain.items()},
            models=_models_of(settings.get(PRIVACY)),
        )

    @property
    def private(self) -> bool:
        """Whether its method spends ε."""
        return bool(METHODS[self.method].needs.private)

    @property
    def epsilon(self) -> str:
        """ε as typed."""
        return self.parameters.get(EPSILON, "")

    def settings(self, kept: Collection[str] = ()) -> dict[str, Any]:
        """What the study file gets: what differs from the method's own defaults, and what is ``kept`` as it had it."""
        found: dict[str, Any] = {"method": self.method}
        if self.purpose:
            found = {"purpose": self.purpose, **found}
        for one in fields(METHODS[self.method]):
            text = self.parameters.get(one.name, "")
            if text and (_required(one) or one.name in kept or text != _written(_default(one))):
                found[one.name] = _read(one.name, text)
        if self.models:
            found[PRIVACY] = {
                name: {key: _read(key, text) for key, text in given.items()} for name, given in self.models.items()
            }
        if self.chosen != Chosen.IN_ADVANCE.value:
            found["chosen"] = self.chosen
        return found

    def asked(self) -> list[Parameter]:
        """The fields of the method, without ε and the privacy models, which have places of their own."""
        kind = METHODS[self.method]
        return [self._parameter(one) for one in fields(kind) if one.name not in {EPSILON, PRIVACY}]

    def model_forms(self) -> list[ModelForm]:
        """The privacy models that may be added; none where the method takes none."""
        if not _holds_models(self.method):
            return []
        return [
            ModelForm(
                name=name,
                used=name in self.models,
                parameters=tuple(
                    Parameter(
                        name=f"m.{name}.{one.name}",
                        label=LABELS.get(one.name, one.name),
                        help="",
                        value=self.models.get(name, {}).get(one.name, ""),
                        hint="each sensitive attribute" if one.name == "attribute" else _written(_default(one)),
                        choices=_CHOICES.get(one.name, ()),
                        required=_required(one),
                    )
                    for one in sorted(fields(MODELS[name]), key=lambda one: one.name == "attribute")
                ),
            )
            for name in MODELS
            if name not in _NOT_ASKED or name in self.models
        ]

    def _parameter(self, one: Field[Any]) -> Parameter:
        value = self.parameters.get(one.name, "")
        default = _written(_default(one))
        choices = _CHOICES.get(one.name, ())
        return Parameter(
            name=f"p.{one.name}",
            label=LABELS.get(one.name, one.name.replace("_", " ").capitalize()),
            help=HELP.get(one.name, ""),
            value=value or (default if choices else ""),
            hint=default,
            choices=choices,
            required=_required(one),
        )


@dataclass(frozen=True, kw_only=True)
class MethodChoice:
    """A method as it can be chosen."""

    name: str
    title: str
    summary: str
    private: bool
    target: bool


@cache
def method_choices() -> tuple[MethodChoice, ...]:
    """All methods; those that spend ε first, each kind in the order of the documentation."""
    order = {name: place for place, name in enumerate(SUITED)}
    found = [
        MethodChoice(
            name=name,
            title=TITLES.get(name, name),
            summary=SUITED.get(name) or f"{kind.summary[:1].upper()}{kind.summary[1:]}.",
            private=kind.needs.private,
            target=kind.needs.target,
        )
        for name, kind in ((name, METHODS[name]) for name in METHODS)
    ]
    return tuple(sorted(found, key=lambda one: (not one.private, order.get(one.name, len(order)))))


def number(text: str) -> Any:
    """A number as the study file writes it: as typed, without quotes where YAML reads it back as the same text."""
    try:
        whole = int(text)
    except ValueError:
        pass
    else:
        return whole if str(whole) == text else text
    try:
        real = float(text)
    except ValueError:
        return text
    return real if repr(real) == text else text


def read_yaml(text: str, what: str) -> Any:
    """A list or mapping that was typed as in the study file."""
    try:
        refuse_too_much(text)
        return YAML(typ="safe", pure=True).load(text)
    except (YAMLError, NotPlainError, RecursionError):
        raise UsageError(
            f"{what} is not written as a list or mapping", "see its example", code="SF-USAGE-440"
        ) from None


def _read(name: str, text: str) -> Any:
    if text[0] in "[{":
        return read_yaml(text, LABELS.get(name, name))
    if text in {"true", "false"}:
        return text == "true"
    if name == "ordered" and "," in text:
        return [part.strip() for part in text.split(",")]
    return number(text)


def _written(value: Any) -> str:
    """A value of the study file as text, as it would be typed."""
    if value is None or value in ((), {}):
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{key}: {_inner(inner)}" for key, inner in value.items()) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(_inner(inner) for inner in value) + "]"
    return str(value)


def _inner(value: Any) -> str:
    text = _written(value)
    plain = not isinstance(value, str) or text.replace("_", "").replace("-", "").isalnum()
    return text if plain else '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _models_of(written: Any) -> dict[str, dict[str, str]]:
    """The models of a release, by name; a model that is written twice is not for this form, and keeps its last."""
    parts = written if isinstance(written, (list, tuple)) else [written] if isinstance(written, Mapping) else []
    found: dict[str, dict[str, str]] = {}
    for part in parts:
        for name, given in part.items() if isinstance(part, Mapping) else ():
            if name in MODELS:
                first = next((f.name for f in fields(MODELS[name]) if _required(f)), "k")
                plain = given if isinstance(given, Mapping) else {first: given}
                found[str(name)] = {str(key): _written(value) for key, value in plain.items()}
    return found


def is_repeated(written: Any) -> bool:
    """Whether a release requires one model twice, which this form cannot show."""
    if not isinstance(written, (list, tuple)):
        return False
    names = [str(name) for part in written if isinstance(part, Mapping) for name in part]
    return len(names) != len(set(names))


def _holds_models(method: str) -> bool:
    return any(one.name == PRIVACY for one in fields(METHODS[method]))


def _required(one: Field[Any]) -> bool:
    return one.default is MISSING and one.default_factory is MISSING


def _default(one: Field[Any]) -> Any:
    if one.default is not MISSING:
        return one.default
    return None if one.default_factory is MISSING else one.default_factory()


def _text(form: FormData, name: str) -> str:
    found = form.get(name)
    return found.strip() if isinstance(found, str) else ""
