"""Mnemonics of public census files, whose names say nothing to anybody without the data dictionary.

They are those of the person and household records of the American Community Survey (PUMS data dictionary) and of IPUMS,
as far as they are no English words. One of them alone may be chance; a table with several is such a file.
"""

from collections.abc import Iterable
from typing import Final

from sfumato.study.attribute import Role

_LEAST: Final = 5

_COUNTED: Final = {
    Role.QUASI_IDENTIFIER: "AGEP WKHP WKWN JWMNP NOC NPF NP MARHYP YOEP CITWP UHRSWORK WKSWORK1 NCHILD NCHLT5 YRIMMIG",
    Role.SENSITIVE: (
        "PINCP PERNP WAGP SEMP INTP RETP SSP SSIP PAP OIP HINCP FINCP POVPIP GRPIP OCPIP RNTP SMOCP TAXAMT VALP "
        "INCTOT INCWAGE FTOTINC HHINCOME INCEARN INCSS INCWELFR INCINVST INCRETIR POVERTY"
    ),
    Role.UNDECIDED: "PWGTP WGTP PERWT HHWT SPORDER PERNUM",
}
_CODED: Final = {
    Role.IDENTIFIER: "SERIALNO SERIAL CBSERIAL",
    Role.QUASI_IDENTIFIER: (
        "PUMA ST STATEFIP COUNTYFIP COUNTYICP METRO POWSP POWPUMA MIGSP MIGPUMA MIG MIGPLAC1 MIGRATE1 RAC1P RAC2P "
        "RAC3P RACAIAN RACASN RACBLK RACWHT RACSOR RACNH RACPI HISP HISPAN SCHL SCH SCHG FOD1P FOD2P EDUC EDUCD "
        "EDUCATT MAR MARST MARHT CIT NATIVITY POBP BPL BPLD WAOB ANC1P ANC2P LANX LANP ENG COW ESR OCCP SOCP OCC "
        "OCCSOC INDP NAICSP IND INDNAICS EMPSTAT EMPSTATD CLASSWKR WKW WKL JWTR JWTRNS JWRIP MIL VPS RELP RELSHIPP "
        "RELATE RELATED SFN PAOC GQ GQTYPE HHT MULTG FER GCL DECADE QTRBIR VETSTAT"
    ),
    Role.SENSITIVE: (
        "HICOV PRIVCOV PUBCOV HINS1 HINS2 HINS3 HINS4 HINS5 HINS6 HINS7 HCOVANY HCOVPRIV HCOVPUB DIS DEYE DEAR "
        "DREM DPHY DDRS DOUT DRAT DRATX DIFFREM DIFFPHYS DIFFMOB DIFFCARE DIFFSENS FS FOODSTMP"
    ),
}


def survey_columns(names: Iterable[str]) -> dict[str, tuple[Role, bool]]:
    """The columns that such a file is known by, with their roles, and whether their numbers are codes.

    >>> found = survey_columns(["AGEP", "SEX", "SCHL", "MAR", "PINCP", "RAC1P", "town"])
    >>> found["SCHL"][0].value, found["SCHL"][1], found["PINCP"][1], "town" in found
    ('quasi_identifier', True, False, False)
    >>> survey_columns(["age", "mar", "dis"])
    {}
    """
    known = {
        name: (role, coded)
        for listed, coded in ((_COUNTED, False), (_CODED, True))
        for role, text in listed.items()
        for name in text.split()
    }
    found = {name: known[name.upper()] for name in names if name.upper() in known}
    return found if len(found) >= _LEAST else {}
