"""Karpenter's CRDs, from a chart of their own: Helm updates no CRD of a chart's ``crds/``.

They come before the pools, in a Kustomization that prunes nothing: Flux would delete every node with them.
"""

from trainyard.eks.addons.addon import CRDS, AddOn

ADD_ON = AddOn(component="karpenter-crd", stage=CRDS, stays=True, in_auto_mode=True)
