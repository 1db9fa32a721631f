# ruff: noqa: E501 - one wording a line reads better than a wrapped one
"""The wording of what a customer is told about an action; data only. Placeholders: {order}, {amount}, {about}.

Kept apart from the fixed texts, which a composer may use freely: these say that something was done, or will not be.
Source: design §9 "Approvals", CO-05, SU-01.
"""

from typing import Final

ABOUT: Final = {
    "en": " about order #{order}",
    "es": " sobre el pedido #{order}",
    "fr": " concernant la commande #{order}",
    "de": " zur Bestellung #{order}",
    "it": " sull'ordine #{order}",
    "pt": " sobre a encomenda #{order}",
    "nl": " over bestelling #{order}",
    "tr": " (sipariş #{order})",
}
"""What {about} reads as when the order is known."""

DONE_TEXTS: Final[dict[str, dict[str, str]]] = {
    "refund": {
        "en": "We have refunded {amount} for your order #{order}.",
        "es": "Hemos reembolsado {amount} de su pedido #{order}.",
        "fr": "Nous avons remboursé {amount} sur votre commande #{order}.",
        "de": "Wir haben {amount} zu Ihrer Bestellung #{order} erstattet.",
        "it": "Abbiamo rimborsato {amount} per il suo ordine #{order}.",
        "pt": "A sua encomenda #{order} foi reembolsada em {amount}.",
        "nl": "Uw bestelling #{order} is terugbetaald, en wel {amount}.",
        "tr": "#{order} numaralı siparişiniz için {amount} tutarında para iadesi yaptık.",
    },
    "credit": {
        "en": "We have given you {amount} of store credit for your order #{order}.",
        "es": "Hemos acreditado {amount} como saldo de la tienda por su pedido #{order}.",
        "fr": "Nous avons crédité {amount} en avoir pour votre commande #{order}.",
        "de": "Wir haben Ihnen zur Bestellung #{order} eine Gutschrift über {amount} gewährt.",
        "it": "Abbiamo accreditato {amount} come credito del negozio per il suo ordine #{order}.",
        "pt": "A sua conta foi creditada com {amount} de saldo da loja pela encomenda #{order}.",
        "nl": "We hebben u {amount} winkeltegoed gegeven voor bestelling #{order}.",
        "tr": "#{order} numaralı siparişiniz için size {amount} mağaza kredisi tanımladık.",
    },
    "request_return": {
        "en": "We have requested a return for your order #{order}; the shop still has to accept it.",
        "es": "Hemos solicitado la devolución de su pedido #{order}; la tienda todavía tiene que aceptarla.",
        "fr": "Nous avons demandé le retour de votre commande #{order} ; la boutique doit encore l'accepter.",
        "de": "Ihre Rücksendung zur Bestellung #{order} wurde angefragt; der Shop muss sie noch annehmen.",
        "it": "Abbiamo registrato la richiesta di reso per il suo ordine #{order}; il negozio deve ancora accettarla.",
        "pt": "A sua devolução da encomenda #{order} foi pedida; a loja ainda tem de a aceitar.",
        "nl": "We hebben een retour voor uw bestelling #{order} geregistreerd; de winkel moet die nog accepteren.",
        "tr": "#{order} numaralı siparişiniz için iade talebi oluşturduk; mağazanın bunu henüz kabul etmesi gerekiyor.",
    },
    "cancel_order": {
        "en": "We have cancelled your order #{order}; {amount} goes back the way you paid.",
        "es": "Hemos cancelado su pedido #{order}; {amount} vuelve al medio de pago que usó.",
        "fr": "Nous avons annulé votre commande #{order} ; {amount} retourne sur votre moyen de paiement.",
        "de": "Wir haben Ihre Bestellung #{order} storniert; {amount} geht auf Ihr Zahlungsmittel zurück.",
        "it": "Abbiamo annullato il suo ordine #{order}; {amount} torna sul metodo di pagamento usato.",
        "pt": "A sua encomenda #{order} foi cancelada; {amount} volta ao meio de pagamento utilizado.",
        "nl": "We hebben uw bestelling #{order} geannuleerd; {amount} gaat terug naar uw betaalmiddel.",
        "tr": "#{order} numaralı siparişinizi iptal ettik; {amount} ödeme yaptığınız yönteme geri dönüyor.",
    },
    "change_address": {
        "en": "We have changed the delivery address of your order #{order}.",
        "es": "Hemos cambiado la dirección de entrega de su pedido #{order}.",
        "fr": "Nous avons modifié l'adresse de livraison de votre commande #{order}.",
        "de": "Wir haben die Lieferadresse Ihrer Bestellung #{order} geändert.",
        "it": "Abbiamo modificato l'indirizzo di consegna del suo ordine #{order}.",
        "pt": "A sua morada de entrega da encomenda #{order} foi alterada.",
        "nl": "We hebben het bezorgadres van uw bestelling #{order} gewijzigd.",
        "tr": "#{order} numaralı siparişinizin teslimat adresini değiştirdik.",
    },
    "resend": {
        "en": "We have created a free replacement shipment for your order #{order}.",
        "es": "Hemos preparado un reenvío gratuito de su pedido #{order}.",
        "fr": "Nous avons fait renvoyer sans frais les articles de votre commande #{order}.",
        "de": "Wir haben eine kostenlose Ersatzsendung zu Ihrer Bestellung #{order} veranlasst.",
        "it": "Abbiamo avviato la sostituzione gratuita del suo ordine #{order}.",
        "pt": "A sua encomenda #{order} foi reenviada sem custos.",
        "nl": "We hebben voor uw bestelling #{order} gratis een vervangende zending geregeld.",
        "tr": "#{order} numaralı siparişiniz için ücretsiz bir yeniden gönderim oluşturduk.",
    },
}
"""What was done, with the amount where money moves."""

