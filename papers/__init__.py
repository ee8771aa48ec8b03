"""The papers' figures as programs: each is run again, drawn, and put beside what was printed."""

from papers.figure import FIGURES, Fact, Figure, Reproduced, figure_on
from papers.li_2009.losses import LiFigure2a, LiFigure2b
from papers.li_2009.queries import LiFigure3a, LiFigure3b, LiFigure3c
from papers.mohammed_2011.accuracy import MohammedFigure3
from papers.mohammed_2011.learners import MohammedFigure4
from papers.mohammed_2011.run_time import MohammedFigure5
from papers.sattar_2014.classifiers import SattarFigure5, SattarFigure9
from papers.sattar_2014.histograms import SattarFigure8
from papers.sattar_2014.laplace import SattarFigure6, SattarFigure7
from papers.sattar_2014.mondrian import SattarFigure3
from papers.sattar_2014.queries import SattarFigure4
from papers.sattar_2014.run_time import SattarFigure10
from papers.sattar_2014.suppression import SattarFigure2
from papers.zaman_2014.purposes import ZamanPipeline
from papers.zaman_2014.worked_example import ZamanTable2

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
