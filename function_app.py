"""Vouch on Azure Functions: the app object and the map of every trigger.

HTTP        orchestrators/triggers/http.py          the API of docs and README, one function a path
            orchestrators/triggers/shopify_http.py  webhooks/shopify, proxy/shopify/…
flows       orchestrators/triggers/durable.py       answer_message (a turn), human_handoff (a case's wait)
activities  orchestrators/activities/registered.py  one an agent, and the steps that touch the ticket
timers      orchestrators/triggers/timers.py        sweep, purge_expired, embed_missed, sync_catalog, reconcile_catalog
change feed orchestrators/triggers/change_feeds.py  embed_articles, await_cases

Importing this registers and no more: what a function needs is loaded when one first runs, and readiness loads it all.
"""

import azure.durable_functions as df
import azure.functions as func

from orchestrators.activities.registered import blueprint as activities
from orchestrators.inventory import EXPECTED_FUNCTIONS, INVENTORY, registered_names
from orchestrators.triggers.change_feeds import blueprint as change_feeds
from orchestrators.triggers.durable import blueprint as flows
from orchestrators.triggers.http import blueprint as http
from orchestrators.triggers.shopify_http import blueprint as shopify
from orchestrators.triggers.timers import blueprint as timers

app = df.DFApp(http_auth_level=func.AuthLevel.ANONYMOUS)
for part in (http, shopify, flows, activities, timers, change_feeds):
    app.register_functions(part)
INVENTORY.declare(expected=EXPECTED_FUNCTIONS, registered=lambda: registered_names(app))
