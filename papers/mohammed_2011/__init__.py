"""Mohammed, Chen, Fung & Yu, *Differentially Private Data Release for Data Mining*, KDD 2011."""
