# ruff: noqa: E501 - one wording a line reads better than a wrapped one
"""The wording of order sentence frames; data only.

Placeholders: {id}, {date}, {items}, {carrier}, {tracking}, {url}, {amount}, {status}, {label}. Source: RT-04, CO-05.
"""

from typing import Final

STATUS_LABELS: Final[dict[str, dict[str, str]]] = {
    "open": {"en": "received", "es": "recibido", "fr": "reçue", "de": "eingegangen", "it": "ricevuto", "pt": "recebida", "nl": "ontvangen"},
    "processing": {
        "en": "being prepared", "es": "en preparación", "fr": "en préparation", "de": "in Bearbeitung", "it": "in preparazione",
        "pt": "em preparação", "nl": "in behandeling",
    },
    "shipped": {"en": "on its way", "es": "en camino", "fr": "en route", "de": "unterwegs", "it": "in viaggio", "pt": "a caminho", "nl": "onderweg"},
    "out_for_delivery": {
        "en": "out for delivery", "es": "en reparto", "fr": "en cours de livraison", "de": "in Zustellung", "it": "in consegna",
        "pt": "em distribuição", "nl": "in bezorging",
    },
    "delayed": {
        "en": "delayed", "es": "retrasado", "fr": "retardée", "de": "verzögert", "it": "in ritardo", "pt": "atrasada", "nl": "vertraagd",
    },
    "on_hold": {
        "en": "on hold", "es": "en espera", "fr": "en attente", "de": "angehalten", "it": "in sospeso", "pt": "em espera", "nl": "in de wacht",
    },
    "awaiting_payment": {
        "en": "awaiting payment", "es": "pendiente de pago", "fr": "en attente de paiement", "de": "wartet auf Zahlung",
        "it": "in attesa di pagamento", "pt": "a aguardar pagamento", "nl": "wacht op betaling",
    },
    "ready_for_pickup": {
        "en": "ready for pickup", "es": "listo para recoger", "fr": "prête à être retirée", "de": "abholbereit", "it": "pronto per il ritiro",
        "pt": "pronta para levantamento", "nl": "klaar om af te halen",
    },
    "delivered": {
        "en": "delivered", "es": "entregado", "fr": "livrée", "de": "zugestellt", "it": "consegnato", "pt": "entregue", "nl": "bezorgd",
    },
    "cancelled": {
        "en": "cancelled", "es": "cancelado", "fr": "annulée", "de": "storniert", "it": "annullato", "pt": "cancelada", "nl": "geannuleerd",
    },
    "return_requested": {
        "en": "return requested", "es": "devolución solicitada", "fr": "retour demandé", "de": "Rücksendung angefragt",
        "it": "reso richiesto", "pt": "devolução pedida", "nl": "retour aangevraagd",
    },
    "returned": {"en": "returned", "es": "devuelto", "fr": "retournée", "de": "zurückgesendet", "it": "reso", "pt": "devolvida", "nl": "geretourneerd"},
    "refunded": {
        "en": "refunded", "es": "reembolsado", "fr": "remboursée", "de": "erstattet", "it": "rimborsato", "pt": "reembolsada", "nl": "terugbetaald",
    },
}  # fmt: skip
"""Canonical status → language → how a customer would say it."""

STATUS_ALIASES: Final = {
    "pending": "open", "received": "open", "confirmed": "open", "unfulfilled": "open", "paid": "open",
    "processed": "processing", "in_progress": "processing", "partially_fulfilled": "processing", "preparing": "processing",
    "label_created": "processing", "fulfilled": "shipped", "in_transit": "shipped", "partially_shipped": "shipped",
    "canceled": "cancelled", "voided": "cancelled", "returning": "return_requested", "partially_refunded": "refunded",
}  # fmt: skip
"""What shops call the same states."""

