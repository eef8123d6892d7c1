"""Images that the spec builds for jobs: recipes, repositories, builds, and caches of registries."""

ROOMS = {"eks": ("extensions.images.built",)}
"""The rooms that it adds to a platform, and to those that stand on it."""
