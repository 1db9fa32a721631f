"""A tenant's policy over HTTP: read, rehearse, save, go back, and who changed what.

A policy is refused whole, with every setting that is in the way; what merely has no effect is a warning.
Source: SC-02, ES-03, design §7 `/v1/tenants`, faults 038, 041, 110.
"""

import re
from collections.abc import Iterator
from typing import Final

from agents.supervisor.promises import UNKNOWN_PROMISE, find_promises, is_told_as_done
from orchestrators.rehearsal import Rehearsal, rehearse
from orchestrators.triggers.contract import Call
from orchestrators.triggers.policy_models import (
    DecisionChange,
    PolicyChange,
    PolicyLog,
    PolicyQuery,
    PolicySaved,
    PolicyWarning,
    RehearsalShown,
    RollbackIn,
    SettingDiff,
)
from orchestrators.triggers.problems import FieldError, Problem, ProblemKind, not_found
from orchestrators.triggers.responses import Answer, json_answer
from orchestrators.triggers.tenants import scope_of
from shared.domain.errors import SchemaError
from shared.domain.policy import TenantPolicy
from shared.domain.policy_changes import changed_settings, changes_between, fallen_back
from shared.domain.policy_check import SettingNote, faults_of
from shared.domain.policy_warnings import warnings_of
from shared.domain.tenant import PolicyVersion
from shared.domain.tiers import Tier
from shared.ports.documents import TenantScope
from shared.privacy.patterns import validate_regions

MAX_AUTHOR: Final = 200
"""Longest author of a change-log line. Source: shared.domain.tenant.PolicyVersion."""
LOG_LINES: Final = 50
"""Newest lines of the change log that are shown. Value ours."""
ORIGIN: Final = re.compile(r"https?://[a-z0-9.-]+(:[0-9]{1,5})?", re.ASCII)
"""A web origin as a browser sends it: scheme, host, port; no path. Source: RFC 6454 §6.2."""


async def get_policy(call: Call) -> Answer:
    """Return the policy in force, what of it has no effect, and the most a policy may hold."""
    scope = await scope_of(call)
    policy, tier = await call.services.tenants.policy(scope), await _tier(call, scope)
    return json_answer(PolicySaved(policy=policy, is_dry_run=False, changed=(), warnings=_warnings(policy, tier)))


async def put_policy(call: Call) -> Answer:
    """Validate and save the policy as the next version; with `dry_run` decide the last turns again instead.

    A body that says a `version` is saved over exactly that one (409 otherwise); one that does not, over the one in
    force.
    """
    given, asked, scope = call.body_as(TenantPolicy), call.query_as(PolicyQuery), await scope_of(call)
    _check(given)
    before, tier = await call.services.tenants.policy(scope), await _tier(call, scope)
    warnings, changed = _fallen_back(before, given) + _warnings(given, tier), changed_settings(before, given)
    if asked.dry_run:
        records = await call.services.analytics.recent(scope, asked.turns) if asked.turns else ()
        return json_answer(
            PolicySaved(
                policy=given.model_copy(update={"version": before.version + 1}),
                is_dry_run=True,
                changed=changed,
                warnings=warnings,
                rehearsal=_shown(rehearse(records, before, given, tier)),
            )
        )
    over = given.version if "version" in given.model_fields_set else before.version
    saved = await call.services.tenants.save_policy(scope, given, over_version=over, author=_author(call))
    return json_answer(PolicySaved(policy=saved, is_dry_run=False, changed=changed, warnings=warnings))


async def roll_back_policy(call: Call) -> Answer:
    """Save an earlier version's content as the next version; the log says which it was.

    Raises: Problem (404 for a version that never was, 422 for one that no longer holds).
    """
    given, scope = call.body_as(RollbackIn), await scope_of(call)
    before, tier = await call.services.tenants.policy(scope), await _tier(call, scope)
    wanted = await call.services.tenants.policy_version(scope, given.version)
    if wanted is None:
        raise not_found("The policy never had this version.")
    _check(wanted)
    saved = await call.services.tenants.save_policy(
        scope, wanted, over_version=before.version, author=_author(call), restores=given.version
    )
    changed = changed_settings(before, saved)
    return json_answer(PolicySaved(policy=saved, is_dry_run=False, changed=changed, warnings=_warnings(saved, tier)))


