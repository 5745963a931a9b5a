"""The laboratory: what proves that the reference and the judge are right. It is never in a wheel.

``python -m wheelproof_lab VERB`` runs it; `door` is what verbs of users take from it.
"""