ORDER_TEXTS: Final[dict[str, dict[str, str]]] = {
    "status": {
        "en": "Your order #{id} is currently: {label}.",
        "es": "El estado actual de su pedido #{id} es: {label}.",
        "fr": "Votre commande #{id} est actuellement : {label}.",
        "de": "Der aktuelle Stand Ihrer Bestellung #{id}: {label}.",
        "it": "Lo stato attuale del suo ordine #{id} è: {label}.",
        "pt": "O estado atual da sua encomenda #{id} é: {label}.",
        "nl": "De huidige status van uw bestelling #{id} is: {label}.",
    },
    "status_other": {
        "en": "Your order #{id} is currently: {label}.",
        "es": "Tenemos su pedido #{id}; su estado en la tienda es «{label}».",
        "fr": "Nous avons votre commande #{id} ; son statut dans la boutique est « {label} ».",
        "de": "Ihre Bestellung #{id} liegt uns vor; ihr Stand im Shop ist „{label}“.",
        "it": "Abbiamo il suo ordine #{id}; il suo stato nel negozio è «{label}».",
        "pt": "Temos a sua encomenda #{id}; o estado na loja é «{label}».",
        "nl": "Uw bestelling #{id} is bij ons bekend; de status in de winkel is '{label}'.",
    },
    "status_part_shipped": {
        "en": "Part of your order #{id} has been shipped and is on its way.",
        "es": "Una parte de su pedido #{id} se ha enviado y está en camino.",
        "fr": "Une partie de votre commande #{id} a été expédiée et est en route.",
        "de": "Ein Teil Ihrer Bestellung #{id} wurde versendet und ist unterwegs.",
        "it": "Una parte del suo ordine #{id} è stata spedita ed è in viaggio.",
        "pt": "Uma parte da sua encomenda #{id} foi enviada e está a caminho.",
        "nl": "Een deel van uw bestelling #{id} is verzonden en is onderweg.",
    },
    "status_part_refunded": {
        "en": "Your order #{id} has been refunded in part.",
        "es": "Su pedido #{id} se ha reembolsado en parte.",
        "fr": "Votre commande #{id} a été remboursée en partie.",
        "de": "Ihre Bestellung #{id} wurde teilweise erstattet.",
        "it": "Il suo ordine #{id} è stato rimborsato in parte.",
        "pt": "A sua encomenda #{id} foi reembolsada em parte.",
        "nl": "Uw bestelling #{id} is gedeeltelijk terugbetaald.",
    },
    "status_open": {
        "en": "We have your order #{id} and it has not been shipped yet.",
        "es": "Tenemos su pedido #{id} y todavía no se ha enviado.",
        "fr": "Nous avons bien votre commande #{id} et elle n'a pas encore été expédiée.",
        "de": "Ihre Bestellung #{id} liegt uns vor und wurde noch nicht versendet.",
        "it": "Abbiamo il suo ordine #{id} e non è ancora stato spedito.",
        "pt": "Temos a sua encomenda #{id} e ainda não foi enviada.",
        "nl": "Uw bestelling #{id} is bij ons binnen en is nog niet verzonden.",
    },
    "status_processing": {
        "en": "Your order #{id} is being prepared.",
        "es": "Su pedido #{id} se está preparando.",
        "fr": "Votre commande #{id} est en cours de préparation.",
        "de": "Ihre Bestellung #{id} wird gerade vorbereitet.",
        "it": "Il suo ordine #{id} è in preparazione.",
        "pt": "A sua encomenda #{id} está a ser preparada.",
        "nl": "Uw bestelling #{id} wordt klaargemaakt.",
    },
    "status_shipped": {
        "en": "Your order #{id} has been shipped and is on its way.",
        "es": "Su pedido #{id} se ha enviado y está en camino.",
        "fr": "Votre commande #{id} a été expédiée et est en route.",
        "de": "Ihre Bestellung #{id} wurde versendet und ist unterwegs.",
        "it": "Il suo ordine #{id} è stato spedito ed è in viaggio.",
        "pt": "A sua encomenda #{id} foi enviada e está a caminho.",
        "nl": "Uw bestelling #{id} is verzonden en is onderweg.",
    },
    "status_out_for_delivery": {
        "en": "Your order #{id} is out for delivery.",
        "es": "Su pedido #{id} está en reparto.",
        "fr": "Votre commande #{id} est en cours de livraison.",
        "de": "Ihre Bestellung #{id} ist in Zustellung.",
        "it": "Il suo ordine #{id} è in consegna.",
        "pt": "A sua encomenda #{id} está em distribuição.",
        "nl": "Uw bestelling #{id} wordt nu bezorgd.",
    },
    "status_delivered": {
        "en": "Your order #{id} has been delivered.",
        "es": "Su pedido #{id} se ha entregado.",
        "fr": "Votre commande #{id} a été livrée.",
        "de": "Ihre Bestellung #{id} wurde zugestellt.",
        "it": "Il suo ordine #{id} è stato consegnato.",
        "pt": "A sua encomenda #{id} foi entregue.",
        "nl": "Uw bestelling #{id} is bezorgd.",
    },
    "status_cancelled": {
        "en": "Your order #{id} has been cancelled.",
        "es": "Su pedido #{id} está cancelado.",
        "fr": "Votre commande #{id} a été annulée.",
        "de": "Ihre Bestellung #{id} wurde storniert.",
        "it": "Il suo ordine #{id} è stato annullato.",
        "pt": "A sua encomenda #{id} foi cancelada.",
        "nl": "Uw bestelling #{id} is geannuleerd.",
    },
    "status_return_requested": {
        "en": "A return has been requested for your order #{id}.",
        "es": "Se ha solicitado una devolución de su pedido #{id}.",
        "fr": "Un retour a été demandé pour votre commande #{id}.",
        "de": "Für Ihre Bestellung #{id} wurde eine Rücksendung angefragt.",
        "it": "È stato richiesto un reso per il suo ordine #{id}.",
        "pt": "Foi pedida uma devolução da sua encomenda #{id}.",
        "nl": "Voor uw bestelling #{id} is een retour aangevraagd.",
    },
    "status_returned": {
        "en": "Your order #{id} has been returned.",
        "es": "Su pedido #{id} se ha devuelto.",
        "fr": "Votre commande #{id} a été retournée.",
        "de": "Ihre Bestellung #{id} wurde zurückgesendet.",
        "it": "Il suo ordine #{id} è stato reso.",
        "pt": "A sua encomenda #{id} foi devolvida.",
        "nl": "Uw bestelling #{id} is geretourneerd.",
    },
    "status_refunded": {
        "en": "Your order #{id} has been refunded.",
        "es": "Su pedido #{id} se ha reembolsado.",
        "fr": "Votre commande #{id} a été remboursée.",
        "de": "Ihre Bestellung #{id} wurde erstattet.",
        "it": "Il suo ordine #{id} è stato rimborsato.",
        "pt": "A sua encomenda #{id} foi reembolsada.",
        "nl": "Uw bestelling #{id} is terugbetaald.",
    },
    "placed": {
        "en": "It was placed on {date}.",
        "es": "Se realizó el {date}.",
        "fr": "Elle a été passée le {date}.",
        "de": "Bestellt wurde am {date}.",
        "it": "È stato effettuato il {date}.",
        "pt": "Foi feita em {date}.",
        "nl": "De bestelling is geplaatst op {date}.",
    },
    "items": {
        "en": "It contains {items}.",
        "es": "Contiene {items}.",
        "fr": "Elle contient {items}.",
        "de": "Sie enthält {items}.",
        "it": "Contiene {items}.",
        "pt": "Contém {items}.",
        "nl": "Deze bevat {items}.",
    },
    "total": {
        "en": "The order total is {amount}.",
        "es": "El total del pedido es de {amount}.",
        "fr": "Le total de la commande est de {amount}.",
        "de": "Der Gesamtbetrag beträgt {amount}.",
        "it": "Il totale dell'ordine è {amount}.",
        "pt": "O total da encomenda é {amount}.",
        "nl": "Het totaalbedrag is {amount}.",
    },
    "shipment": {
        "en": "The parcel is with {carrier}, tracking number {tracking}.",
        "es": "El paquete va con {carrier}, número de seguimiento {tracking}.",
        "fr": "Le colis est confié à {carrier}, numéro de suivi {tracking}.",
        "de": "Das Paket ist bei {carrier}, Sendungsnummer {tracking}.",
        "it": "Il pacco è affidato a {carrier}, numero di tracciamento {tracking}.",
        "pt": "O pacote segue com {carrier}, número de seguimento {tracking}.",
        "nl": "Het pakket is bij {carrier}, trackingnummer {tracking}.",
    },
    "carrier": {
        "en": "The parcel is with {carrier}.",
        "es": "El paquete va con {carrier}.",
        "fr": "Le colis est confié à {carrier}.",
        "de": "Das Paket ist bei {carrier}.",
        "it": "Il pacco è affidato a {carrier}.",
        "pt": "O pacote segue com {carrier}.",
        "nl": "Het pakket is bij {carrier}.",
    },
    "tracking": {
        "en": "The tracking number is {tracking}.",
        "es": "El número de seguimiento es {tracking}.",
        "fr": "Le numéro de suivi est {tracking}.",
        "de": "Die Sendungsnummer ist {tracking}.",
        "it": "Il numero di tracciamento è {tracking}.",
        "pt": "O número de seguimento é {tracking}.",
        "nl": "Het trackingnummer is {tracking}.",
    },
    "tracking_url": {
        "en": "You can follow it here: {url}",
        "es": "Puede seguirlo aquí: {url}",
        "fr": "Vous pouvez le suivre ici : {url}",
        "de": "Hier können Sie es verfolgen: {url}",
        "it": "Può seguirlo qui: {url}",
        "pt": "Pode segui-lo aqui: {url}",
        "nl": "U kunt het hier volgen: {url}",
    },
    "eta": {
        "en": "Delivery is expected on {date}.",
        "es": "La entrega está prevista para el {date}.",
        "fr": "La livraison est prévue le {date}.",
        "de": "Die Zustellung ist für den {date} vorgesehen.",
        "it": "La consegna è prevista per il {date}.",
        "pt": "A entrega está prevista para {date}.",
        "nl": "De levering wordt verwacht op {date}.",
    },
    "delivered": {
        "en": "It was delivered on {date}.",
        "es": "Se entregó el {date}.",
        "fr": "Elle a été livrée le {date}.",
        "de": "Zugestellt wurde am {date}.",
        "it": "È stato consegnato il {date}.",
        "pt": "Foi entregue em {date}.",
        "nl": "De bestelling is bezorgd op {date}.",
    },
    "refund": {
        "en": "{amount} of it has been refunded.",
        "es": "Se han reembolsado {amount}.",
        "fr": "{amount} ont été remboursés.",
        "de": "Davon wurden {amount} erstattet.",
        "it": "Sono stati rimborsati {amount}.",
        "pt": "Foram reembolsados {amount}.",
        "nl": "Daarvan is {amount} terugbetaald.",
    },
    "no_refund": {
        "en": "No refund has been recorded for it so far.",
        "es": "Por ahora no consta ningún reembolso.",
        "fr": "Aucun remboursement n'est enregistré pour le moment.",
        "de": "Bisher ist dafür keine Erstattung verzeichnet.",
        "it": "Finora non risulta alcun rimborso.",
        "pt": "Até agora não há nenhum reembolso registado.",
        "nl": "Er is tot nu toe geen terugbetaling geregistreerd.",
    },
    "summary": {
        "en": "Order #{id} of {date}: {label}.",
        "es": "Pedido #{id} del {date}: {label}.",
        "fr": "Commande #{id} du {date} : {label}.",
        "de": "Bestellung #{id} vom {date}: {label}.",
        "it": "Ordine #{id} del {date}: {label}.",
        "pt": "Encomenda #{id} de {date}: {label}.",
        "nl": "Bestelling #{id} van {date}: {label}.",
    },
    "summary_undated": {
        "en": "Order #{id}: {label}.",
        "es": "Pedido #{id}: {label}.",
        "fr": "Commande #{id} : {label}.",
        "de": "Bestellung #{id}: {label}.",
        "it": "Ordine #{id}: {label}.",
        "pt": "Encomenda #{id}: {label}.",
        "nl": "Bestelling #{id}: {label}.",
    },
}
"""Frame → language → wording."""

