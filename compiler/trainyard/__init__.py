"""Trainyard: a declarative GitOps config compiler for distributed training on AWS."""

__version__ = "0.1.0"
