"""What the rules of definitions say, in words: which field, what is wrong with it, what to write.

Most rules are about which of some fields are given, and say so by their form. Of the others, ``SAID`` has the words,
by the text of the rule; a rule without words is shown as it is.
"""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from trainyard.language.diagnostics.diagnostic import listed
from trainyard.language.places import Key
from trainyard.output.body import value_at, values_along
from trainyard.verify.fault import Path, nearest


class Words(NamedTuple):
    """What a broken rule is called. ``field`` is the path from the value of the rule to what is wrong, ``*`` the first
    item that has the rest; ``key`` says that its key is wrong, rather than its value.

    In ``message`` and ``help``, ``{value}`` is what stands there, ``{name}`` the key or index of the item,
    ``{choices}`` the nearest of the texts that the rule lists.
    """

    message: str
    help: str
    field: Path = ()
    key: bool = False


def in_words(rule: str, value: Any, name: Key) -> Words | None:
    """The words for a rule that a value breaks, which is an item called ``name`` of the rule's own value or, without
    a name, that value. ``None`` if there are none."""
    rule = " ".join(rule.split())
    said = SAID.get(LIST.sub("[…]", rule))
    if said is None:
        return _of_fields(rule, value)
    field = _first(value, said.field)
    wrong = value_at(value, *field)
    text = str(name) if isinstance(wrong, (dict, list)) or wrong is None else str(wrong)

    def filled(words: str) -> str:
        if "{choices}" in words:
            choices = re.findall(r"['\"]([^'\"]+)['\"]", (LIST.search(rule) or [""])[0])
            words = words.replace("{choices}", nearest(text, choices, _one_of_many(choices)))
        return words.replace("{value}", text).replace("{name}", str(name))

    return Words(filled(said.message), filled(said.help), field, said.key)


def _one_of_many(choices: list[str]) -> str:
    """The help where there are too many choices to list them all."""
    return f"write one that the definition lists, like `{choices[0]}`"


def _first(value: Any, pattern: Path) -> Path:
    """The first path that a pattern leads to, or what of it is not a pattern."""
    if "*" not in pattern:
        return pattern
    found = next(values_along(value, tuple(map(str, pattern))), None)
    return found[0] if found is not None else pattern[: pattern.index("*")]


LIST = re.compile(r"\[\s*['\"][^\]]*\]")
_HAS = r"has\((?:self|\w)\.(\w+)\)"
_NOT_BOTH = re.compile(rf"!\({_HAS} && {_HAS}\)\Z|!{_HAS} \|\| !{_HAS}\Z")
_ONE = re.compile(
    rf"\(?\({_HAS} && !{_HAS}\) \|\| \(!{_HAS} && {_HAS}\)\)?\Z"
    rf"|{_HAS} != {_HAS}\Z"
    r"|\[(?:has\(self\.\w+\),? ?)+\]\.filter\(x, ?x(?:==true)?\)\.size\(\) == 1\Z"
)
_ONE_AT_MOST = re.compile(
    r"\[(?:has\(self\.\w+\),? ?)+\]\.filter\(x, ?x(?:==true)?\)\.size\(\) <= 1\Z"
)
_ALONE = re.compile(rf"!self\.(?:exists|all)\(x, {_HAS} && \(?{_HAS}(?: \|\| {_HAS})*\)?\)\Z")
_ONE_AT_LEAST = re.compile(rf"(?:self\.all\(x, )?{_HAS}(?: \|\| {_HAS})*\)?\Z")


def _of_fields(rule: str, value: Any) -> Words | None:
    """The words for a rule about which of some fields are given."""
    forms = (_NOT_BOTH, _ALONE, _ONE, _ONE_AT_MOST, _ONE_AT_LEAST)
    if not isinstance(value, dict) or not any(form.match(rule) for form in forms):
        return None
    fields = list(dict.fromkeys(re.findall(_HAS, rule)))
    given = [field for field in fields if field in value]
    if len(given) > 1:
        first, second = given[:2]
        return Words(
            f"`{second}` is set together with `{first}`", "keep one of them", (second,), key=True
        )
    if len(fields) == 1:
        return Words(f"`{fields[0]}` is missing", f"add `{fields[0]}`", (fields[0],))
    return Words(f"none of {listed(fields)} is given", "write one of them")