async def list_policy_changes(call: Call) -> Answer:
    """Return the change log: who saved what, when, and each setting's old and new value."""
    history = await call.services.tenants.policy_history(await scope_of(call), limit=LOG_LINES + 1)
    earlier = (*(line.policy for line in history[1:]), TenantPolicy())[: len(history)]
    lines = tuple(_line(line, before) for line, before in zip(history, earlier, strict=True))
    return json_answer(PolicyLog(changes=lines[:LOG_LINES]))


def _check(policy: TenantPolicy) -> None:
    """Refuse a policy that cannot hold. Raises: Problem (422) naming each setting and why."""
    faults = [*faults_of(policy), *_region_faults(policy), *_origin_faults(policy), *_deed_faults(policy)]
    if faults:
        raise Problem(
            ProblemKind.INVALID_REQUEST,
            "The policy cannot hold; nothing was saved.",
            errors=[FieldError(fault.setting, fault.why) for fault in faults],
        )


def _region_faults(policy: TenantPolicy) -> list[SettingNote]:
    try:
        validate_regions(policy.phone_regions)
    except SchemaError as error:
        return [SettingNote("phone_regions", str(error))]
    return []


def _origin_faults(policy: TenantPolicy) -> list[SettingNote]:
    why = "an origin is scheme, host and port, such as https://shop.example"
    return [
        SettingNote(f"origins.{index}", why)
        for index, origin in enumerate(policy.origins)
        if not ORIGIN.fullmatch(origin)
    ]


def _deed_faults(policy: TenantPolicy) -> Iterator[SettingNote]:
    """Yield the fixed words that would say in every reply that something was done, or that it will be."""
    for name in ("greeting", "sign_off"):
        text = str(getattr(policy, name))
        if is_told_as_done(text) or find_promises(text) - {UNKNOWN_PROMISE}:
            yield SettingNote(name, "stands in every reply and may not say that something is done, or promise it")


def _fallen_back(before: TenantPolicy, given: TenantPolicy) -> tuple[PolicyWarning, ...]:
    why = "was set before and is not in this document: it falls back to its default"
    return tuple(PolicyWarning(setting=path, message=why) for path in fallen_back(before, given))


def _warnings(policy: TenantPolicy, tier: Tier) -> tuple[PolicyWarning, ...]:
    return tuple(PolicyWarning(setting=note.setting, message=note.why) for note in warnings_of(policy, tier))


async def _tier(call: Call, scope: TenantScope) -> Tier:
    tenant = await call.services.tenants.get(scope)
    if tenant is None:
        raise not_found()
    return tenant.tier


def _author(call: Call) -> str:
    return f"{call.by.owner} ({call.by.key_id})"[:MAX_AUTHOR]


def _line(line: PolicyVersion, before: TenantPolicy) -> PolicyChange:
    return PolicyChange(
        version=line.version,
        author=line.author,
        saved_at=line.saved_at,
        changed=line.changed,
        diff=tuple(
            SettingDiff(setting=change.setting, before=change.before, after=change.after)
            for change in changes_between(before, line.policy)
        ),
        restores=line.restores,
        policy=line.policy,
    )


def _shown(found: Rehearsal) -> RehearsalShown:
    return RehearsalShown(
        turns=found.turns,
        actions=found.actions,
        routes_changed=sum(difference.about == "route" for difference in found.differences),
        actions_changed=sum(difference.about == "action" for difference in found.differences),
        not_rehearsed=found.not_rehearsed,
        changes=tuple(
            DecisionChange(
                conversation_id=difference.record.conversation_id,
                message_id=difference.record.message_id,
                at=difference.record.at,
                about=difference.about,
                before=difference.before,
                after=difference.after,
                reason=difference.reason,
            )
            for difference in found.differences
        ),
    )
