"""The instance types that EKS Auto Mode launches.

Source: EKS user guide, automode-learn-instances, supported instance reference (awsdocs/amazon-eks-user-guide, commit
06faff1411463d22284cc02e7602daf4c19f9204, read 2026-11): families, more than one CPU, no size below medium.
"""

from __future__ import annotations

from compiler.catalog.instance import InstanceType

FAMILIES = frozenset(
    """
    c8id c8i c8i-flex c8gd c8gn c8g c8a c8gb c7a c7g c7gn c7gd c7i c7i-flex c6a c6g c6i c6gn c6id c6in c6gd c5 c5a c5d
    c5ad c5n c4
    m8id m8i m8i-flex m8a m8azn m8gn m8gb m8gd m8g m7i m7a m7g m7gd m7i-flex m6a m6i m6in m6g m6idn m6id m6gd m5 m5a
    m5ad m5n m5dn m5d m5zn m4
    r8id r8i r8i-flex r8gn r8gb r8gd r8g r8a r7a r7iz r7gd r7i r7g r6a r6i r6id r6in r6idn r6g r6gd r5 r5n r5a r5dn r5b
    r5ad r5d r4
    t4g t3 t3a t2
    z1d x8aedz x8g x8i x2gd
    i8ge i7i i8g i7ie i4g i4i i3 i3en is4gen d3 d3en im4gn
    p6-b200 p6-b300 p5 p5e p5en p4d p4de p3dn g7e g6 gr6 g6e g5g g5 g4dn g4ad inf2 inf1 trn1 trn1n trn2
    hpc8a x2iezn x2iedn x2idn
    """.split()
)
_TOO_SMALL = ("nano", "micro", "small")


def launches(instance: InstanceType) -> bool:
    """Whether EKS Auto Mode launches nodes of a type."""
    if instance.vcpus < 2 or instance.size in _TOO_SMALL:
        return False
    return instance.family in FAMILIES