_EFFECT = Words("`{value}` is no effect of a taint", "{choices}", ("effect",))
_OWN = Words("`{value}` is written by Karpenter itself", "leave it out")
_LABEL = Words("`{value}` is no label of Karpenter", "{choices}")
_TAG = Words("tag `{name}` is Karpenter's own", "leave it out", key=True)
_SIGNALS = Words("`{name}` is no signal of an eviction", "{choices}", key=True)
_SOFT = "each signal has a threshold in `evictionSoft` and a time in `evictionSoftGracePeriod`"
_ALIASED = {
    "al2": "AL2",
    "al2023": "AL2023",
    "bottlerocket": "Bottlerocket",
    "windows2019": "Windows2019",
    "windows2022": "Windows2022",
    "windows2025": "Windows2025",
}
_BORROWS = Words(
    "`borrowingLimit` without a cohort",
    "name a cohort, or leave it out",
    ("resourceGroups", "*", "flavors", "*", "resources", "*", "borrowingLimit"),
    key=True,
)
_HOST = "kubernetes.io/hostname"

SAID = {
    # Kueue: ClusterQueue, Cohort, ResourceFlavor, Topology
    "!has(self.cohort) && has(self.resourceGroups) ? self.resourceGroups.all(rg, rg.flavors.all(f, "
    "f.resources.all(r, !has(r.borrowingLimit)))) : true": _BORROWS,
    "!has(self.cohortName) && has(self.resourceGroups) ? self.resourceGroups.all(rg, "
    "rg.flavors.all(f, f.resources.all(r, !has(r.borrowingLimit)))) : true": _BORROWS,
    "!has(self.preference) || (self.whenCanBorrow == 'TryNextFlavor' && "
    "self.whenCanPreempt == 'TryNextFlavor')": Words(
        "`preference` needs every flavor to be tried",
        "write `TryNextFlavor` for `whenCanBorrow` and `whenCanPreempt`",
        ("preference",),
        key=True,
    ),
    "!(self.reclaimWithinCohort == 'Never' && has(self.borrowWithinCohort) && "
    "self.borrowWithinCohort.policy != 'Never')": Words(
        "it needs `reclaimWithinCohort`, which is `Never`",
        "write `reclaimWithinCohort: LowerPriority`, or `Any`",
        ("borrowWithinCohort",),
        key=True,
    ),
    "self.flavors.all(x, size(x.resources) == size(self.coveredResources))": Words(
        "the flavor lists more or fewer resources than `coveredResources`",
        "list every resource of `coveredResources`, in its order",
        ("resources",),
        key=True,
    ),
    "!has(self.topologyName) || self.nodeLabels.size() >= 1": Words(
        "a flavor with a topology needs `nodeLabels`",
        "add the labels of its nodes",
        ("topologyName",),
        key=True,
    ),
    "self.all(x, x.effect in […])": _EFFECT,
    "self.all(x, !has(x.effect) || x.effect in […])": _EFFECT,
    "self.all(x, !has(x.key) ? x.operator == 'Exists' : true)": Words(
        "a toleration without key needs operator `Exists`", "add the key, or write `Exists`"
    ),
    "self.all(x, has(x.tolerationSeconds) ? x.effect == 'NoExecute' : true)": Words(
        "`tolerationSeconds` counts for effect `NoExecute` only",
        "remove it, or write the effect",
        ("tolerationSeconds",),
        key=True,
    ),
    "self.all(x, !has(x.operator) || x.operator in […])": Words(
        "`{value}` is no operator of a toleration", "write `Exists` or `Equal`", ("operator",)
    ),
    "self.all(x, has(x.operator) && x.operator == 'Exists' ? !has(x.value) : true)": Words(
        "a value with operator `Exists`", "remove the value, or write `Equal`", ("value",), key=True
    ),
    "size(self.filter(i, size(self.filter(j, j == i)) > 1)) == 0": Words(
        "a level is there twice", "remove one"
    ),
    f"size(self.filter(i, i.nodeLabel == '{_HOST}')) == 0 || "
    f"self[size(self) - 1].nodeLabel == '{_HOST}'": Words(
        f"a level below `{_HOST}`, which is the lowest", "put it above"
    ),
    # Trainer and JobSet
    "!(has(self.numNodes) && (has(self.torch) && has(self.torch.elasticPolicy)))": Words(
        "`numNodes` is set together with an elastic policy",
        "keep one of them",
        ("numNodes",),
        key=True,
    ),
    "self >= 1": Words("{value} is below 1", "write 1 or more"),
    "!self.exists(c, c == 'node')": Words(
        "container `node` gets its variables anyway", "remove it from the list"
    ),
    "self > 0 || self in […]": Words("`{value}` is no number of processes", "{choices}"),
    "!(has(self.startupPolicy) && self.startupPolicy.startupPolicyOrder == 'InOrder' && "
    "self.replicatedJobs.exists(x, has(x.dependsOn)))": Words(
        "`dependsOn` is set together with a startup policy `InOrder`",
        "keep one of the two",
        ("replicatedJobs", "*", "dependsOn"),
        key=True,
    ),
    "self.templates.all(t, !has(t.metadata.namespace) || size(t.metadata.namespace) == 0)": Words(
        "a claim is made in the namespace of its jobs",
        "remove the namespace",
        ("metadata", "namespace"),
        key=True,
    ),
    "self.metadata.name.matches('^[a-z]([-a-z0-9]*[a-z0-9])?$')": Words(
        "`{value}` is no name of a TrainJob",
        "write lowercase letters, digits and `-`, beginning with a letter",
        ("metadata", "name"),
    ),
    "size(self.metadata.name) <= 63": Words(
        "`{value}` is longer than 63 characters", "shorten it", ("metadata", "name")
    ),
    "self == '' || self.matches('^[A-Za-z][A-Za-z0-9+.-]*://.+$')": Words(
        "`{value}` is no URI", "write it as `s3://…`"
    ),
    "self in […]": Words("nobody is called `{value}`", "{choices}, or leave it out"),
    # Karpenter: NodePool, NodeClaim, NodeOverlay
    "self.all(x, x.operator == 'In' ? x.values.size() != 0 : true)": Words(
        "`In` without values", "add `values:`, or write `Exists`", ("operator",)
    ),
    "self.all(x, x.operator == 'NotIn' ? x.values.size() != 0 : true)": Words(
        "`NotIn` without values", "add `values:`, or write `DoesNotExist`", ("operator",)
    ),
    "self.all(x, (x.operator == 'Gt' || x.operator == 'Lt' || x.operator == 'Gte' || "
    "x.operator == 'Lte') ? (x.values.size() == 1 && int(x.values[0]) >= 0) : true)": Words(
        "the operator compares with one whole number", 'write it in quotes: `["8"]`', ("values",)
    ),
    "self.all(x, (x.operator == 'In' && has(x.minValues)) ? x.values.size() >= x.minValues : true)": Words(
        "{value} values at least are wanted, and fewer are given",
        "lower `minValues`, or add values",
        ("minValues",),
    ),
    'self in […] || !self.find("^([^/]+)").endsWith("karpenter.sh")': _LABEL,
    'self in […] || !self.find("^([^/]+)").endsWith("karpenter.k8s.aws")': _LABEL,
    'self.all(x, x in […] || !x.find("^([^/]+)").endsWith("karpenter.sh"))': _LABEL._replace(
        key=True
    ),
    'self.all(x, x in […] || !x.find("^([^/]+)").endsWith("karpenter.k8s.aws"))': _LABEL._replace(
        key=True
    ),
    f'self != "{_HOST}"': _OWN,
    'self != "karpenter.sh/nodepool"': _OWN,
    f'self.all(x, x != "{_HOST}")': _OWN._replace(key=True),
    'self.all(x, x != "karpenter.sh/nodepool")': _OWN._replace(key=True),
    "self != ''": Words("an empty text", "write a name"),
    "!has(self.replicas) || (!has(self.limits) || size(self.limits) == 0 || "
    "(size(self.limits) == 1 && 'nodes' in self.limits))": Words(
        "a pool with `replicas` is limited in `nodes` alone",
        "keep `nodes` only",
        ("limits",),
        key=True,
    ),
    "!has(self.replicas) || !has(self.weight)": Words(
        "a pool with `replicas` has no `weight`", "leave it out", ("weight",), key=True
    ),
    "self.all(x, has(x.schedule) == has(x.duration))": Words(
        "`schedule` and `duration` of a budget go together", "add the other one"
    ),
    "self.all(x, !(x in […]))": Words(
        "`{name}` is counted by Karpenter itself", "leave it out", key=True
    ),
    # Karpenter: EC2NodeClass
    **{
        "!has(self.amiFamily) || (self.amiSelectorTerms.exists(x, has(x.alias) && "
        f"x.alias.find('^[^@]+') == '{alias}') ? (self.amiFamily == 'Custom' || "
        f"self.amiFamily == '{family}') : true)": Words(
            f"`{{value}}` does not go with an alias of `{alias}`",
            f"write `amiFamily: {family}`, or leave it out",
            ("amiFamily",),
        )
        for alias, family in _ALIASED.items()
    },
    "self.amiSelectorTerms.exists(x, has(x.alias)) ? true : has(self.amiFamily)": Words(
        "neither an alias nor `amiFamily` says how nodes join",
        "write `amiFamily: AL2023`",
        ("amiSelectorTerms",),
        key=True,
    ),
    "!(self.exists(x, has(x.alias)) && self.size() != 1)": Words(
        "a term beside an alias, which stands alone", "keep one of the two"
    ),
    "self.matches('^[a-zA-Z0-9]+@.+$')": Words(
        "alias `{value}` says no version", "write it as `al2023@v20260714`"
    ),
    "self.split('@')[0] in […]": Words("`{value}` is of no family of images", "{choices}"),
    "self.split('@')[0] in […] ? self.split('@')[1] == 'latest' : true": Words(
        "images of Windows cannot be pinned, and this is `{value}`", "write `latest` after the `@`"
    ),
    "self.all(k, k != '' && self[k] != '')": Words(
        "tag `{name}` selects by an empty text",
        "write key and value, or `*` for any value",
        key=True,
    ),
    "self.filter(x, has(x.rootVolume)?x.rootVolume==true:false).size() <= 1": Words(
        "a second root volume", "keep one"
    ),
    "!has(self.volumeInitializationRate) || (has(self.snapshotID) && self.snapshotID != '')": Words(
        "a volume without snapshot is not initialized",
        "leave `volumeInitializationRate` out, or name a snapshot",
        ("volumeInitializationRate",),
        key=True,
    ),
    "has(self.tcpEstablishedTimeout) || has(self.udpStreamTimeout) || has(self.udpTimeout)": Words(
        "no timeout is given", "give one, or leave the field out"
    ),
    "has(self.imageGCHighThresholdPercent) && has(self.imageGCLowThresholdPercent) ? "
    "self.imageGCHighThresholdPercent > self.imageGCLowThresholdPercent : true": Words(
        "{value} is not above the low threshold",
        "make it the larger one",
        ("imageGCHighThresholdPercent",),
    ),
    "has(self.evictionSoft) ? self.evictionSoft.all(e, (e in self.evictionSoftGracePeriod)):true": Words(
        _SOFT, "give each in both, or in none", ("evictionSoft",)
    ),
    "has(self.evictionSoftGracePeriod) ? self.evictionSoftGracePeriod.all(e, (e in "
    "self.evictionSoft)):true": Words(
        _SOFT, "give each in both, or in none", ("evictionSoftGracePeriod",)
    ),
    "self.all(x, x in […])": _SIGNALS,
    "self.all(x, x=='cpu' || x=='memory' || x=='ephemeral-storage' || x=='pid')": Words(
        "`{name}` cannot be reserved",
        "take one of `cpu`, `memory`, `ephemeral-storage`, `pid`",
        key=True,
    ),
    "self.all(x, !self[x].startsWith('-'))": Words("{value} is negative", "write 0 or more"),
    "self.size() == 0 || self.exists(x, x.deviceIndex == 0 && x.networkCardIndex == 0 && "
    "x.interfaceType == 'interface')": Words(
        "no interface is the first of the first network card",
        "add `{networkCardIndex: 0, deviceIndex: 0, interfaceType: interface}`",
    ),
    "self.all(x, self.filter(y, x.networkCardIndex == y.networkCardIndex && x.deviceIndex == "
    "y.deviceIndex).size() == 1 && (x.interfaceType != 'efa-only' || self.filter(y, "
    "x.networkCardIndex == y.networkCardIndex && y.interfaceType == 'efa-only').size() == 1))": Words(
        "two interfaces are the same device of a network card, or two of it are `efa-only`",
        "give each its own `deviceIndex`, and one `efa-only` a card",
    ),
    "self.size() != 0": Words("no term selects anything", "write one", key=True),
    "self.all(k, k != '')": Words("a tag without a key", "name it", key=True),
    "self.all(k, k !='eks:eks-cluster-name')": _TAG,
    "self.all(k, !k.startsWith('kubernetes.io/cluster') )": _TAG,
    "self.all(k, k != 'karpenter.sh/nodepool')": _TAG,
    "self.all(k, k !='karpenter.sh/nodeclaim')": _TAG,
    "self.all(k, k !='karpenter.k8s.aws/ec2nodeclass')": _TAG,
    # Flux
    "!has(self.serviceAccountName) || (has(self.provider) && (self.provider == 'azure' || "
    "self.provider == 'aws'))": Words(
        "its provider has no service account",
        "remove it, or write `provider: aws`",
        ("serviceAccountName",),
        key=True,
    ),
    "!has(self.retryInterval) || self.name != 'RemediateOnFailure'": Words(
        "a strategy that remediates has no interval",
        "remove it, or write `name: RetryOnFailure`",
        ("retryInterval",),
        key=True,
    ),
    "!has(self.retryInterval) || self.name == 'RetryOnFailure'": Words(
        "a strategy that does not retry has no interval",
        "remove it, or write `name: RetryOnFailure`",
        ("retryInterval",),
        key=True,
    ),
    "has(self.spec) && has(self.spec.url)": Words(
        "an OCIRepository without `url`",
        "write `url: oci://ghcr.io/org/charts/name`",
        ("spec", "url"),
    ),
    "has(self.spec) && has(self.spec.interval)": Words(
        "an OCIRepository without `interval`", "write `interval: 10m`", ("spec", "interval")
    ),
    "self.type == 'github' || self.type == 'gitlab' || self.type == 'gitea' || self.type == "
    "'bitbucketserver' || self.type == 'bitbucket' || self.type == 'azuredevops' || "
    "!has(self.commitStatusExpr)": Words(
        "only providers of commits have a commit status",
        "leave it out",
        ("commitStatusExpr",),
        key=True,
    ),
    # KubeRay
    "!((has(self.onSuccess) || has(self.onFailure)) && has(self.deletionRules))": Words(
        "`deletionRules` are set together with `onSuccess` or `onFailure`",
        "keep the rules",
        ("deletionRules",),
        key=True,
    ),
    "((has(self.onSuccess) && has(self.onFailure)) || has(self.deletionRules))": Words(
        "neither `deletionRules` nor both of `onSuccess` and `onFailure` are given",
        "write `deletionRules`",
    ),
    # External Secrets
    "!('esoNamespace' in self) && !('esoStoreName' in self) && !('esoStoreKind' in self)": Words(
        "tags whose names begin with `eso` are set by External Secrets", "leave them out"
    ),
    "has(self.token) || (has(self.username) && has(self.password))": Words(
        "neither `token` nor both of `username` and `password` are given", "write one of the two"
    ),
}
