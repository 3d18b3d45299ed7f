"""The catalogue of failure texts: TOML files beside this module, and matching in one pass."""

from forensics.signatures.catalogue import load
from forensics.signatures.matching import Matcher

__all__ = ["Matcher", "load"]
