"""Words that names of columns are made of, by what such a column usually says of a person.

They are general: what statistics offices, hospitals, courts, banks and employers call their columns, in English and
the commonest of it in German, French, Spanish, Italian and Dutch. A word of five letters or more also counts inside a
longer one (`migra` in `immigration`), shorter ones and those of `ALONE` by themselves only.
"""

from typing import Final

IDS: Final = ("id", "ids", "key", "uid", "pid", "guid", "uuid", "identifier", "ssn", "mrn", "kennung")
KEYS: Final = (*IDS, "number", "nummer", "nr", "numero", "numéro", "número")
"""A number is a key only beside other signs: a house number is none."""
IDENTIFYING: Final = (
    "id", "ids", "key", "uid", "pid", "guid", "uuid", "identifier", "ssn", "mrn", "nhs", "name", "surname",
    "firstname", "lastname", "fullname", "username", "email", "mail", "phone", "telephone", "mobile", "fax",
    "address", "street", "passport", "license", "licence", "iban", "account", "ip", "imei", "plate", "serial",
    "vorname", "nachname", "kennung", "versichertennummer", "steuernummer", "kundennummer", "anschrift", "strasse",
    "straße", "telefon", "nom", "prenom", "prénom", "adresse", "téléphone", "courriel", "nombre", "apellido", "dni",
    "dirección", "direccion", "teléfono", "nome", "cognome", "indirizzo", "naam", "voornaam", "achternaam", "bsn",
)  # fmt: skip

BIRTH: Final = (
    "birth", "born", "dob", "birthday", "geburt", "geboren", "naissance", "nacimiento", "nascita", "geboorte",
)  # fmt: skip
POSTAL: Final = ("zip", "zipcode", "zip3", "zip5", "postal", "postcode", "plz", "postleitzahl")
_PERSON: Final = (
    "age", "ages", "sex", "gender", "race", "ethn", "ethnic", "ethnicity", "hispanic", "ancestry", "origin",
    "nationality", "country", "citizen", "native", "nativity", "foreign", "migra", "language", "height", "weight",
    "veteran", "military", "alter", "geschlecht", "nationalität", "herkunft", "sprache", "sexe", "nationalité",
    "langue", "edad", "sexo", "nacionalidad", "età", "sesso", "leeftijd", "geslacht", *BIRTH,
)  # fmt: skip
_HOME: Final = (
    *POSTAL, "city", "town", "village", "county", "state", "province", "region", "district", "municipality",
    "borough", "neighborhood", "neighbourhood", "area", "location", "place", "latitude", "longitude", "lat", "lon",
    "lng", "residence", "resident", "live", "lives", "living", "house", "home", "housing", "dwelling", "tenure",
    "moved", "ort", "wohnort", "stadt", "gemeinde", "landkreis", "bundesland", "ville", "commune", "département",
    "région", "ciudad", "municipio", "provincia", "comune", "città", "woonplaats", "gemeente", "provincie",
)  # fmt: skip
_FAMILY: Final = (
    "marital", "married", "marriage", "family", "families", "relationship", "household", "child", "children",
    "kids", "parent", "parents", "father", "mother", "spouse", "husband", "wife", "sibling", "siblings",
    "dependents", "dependants", "cohabit", "familienstand", "haushalt", "kinder", "matrimonial", "enfants", "ménage",
    "civil", "hijos", "hogar", "figli", "kinderen", "huishouden",
)  # fmt: skip
_SCHOOL: Final = (
    "education", "edu", "educ", "school", "degree", "enroll", "enrol", "college", "university", "diploma",
    "qualification", "grade", "graduate", "student", "bildung", "schule", "abschluss", "diplôme", "études",
    "educación", "estudios", "istruzione", "opleiding",
)  # fmt: skip
_WORK: Final = (
    "job", "occupation", "profession", "work", "worked", "worker", "workclass", "employ", "industry", "hours",
    "experience", "exper", "department", "position", "company", "business", "commute", "retired", "seniority",
    "manager", "self", "beruf", "branche", "métier", "emploi", "profesión", "ocupación", "professione", "beroep",
)  # fmt: skip
DEMOGRAPHIC: Final = (*_PERSON, *_HOME, *_FAMILY, *_SCHOOL, *_WORK)

