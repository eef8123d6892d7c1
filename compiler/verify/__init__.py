"""Pass 7: every object is checked before anything is written: schemas, names, what webhooks refuse, references."""

from compiler.verify.body import validate_body
from compiler.verify.fault import Fault
from compiler.verify.schemas import BUILTIN, Schemas
from compiler.verify.verifier import verify

__all__ = ["BUILTIN", "Fault", "Schemas", "validate_body", "verify"]
