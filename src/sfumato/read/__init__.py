"""Read what the owner declares: study files and taxonomy files."""

from sfumato.read.dump import dump_study
from sfumato.read.icd9_file import icd9_taxonomy
from sfumato.read.promise import read_promise
from sfumato.read.schema import study_schema
from sfumato.read.study_file import load_study, study_from_mapping, study_from_text
from sfumato.read.taxonomy_file import load_taxonomy, parse_taxonomy, taxonomy_to_yaml

__all__ = [
    "dump_study",
    "icd9_taxonomy",
    "load_study",
    "load_taxonomy",
    "parse_taxonomy",
    "read_promise",
    "study_from_mapping",
    "study_from_text",
    "study_schema",
    "taxonomy_to_yaml",
]
