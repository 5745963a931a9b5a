"""One run of a program: made step by step, judged, analysed, named and written as a schedule."""
