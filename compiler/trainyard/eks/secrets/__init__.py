"""Secrets that are kept in AWS, made in namespaces by External Secrets."""
