"""Masking, on by default: what identifies people and systems becomes a stable pseudonym such as ``client-3``.

The same value has the same pseudonym in the report, in report.json, in charts and in evidence. Pseudonyms are numbered in the order of the
document, so that two runs agree. Only what is told is masked: the texts of a document, never the lines of the inputs.
"""

from forensics.report.masking.kinds import TITLES
from forensics.report.masking.masker import PSEUDONYM, Masker, numberless

__all__ = ["PSEUDONYM", "TITLES", "Masker", "numberless"]
