"""Terraform in place of CloudFormation: what AWS must have as modules in JSON, and such modules of others read.

``stacks`` writes them (docs/adr/0017), ``formats`` judges and reads them, ``consequences`` says what an edit
of one means.
"""
