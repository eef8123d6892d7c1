"""Flux, which applies the cluster's folder. ``flux bootstrap`` installs it.

Flux 2.9.4 has source-controller 1.9.4, kustomize-controller 1.9.4, helm-controller 1.6.3 and notification-controller
1.9.3, and changes no requests (flux2 v2.9.4 manifests/bases).
"""

from trainyard.eks.addons.addon import BOOTSTRAP, AddOn, Controller
from trainyard.plan.context import SPEC

_DEPLOYMENT = "config/manager/deployment.yaml"

ADD_ON = AddOn(
    component="flux",
    by=BOOTSTRAP,
    at=SPEC / "flux",
    controllers=(
        Controller("source-controller", 1, 50, 64, f"source-controller v1.9.1 {_DEPLOYMENT}"),
        Controller(
            "kustomize-controller", 1, 100, 64, f"kustomize-controller v1.9.4 {_DEPLOYMENT}"
        ),
        Controller("helm-controller", 1, 100, 64, f"helm-controller v1.6.3 {_DEPLOYMENT}"),
        Controller(
            "notification-controller", 1, 100, 64, f"notification-controller v1.9.3 {_DEPLOYMENT}"
        ),
    ),
)
