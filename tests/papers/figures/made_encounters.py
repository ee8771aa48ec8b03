"""A made table in the form of diabetes130's, small enough for the default tests."""

import csv
import gzip
import random
from pathlib import Path

CODES = [
    ("250", "250", "249-259", "chapter 3", "*"),
    ("250.01", "250", "249-259", "chapter 3", "*"),
    ("401", "401", "401-405", "chapter 7", "*"),
    ("486", "486", "480-488", "chapter 8", "*"),
    ("V27", "V27", "V20-V29", "chapter 18", "*"),
]


def made_encounters(folder: Path, rows: int, seed: int = 7) -> Path:
    """Write table and hierarchy below a folder, as the folder of public tables has them.

    Who was often in hospital comes back, and who takes many medicines has them changed, so that both can be learnt.
    """
    draw = random.Random(seed)
    place = folder / "diabetes130"
    place.mkdir(parents=True)
    (place / "diag_hierarchy.csv").write_text("\n".join(";".join(row) for row in CODES) + "\n", encoding="utf-8")
    head = (
        "encounter_id patient_nbr race gender age time_in_hospital num_medications number_emergency number_inpatient "
        "diag_1 diag_2 diag_3 number_diagnoses discharge_disposition_id change readmitted"
    )
    with gzip.open(place / "diabetic_data.csv.gz", "wt", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(head.split())
        for number in range(rows):
            decade, often, medicines = draw.randrange(10), draw.choice([0, 0, 0, 1, 4, 6]), draw.randint(1, 60)
            diagnoses = [draw.choice(CODES)[0], draw.choice([*(row[0] for row in CODES), "?"]), "?"]
            writer.writerow([
                number, draw.randrange(rows // 2), draw.choice(["Caucasian", "Asian", "?"]),
                draw.choice(["Female", "Male"]), f"[{10 * decade}-{10 * decade + 10})", draw.randint(1, 14), medicines,
                draw.randint(0, 3), often, *diagnoses, draw.randint(1, 9), draw.randint(1, 5),
                "Ch" if medicines > 30 else "No", "<30" if often >= 4 else "NO",
            ])  # fmt: skip
    return folder
