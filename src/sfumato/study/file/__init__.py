"""Read what the owner declares: study files and taxonomy files."""

from sfumato.study.file.dump import dump_study, study_sha256
from sfumato.study.file.icd9_file import icd9_taxonomy
from sfumato.study.file.load import load_study, study_from_mapping, study_from_text
from sfumato.study.file.model_text import read_models
from sfumato.study.file.schema import study_schema
from sfumato.study.file.taxonomy_file import load_taxonomy, parse_taxonomy, taxonomy_to_yaml

__all__ = [
    "dump_study",
    "icd9_taxonomy",
    "load_study",
    "load_taxonomy",
    "parse_taxonomy",
    "read_models",
    "study_from_mapping",
    "study_from_text",
    "study_schema",
    "study_sha256",
    "taxonomy_to_yaml",
]