STATUS_WORDS: Final[dict[str, dict[str, tuple[str, ...]]]] = {
    "delivered": {
        "en": ("delivered", "arrived"), "es": ("entregado", "entregada"), "fr": ("livree?", "distribuee?"), "de": ("zugestellt", "geliefert"),
        "it": ("consegnat[oa]",), "pt": ("entregue",), "nl": ("bezorgd", "geleverd"),
    },
    "shipped": {
        "en": ("shipped", "dispatched", "on its way"), "es": ("enviad[oa]", "en camino"), "fr": ("expediee?", "en route"),
        "de": ("versendet", "verschickt", "unterwegs"), "it": ("spedit[oa]", "in viaggio"), "pt": ("enviad[oa]", "a caminho"),
        "nl": ("verzonden", "onderweg"),
    },
    "cancelled": {
        "en": ("cancell?ed",), "es": ("cancelad[oa]", "anulad[oa]"), "fr": ("annulee?",), "de": ("storniert",), "it": ("annullat[oa]",),
        "pt": ("cancelad[oa]",), "nl": ("geannuleerd",),
    },
    "refunded": {
        "en": ("refunded", "reimbursed"), "es": ("reembolsad[oa]s?",), "fr": ("remboursee?s?",), "de": ("erstattet", "zuruckerstattet"),
        "it": ("rimborsat[oai]",), "pt": ("reembolsad[oa]s?",), "nl": ("terugbetaald",),
    },
    "returned": {
        "en": ("returned",), "es": ("devuelt[oa]",), "fr": ("retournee?",), "de": ("zuruckgesendet", "zuruckgeschickt"), "it": ("reso",),
        "pt": ("devolvid[oa]",), "nl": ("geretourneerd",),
    },
}  # fmt: skip
"""State → language → folded patterns by which a sentence asserts it."""
