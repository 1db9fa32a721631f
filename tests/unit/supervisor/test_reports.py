"""Sentences that report a deed to anybody, and rules that only sound like one, in the product's languages.

Source: SU-01, AX-05, CO-04.
"""

import pytest

from agents.supervisor.grounding import check_grounding
from agents.supervisor.promises import find_promises, is_told_as_done
from tests.unit.supervisor.turns import POLICY, article, claim, draft, turn

REPORTS = (
    "All orders from last week have been refunded in full by us.",
    "Every customer has been credited.",
    "Every customer was credited $10 last Monday.",
    "Refunds have been issued to everyone.",
    "The shop has refunded all orders.",
    "Our team refunded every order from Monday.",
    "All customers received a full refund.",
    "They've been refunded.",
    "All orders are now refunded.",
    "After a review, all orders have been refunded.",
    "After the storm all orders have been refunded.",
    "We confirm that all payments have been reversed.",
    "Orders from last week, which have been refunded, need no action.",
    "All orders placed in May were cancelled.",
    "Todos los pedidos de la semana pasada han sido reembolsados.",
    "Se han reembolsado todos los pedidos.",
    "Cada cliente ha sido compensado.",
    "Toutes les commandes de la semaine dernière ont été remboursées.",
    "Chaque client a été crédité.",
    "Alle Bestellungen der letzten Woche wurden vollständig erstattet.",
    "Letzte Woche wurden alle Bestellungen erstattet.",
    "Alle Zahlungen sind bereits erstattet worden.",
    "Der Shop hat alle Bestellungen erstattet.",
    "Tutti gli ordini della settimana scorsa sono stati rimborsati.",
    "Ogni cliente è stato rimborsato.",
    "Todas as encomendas da semana passada foram reembolsadas.",
    "A loja reembolsou todos os clientes.",
    "Alle bestellingen van vorige week zijn volledig terugbetaald.",
    "Elke klant is gecrediteerd, bestelling of niet.",
    "Geçen haftaki tüm siparişlerin ücreti iade edildi.",
    "Tüm siparişler iptal edilmiştir.",
)
RULES = (
    "Refunds are issued within 5 days.",
    "Once your refund has been issued, your bank may need up to 10 days.",
    "Orders that have been cancelled cannot be reinstated.",
    "Orders are refunded to the original payment method.",
    "If an order has been refunded, the voucher is lost.",
    "You get an e-mail when the order has been cancelled.",
    "An order that was refunded stays in your account.",
    "After the order has been cancelled, the money takes 3 days.",
    "An order may have been cancelled by the bank.",
    "Refunds will be credited within 5 days.",
    "A refund can be requested within 30 days.",
    "Customers receive a refund by card.",
    "The kettle was designed in 1950.",
    "We were founded in 1990 and have sent parcels since.",
    "Sobald die Bestellung storniert wurde, erhalten Sie eine E-Mail.",
    "Bestellungen, die storniert wurden, werden erstattet.",
    "Bestellungen werden innerhalb von 5 Tagen erstattet.",
    "Los pedidos que han sido cancelados no se envían.",
    "Una vez que el pedido ha sido reembolsado, recibirá un correo.",
    "Los reembolsos se emiten en 5 días.",
    "Les commandes qui ont été annulées ne sont pas expédiées.",
    "Les commandes sont remboursées sous 5 jours.",
    "Gli ordini che sono stati annullati non vengono spediti.",
    "Gli ordini vengono rimborsati entro 5 giorni.",
    "As encomendas que foram canceladas não são enviadas.",
    "Os reembolsos são emitidos em 5 dias.",
    "Zodra de bestelling is geannuleerd, krijgt u een e-mail.",
    "Bestellingen worden binnen 5 dagen terugbetaald.",
    "İadeler 5 gün içinde yapılır.",
    "Sipariş iptal edildiğinde e-posta alırsınız.",
    "Items must not have been used before you return them.",
    "A ceramic coating was applied to the pan.",
    "Payments made by card are charged when the parcel leaves.",
)


@pytest.mark.req("SU-01", "AX-05", "CO-04")
@pytest.mark.parametrize("told", REPORTS)
def test_a_report_of_what_was_done_is_a_promise_whoever_it_is_about(told: str) -> None:
    """Third person and passive say it as surely as "your": a reader takes it for news of their own."""
    assert is_told_as_done(told)
    assert find_promises(told)


@pytest.mark.req("SU-01", "AX-05")
@pytest.mark.parametrize("rule", RULES)
def test_a_rule_in_the_present_or_under_a_condition_reports_nothing(rule: str) -> None:
    assert not is_told_as_done(rule)


@pytest.mark.req("SU-01", "AX-05", "CO-04")
@pytest.mark.parametrize("told", REPORTS[:6])
def test_no_article_is_quoted_for_what_was_done_to_everybody(told: str) -> None:
    """Word for word out of an article, and still nothing this turn or the customer's record knows."""
    state = turn("was I refunded?", articles=(article(f"{told} Knives can be returned only if sealed."),))

    assert not check_grounding(state, draft(claim(told)), POLICY).is_passed


@pytest.mark.req("SU-01", "AX-05")
@pytest.mark.parametrize("rule", RULES[:5])
def test_an_article_is_quoted_for_its_rules(rule: str) -> None:
    state = turn("can I get a refund?", articles=(article(f"{rule} Knives can be returned only if sealed."),))

    assert check_grounding(state, draft(claim(rule)), POLICY).is_passed