_HEALTH: Final = (
    "diag", "diagnosis", "diagnoses", "disease", "illness", "condition", "symptom", "treatment", "therapy", "drug",
    "medic", "prescription", "dose", "dosage", "insulin", "hiv", "aids", "icd", "procedure", "procedures",
    "surgery", "death", "died", "mortality", "disab", "impair", "pregnan", "mental", "health", "hospital", "clinic",
    "inpatient", "outpatient", "emergency", "admission", "admitted", "discharge", "icu", "nurse", "physician",
    "lab", "blood", "pressure", "glucose", "cholesterol", "serum", "hba1c", "hemoglobin", "bmi", "pulse", "tumor",
    "tumour", "cancer", "diabet", "asthma", "stroke", "heart", "allerg", "vaccin", "doctor", "prescri", "chronic",
    "infect", "covid", "smoke", "smoker", "smoking", "alcohol", "tobacco", "depress", "anxiety", "result",
    "genotype", "genetic", "diagnos", "krankheit", "krankenhaus", "medikament", "behandlung", "maladie", "hôpital",
    "enfermedad", "malattia", "ziekte",
)  # fmt: skip
MONEY: Final = (
    "income", "salary", "wage", "wages", "earnings", "earned", "pay", "paid", "payment", "payer", "bonus",
    "capital", "dividend", "interest", "asset", "assets", "wealth", "pension", "savings", "debt", "credit", "loan",
    "mortgage", "balance", "bill", "charges", "cost", "costs", "expense", "expenses", "spending", "tax", "taxes",
    "benefit", "benefits", "welfare", "insurance", "coverage", "claim", "claims",
    "einkommen", "gehalt", "lohn", "saldo", "kredit", "schulden", "revenu", "revenus",
    "salaire", "salario", "ingreso", "ingresos", "reddito", "stipendio", "inkomen",
)  # fmt: skip
_COURT: Final = (
    "crime", "criminal", "convict", "conviction", "offence", "offense", "charge", "arrest", "jail", "prison",
    "custody", "sentence", "probation", "parole", "felony", "fel", "misdemeanor", "misd", "juvenile", "juv",
    "priors", "recid", "violent", "violence", "police", "court", "fraud",
)  # fmt: skip
_JUDGED: Final = ("score", "scores", "rating", "assessment", "decile", "performance", "evaluation", "disciplinary")
_BELIEF: Final = ("religion", "religious", "faith", "party", "vote", "political", "union", "sexual", "orientation")
SENSITIVE: Final = (*_HEALTH, *MONEY, *_COURT, *_JUDGED, *_BELIEF)

DRUG_STEMS: Final = (
    "azepam", "azepine", "azole", "barbital", "caine", "cillin", "cycline", "dipine", "fenac", "fibrate",
    "floxacin", "formin", "gliflozin", "glinide", "gliptin", "glitazone", "grel", "ionamide", "kinra", "lukast",
    "mycin", "olol", "oxetine", "parin", "platin", "prazole", "profen", "sartan", "semide", "setron", "statin",
    "tadine", "terol", "thiazide", "tidine", "tinib", "triptan", "triptyline", "vastatin", "xaban", "zosin",
)  # fmt: skip
"""Endings that the World Health Organization gives names of drugs (INN stems), as far as no common word has them."""

WEIGHTS: Final = ("wgt", "perwt", "hhwt", "finalweight")
"""Parts by which surveys name the weight of a record."""

WEIGHING: Final = ("instance", "sampling", "sample", "survey", "final", "person", "replicate", "design", "case")
"""Before `weight`: what a record counts for in a survey, and not what a person weighs."""

TARGETS: Final = ("target", "label", "outcome", "y")
OUTCOMES: Final = (
    "income", "readmi", "recid", "default", "churn", "attrition", "survived", "survival", "approved", "fraud",
    "subscribed", "dropout",
)  # fmt: skip
"""What tables for prediction predict, where it has few values."""

COUNTED: Final = (
    "age", "count", "counts", "number", "num", "hours", "hour", "days", "day", "weeks", "months", "years", "size",
    "score", "scores", "times", "visits", "children", "amount", "quantity", "rank", "total", "sum", "income",
    "salary", "wage", "weight", "height", "price", "cost", "duration", "length", "rate", "alter", "edad", "leeftijd",
    "einkommen", "anzahl",
)  # fmt: skip
"""How whole numbers are called that are counted or measured, and so no codes."""

NOMINAL: Final = (
    "occupation", "job", "profession", "industry", "origin", "nationality", "country", "citizenship", "ancestry",
    "race", "ethnicity", "religion", "language", "state", "province", "region", "county", "department", "beruf",
    "branche", "nationalität", "herkunft", "bundesland", "métier", "profesión", "provincia",
)  # fmt: skip
"""What has no amount and no order: whole numbers under such a name are codes, however many."""

ALONE: Final = frozenset({"alter", "native", "revenu"})
"""Words that others contain which mean something else: alternative, revenue."""