PLAIN_TEXTS: Final[dict[str, dict[str, str]]] = {
    "refund": {
        "en": "We have refunded your order #{order}.",
        "es": "Hemos reembolsado su pedido #{order}.",
        "fr": "Nous avons remboursé votre commande #{order}.",
        "de": "Wir haben Ihre Bestellung #{order} erstattet.",
        "it": "Abbiamo rimborsato il suo ordine #{order}.",
        "pt": "A sua encomenda #{order} foi reembolsada.",
        "nl": "Uw bestelling #{order} is terugbetaald.",
        "tr": "#{order} numaralı siparişiniz için para iadesi yaptık.",
    },
    "credit": {
        "en": "We have given you store credit for your order #{order}.",
        "es": "Hemos acreditado saldo de la tienda por su pedido #{order}.",
        "fr": "Nous avons crédité un avoir pour votre commande #{order}.",
        "de": "Wir haben Ihnen zur Bestellung #{order} eine Gutschrift gewährt.",
        "it": "Abbiamo accreditato un credito del negozio per il suo ordine #{order}.",
        "pt": "A sua conta foi creditada com saldo da loja pela encomenda #{order}.",
        "nl": "We hebben u winkeltegoed gegeven voor bestelling #{order}.",
        "tr": "#{order} numaralı siparişiniz için size mağaza kredisi tanımladık.",
    },
    "cancel_order": {
        "en": "We have cancelled your order #{order}.",
        "es": "Hemos cancelado su pedido #{order}.",
        "fr": "Nous avons annulé votre commande #{order}.",
        "de": "Wir haben Ihre Bestellung #{order} storniert.",
        "it": "Abbiamo annullato il suo ordine #{order}.",
        "pt": "A sua encomenda #{order} foi cancelada.",
        "nl": "We hebben uw bestelling #{order} geannuleerd.",
        "tr": "#{order} numaralı siparişinizi iptal ettik.",
    },
}
"""The same where the shop named no amount."""

