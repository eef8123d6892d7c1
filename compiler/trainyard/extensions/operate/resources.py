"""Where the API server has the objects of a kind (kubernetes.io, API concepts: APIResourceList)."""

from __future__ import annotations

from typing import NamedTuple

from trainyard.extensions.operate.api import Api, version_path
from trainyard.output.artifact import ObjectRef

_DEFAULT = "default"


class _Resource(NamedTuple):
    plural: str
    namespaced: bool


class Resources:
    """The paths of objects; each ``apiVersion`` is asked for once."""

    def __init__(self, api: Api) -> None:
        self._api = api
        self._known: dict[str, dict[str, _Resource]] = {}

    def path(self, ref: ObjectRef) -> str | None:
        """The path of an object; ``None`` where its kind is not served."""
        resource = self._served(ref.api_version).get(ref.kind)
        if resource is None:
            return None
        root = version_path(ref.api_version)
        if resource.namespaced:
            root += f"/namespaces/{ref.namespace or _DEFAULT}"
        return f"{root}/{resource.plural}/{ref.name}"

    def _served(self, version: str) -> dict[str, _Resource]:
        if version not in self._known:
            found = self._api.find(version_path(version)) or {}
            self._known[version] = {
                each["kind"]: _Resource(each["name"], each["namespaced"])
                for each in found.get("resources") or []
                if "/" not in each["name"]  # as `pods/log`
            }
        return self._known[version]
