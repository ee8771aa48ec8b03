"""The papers' figures as programs: each is run again, drawn, and put beside what was printed."""

from sfumato.reproduce.figure import FIGURES, Fact, Figure, Reproduced, figure_on
from sfumato.reproduce.li_2009 import LiFigure2a, LiFigure2b
from sfumato.reproduce.li_2009_queries import LiFigure3a, LiFigure3b, LiFigure3c
from sfumato.reproduce.mohammed_2011 import MohammedFigure4
from sfumato.reproduce.mohammed_2011_accuracy import MohammedFigure3
from sfumato.reproduce.mohammed_2011_time import MohammedFigure5
from sfumato.reproduce.sattar_2014 import SattarFigure2
from sfumato.reproduce.sattar_2014_histograms import SattarFigure8
from sfumato.reproduce.sattar_2014_laplace import SattarFigure6, SattarFigure7
from sfumato.reproduce.sattar_2014_learning import SattarFigure5, SattarFigure9
from sfumato.reproduce.sattar_2014_mondrian import SattarFigure3
from sfumato.reproduce.sattar_2014_queries import SattarFigure4
from sfumato.reproduce.sattar_2014_time import SattarFigure10
from sfumato.reproduce.zaman_2014 import ZamanTable2
from sfumato.reproduce.zaman_2014_pipeline import ZamanPipeline

__all__ = [
    "FIGURES",
    "Fact",
    "Figure",
    "LiFigure2a",
    "LiFigure2b",
    "LiFigure3a",
    "LiFigure3b",
    "LiFigure3c",
    "MohammedFigure3",
    "MohammedFigure4",
    "MohammedFigure5",
    "Reproduced",
    "SattarFigure2",
    "SattarFigure3",
    "SattarFigure4",
    "SattarFigure5",
    "SattarFigure6",
    "SattarFigure7",
    "SattarFigure8",
    "SattarFigure9",
    "SattarFigure10",
    "ZamanPipeline",
    "ZamanTable2",
    "figure_on",
]
