"""URL schemes by which programs save outside the cluster (``s3://`` and others)."""

URL_SCHEMES = ("s3://", "s3a://", "gs://", "hdfs://", "hf://", "abfs://", "abfss://", "wandb://")
"""The beginnings of such names: protocols of fsspec/registry.py in fsspec/filesystem_spec 0010739, `hf` of
huggingface_hub's file system, and `abfss`, which adlfs accepts as well as `abfs`."""
