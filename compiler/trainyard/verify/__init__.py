"""Checks every object: schemas, names, what webhooks refuse, references. It is pass 7, before anything is written."""

from trainyard.verify.body import validate_body
from trainyard.verify.fault import Fault
from trainyard.verify.schemas import BUILTIN, Schemas
from trainyard.verify.verifier import verify

__all__ = ["BUILTIN", "Fault", "Schemas", "validate_body", "verify"]
