"""Subjects of role bindings that are more than a person, a team or an account (Kubernetes, RBAC, default roles)."""

from __future__ import annotations

EVERYBODY = {
    "system:unauthenticated": "whoever reaches the API server, without logging in",
    "system:anonymous": "whoever reaches the API server, without logging in",
    "system:authenticated": "everybody who can log in, every service account among them",
    "system:serviceaccounts": "every pod of every namespace",
}
"""Groups of Kubernetes itself that take in everybody, and who that is."""
ADMINISTRATORS = "system:masters"
"""Whoever is in it may do everything without any binding."""