REQUEST_TEXTS: Final[dict[str, dict[str, str]]] = {
    "pending": {
        "en": "We have your request{about}. A person from our team decides about it, and we tell you here.",
        "es": "Tenemos su solicitud{about}. Una persona de nuestro equipo decide sobre ella y se lo diremos aquí.",
        "fr": "Votre demande{about} nous est bien parvenue. Une personne de notre équipe en décide et nous vous le dirons ici.",
        "de": "Ihre Anfrage{about} liegt uns vor. Ein Mensch aus unserem Team entscheidet darüber, und wir sagen es Ihnen hier.",
        "it": "Abbiamo la sua richiesta{about}. Una persona del nostro team decide e glielo diciamo qui.",
        "pt": "Temos o seu pedido{about}. Uma pessoa da nossa equipa decide sobre ele e dizemos-lhe aqui.",
        "nl": "We hebben uw verzoek{about}. Iemand van ons team beslist erover en we laten het u hier weten.",
        "tr": "Talebiniz bize ulaştı{about}. Kararı ekibimizden bir kişi veriyor, sonucu size buradan bildiriyoruz.",
    },
    "in_progress": {
        "en": "Your request{about} is under way; we tell you here how it ends.",
        "es": "Su solicitud{about} está en curso; le diremos aquí cómo termina.",
        "fr": "Votre demande{about} est en cours ; nous vous dirons ici comment elle se termine.",
        "de": "Ihre Anfrage{about} ist in Arbeit; wir sagen Ihnen hier, wie sie ausgeht.",
        "it": "La sua richiesta{about} è in corso; le diciamo qui come va a finire.",
        "pt": "O seu pedido{about} está em curso; dizemos-lhe aqui como termina.",
        "nl": "Uw verzoek{about} loopt; we laten u hier weten hoe het afloopt.",
        "tr": "Talebiniz yürütülüyor{about}; nasıl sonuçlandığını size buradan bildiriyoruz.",
    },
    "expired": {
        "en": "Nobody decided about your request{about} in time, so nothing was done. We are sorry; please ask again, or ask for a person.",
        "es": "Nadie decidió a tiempo sobre su solicitud{about}, así que no se ha hecho nada. Lo sentimos; pídalo de nuevo o pida hablar con una persona.",
        "fr": "Personne n'a décidé à temps de votre demande{about}, rien n'a donc été fait. Nous en sommes désolés ; redemandez-le ou demandez une personne.",
        "de": "Über Ihre Anfrage{about} wurde nicht rechtzeitig entschieden, deshalb ist nichts geschehen. Das tut uns leid; bitte fragen Sie noch einmal oder fragen Sie nach einem Menschen.",
        "it": "Nessuno ha deciso in tempo sulla sua richiesta{about}, quindi non è stato fatto nulla. Ci dispiace; la ripeta oppure chieda di una persona.",
        "pt": "Ninguém decidiu a tempo sobre o seu pedido{about}, por isso nada foi feito. Lamentamos; peça de novo ou peça para falar com uma pessoa.",
        "nl": "Niemand heeft op tijd over uw verzoek{about} beslist, dus er is niets gedaan. Het spijt ons; vraag het opnieuw of vraag naar een mens.",
        "tr": "Talebiniz hakkında zamanında karar verilmedi{about}, bu yüzden hiçbir işlem yapılmadı. Özür dileriz; lütfen yeniden isteyin ya da bir insanla görüşmek istediğinizi yazın.",
    },
    "rejected": {
        "en": "Your request{about} was looked at and is not carried out; nothing was changed or paid. If you do not agree, please ask for a person.",
        "es": "Su solicitud{about} se ha examinado y no se lleva a cabo; no se ha cambiado ni pagado nada. Si no está de acuerdo, pida hablar con una persona.",
        "fr": "Votre demande{about} a été examinée et n'est pas exécutée ; rien n'a été modifié ni payé. Si vous n'êtes pas d'accord, demandez une personne.",
        "de": "Ihre Anfrage{about} wurde geprüft und wird nicht ausgeführt; es wurde nichts geändert und nichts gezahlt. Wenn Sie nicht einverstanden sind, fragen Sie nach einem Menschen.",
        "it": "La sua richiesta{about} è stata esaminata e non viene eseguita; nulla è stato cambiato o pagato. Se non è d'accordo, chieda di una persona.",
        "pt": "O seu pedido{about} foi analisado e não é executado; nada foi alterado nem pago. Se não concordar, peça para falar com uma pessoa.",
        "nl": "Uw verzoek{about} is bekeken en wordt niet uitgevoerd; er is niets veranderd en niets betaald. Bent u het er niet mee eens, vraag dan naar een mens.",
        "tr": "Talebiniz incelendi ve yerine getirilmiyor{about}; hiçbir şey değiştirilmedi ve ödenmedi. Aynı fikirde değilseniz bir insanla görüşmek istediğinizi yazın.",
    },
}
"""Where a request stands, whatever it asks for."""
