"""Images that the spec builds for jobs: recipes, repositories, builds, and caches of registries."""

FEATURES = {"eks": ("extensions.images.built",)}
"""The features that it adds to a platform, and to those that stand on it."""
