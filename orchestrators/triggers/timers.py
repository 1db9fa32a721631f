"""Timers as Azure sees them; what they do is in `sweeping`, loaded when one first fires. Source: DC-03, PV-05."""

import azure.durable_functions as df
import azure.functions as func

blueprint = df.Blueprint()


@blueprint.timer_trigger(arg_name="timer", schedule="*/15 * * * * *", use_monitor=False)
@blueprint.durable_client_input(client_name="client")
async def sweep(timer: func.TimerRequest, client: df.DurableOrchestrationClient) -> None:
    """Find what an event, a start or a crash has missed."""
    from orchestrators.triggers import sweeping
    from shared.container import services

    await sweeping.sweep(client, services())


@blueprint.timer_trigger(arg_name="timer", schedule="*/5 * * * * *", use_monitor=False)
async def sync_catalog(timer: func.TimerRequest) -> None:
    """Ask the shops about products that webhooks named."""
    from orchestrators.triggers import catalog_sync
    from shared.container import services

    await catalog_sync.sync_catalog(services())


@blueprint.timer_trigger(arg_name="timer", schedule="0 * * * * *", use_monitor=False)
async def reconcile_catalog(timer: func.TimerRequest) -> None:
    """Hold the articles of tenants that are due against their shops: new ones at once, all of them every night."""
    from orchestrators.triggers import catalog_reconcile
    from shared.container import services

    await catalog_reconcile.reconcile_catalogs(services())


@blueprint.timer_trigger(arg_name="timer", schedule="0 17 3 * * *", use_monitor=False)
async def refresh_shop_tokens(timer: func.TimerRequest) -> None:
    """Refresh the tokens of shops nobody asked for long: an idle one must not pass its refresh token's ninety days."""
    from shared.container import services

    parts = services()
    await parts.shop_tokens.refresh_due(parts.clock.now())


@blueprint.timer_trigger(arg_name="timer", schedule="0 5-55/10 * * * *", use_monitor=False)
async def embed_missed(timer: func.TimerRequest) -> None:
    """Embed articles that the change feed has not delivered."""
    from orchestrators.triggers import feeding
    from shared.container import services

    await feeding.embed_missed(services())


@blueprint.timer_trigger(arg_name="timer", schedule="0 */10 * * * *", use_monitor=False)
@blueprint.durable_client_input(client_name="client")
async def purge_expired(timer: func.TimerRequest, client: df.DurableOrchestrationClient) -> None:
    """Remove expired rows and old histories."""
    from orchestrators.triggers import sweeping
    from shared.container import services

    await sweeping.purge_expired(services())
    await sweeping.purge_histories(client, services())
