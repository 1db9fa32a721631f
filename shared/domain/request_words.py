"""The words of a plain request for an action, and those that make it something else, in the product's languages; data.

Folded forms (no accents, lower case). What is in neither table makes a sentence no plain request. Source: AX-01, RT-02.
"""

import re
from typing import Final

from shared.domain.intents import ActionType

LEAD: Final = re.compile(
    r"^(?:(?:so|and|then|hi|hello|hey|please|pls|kindly|just|ok|okay|bitte|hallo|s'il vous plait|bonjour|por favor|hola"
    r"|per favore|buongiorno|ola|alstublieft|lutfen|merhaba)\b[ ,]*)*"
)
"""What a request may begin with."""
WISH: Final = re.compile(
    r"^(?:(?:i|we)(?: would|'d) (?:really )?like|(?:i|we) (?:really )?(?:want|need|wish|request|demand)"
    r"|(?:can|could|would) you|(?:can|could|may) (?:i|we)|(?:i am|i'm) (?:asking for|requesting)"
    r"|ich (?:mochte|will|hatte gerne?|brauche|wunsche)|(?:konnen|konnten|wurden) sie|(?:kann|konnte) ich"
    r"|je (?:veux|voudrais|souhaite|desire)|j'aimerais|(?:pouvez|pourriez)[- ]vous|puis-je"
    r"|(?:yo )?(?:quiero|quisiera|deseo|necesito)|me gustaria|(?:puede|pueden|podria|podrian)|puedo"
    r"|(?:io )?(?:vorrei|voglio|desidero)|(?:potete|puo|potrebbe|potreste)"
    r"|(?:eu )?(?:quero|queria|gostaria de|gostaria|desejo)|(?:pode|podem|poderia)"
    r"|ik (?:wil|zou graag|wens)|(?:kunt|kun|wilt) u|kan ik)\b"
    r"(?: (?:please|bitte|graag|gern|gerne|to)\b)*"
    r"(?: (?:request|ask for|have|get|receive|be|demander|etre|solicitar|recibir|chiedere|richiedere|ricevere|avere"
    r"|pedir|receber|obter)\b)?"
)
"""A wish or a polite question in the first person, or one to us; with what only says that something is wanted."""
VERB_FINAL: Final = frozenset({"istiyorum", "isterim", "edin", "ediniz", "misiniz", "eder"})
"""Turkish puts its wish at the end."""
ORDERS: Final = re.compile(
    r"^(?:refund|reimburse|cancel|return|resend|replace|give|send|change|update|ship|deliver"
    r"|erstatte\w*|storniere\w*|schick\w*|sende\w*|remboursez|rembourser|annulez|annuler|renvoyez|retournez"
    r"|cancel[ae]\w*|anul[ae]\w*|reembols[ae]\w*|devuelv\w*|reenvi\w*|annulla\w*|rimborsa\w*|rispedi\w*"
    r"|annuleer|terugbetaal|retourneer|vervang)$"
)
"""Verbs that give an order when a sentence begins with them."""
ACTS: Final = {
    ActionType.REFUND: re.compile(
        r"^(?:refund(?:ed)?|reimburse(?:d|ment)?|(?:ruck)?erstatt\w*|rembours\w*|reembols\w*|rimbors\w*|terugbeta\w*)$"
    ),
    ActionType.CANCEL_ORDER: re.compile(
        r"^(?:cancel|cancell?ed|cancellation|stornier\w*|stornierung|annul\w*|anul\w*|cancel[ae]\w*|annuleer\w*|iptal)$"
    ),
    ActionType.REQUEST_RETURN: re.compile(
        r"^(?:return|returned|retour\w*|zuruck(?:geben|schicken|senden)|devol\w*|restitu\w*|retourneer\w*|iade)$"
    ),
    ActionType.RESEND: re.compile(
        r"^(?:resend|resent|replace|replaced|replacement|ersatz\w*|reenvi\w*|sostitu\w*|substitu\w*|vervang\w*)$"
    ),
    ActionType.CHANGE_ADDRESS: re.compile(
        r"^(?:address|adresse|lieferadresse|direccion|indirizzo|morada|endereco|adres\w*)$"
    ),
}
"""Words that name an action in a request."""
TOGETHER: Final = (
    (
        re.compile(
            r"\b(?:give me (?=(?:my|the) money back))?(?:(?:my|the) )?money back\b|\b(?:mein )?geld zuruck(?: haben)?\b"
            r"|\b(?:mi )?dinero de vuelta\b|\b(?:mijn )?geld terug\b|\bpara iade\w*"
        ),
        "refund",
    ),
    (re.compile(r"\bsend (it|them|this|these|those|(?:my |the )?order \S+)? ?back\b(?! to (?:me|us))"), r"return \1"),
    (re.compile(r"\bsend (?:me )?(it|them|this|these|(?:my |the )?order \S+)? ?again\b"), r"resend \1"),
    (re.compile(r"\bsend me (?:a new one|another one|another)\b"), "resend it"),
)
"""Words that name an action only together."""
NUMBERED: Final = re.compile(
    r"\b(orders?|purchase|bestellung|auftrag|commande|pedido|ordine|encomenda|bestelling|siparis)"
    r" (?:no|nr|n°|no°|num|number|nummer|numero|numarasi)(?:\. ?|: ?| )(?=#?[a-z]{0,4}-?\d)"
)
"""An order with the word "number": alone that word, and "no", say other things."""
PLAIN: Final = frozenset(
    """a an the my our this that it them these those me us you to for of on in from and order orders order's purchase
    parcel package full whole entire complete all please pls thanks thank now today asap immediately
    bitte die der das den dem des meine meiner meines mein mir mich uns bestellung auftrag ganze ganzen gesamte
    komplett
    komplette vollstandig von fur zu zur sie ich eine einen jetzt heute sofort danke gern gerne
    s'il vous plait merci la le les ma mon mes commande de du pour moi je un une totale entiere maintenant
    aujourd'hui
    por favor gracias el los mi mis pedido para yo completo completa ahora hoy
    per grazie il lo un mio mia ordine l'ordine all'ordine dell'ordine di del dell dell' intero ora oggi
    obrigado obrigada o os meu minha encomenda do da inteiro agora hoje
    alstublieft aub bedankt het mijn bestelling van voor mij ik graag een hele volledige nu vandaag
    lutfen tesekkurler siparis siparisi siparisimi siparisimin siparisin numarali nolu benim bir tam edin ediniz et
    etmek
    istiyorum isterim eder misiniz edebilir icin""".split()  # noqa: SIM905 - a table reads as one
)
"""Words that change nothing of what is asked."""
PLAIN_OF: Final = {
    ActionType.RESEND: frozenset({"send"}),
    ActionType.REFUND: frozenset(
        """give money payment card paid geld zahlung karte argent l'argent paiement carte dinero pago tarjeta denaro
        pagamento carta dinheiro cartao betaling""".split()  # noqa: SIM905 - a table reads as one
    ),
}
"""Words that change nothing of one action, and make another something else ("return my money")."""
HARMLESS: Final = frozenset(
    """hi hello hey dear team good morning evening afternoon regards best kind thx ok okay is was are were am be been
    has
    have had i we they its too very so really quite much far arrived came received got bought ordered broken damaged
    defective faulty torn dirty leaking leaks cracked scratched dead smashed small big large tight loose short long
    late
    slow item items box yesterday week weeks ago days day last disappointed unhappy sorry problem euro euros eur usd
    gbp
    dollar dollars pounds at as with
    hallo guten tag morgen abend liebes freundliche grusse mit ist war sind zu sehr kaputt beschadigt defekt klein
    gross
    spat zerbrochen angekommen leider
    bonjour bonsoir salut cordialement est etait sont trop tres casse cassee abime abimee defectueux defectueuse
    petit petite
    grand grande tard arrive arrivee
    hola buenos dias buenas tardes saludos es era esta llego roto rota danado danada defectuoso defectuosa pequeno
    grande
    muy demasiado tarde
    buongiorno buonasera ciao saluti e era arrivato rotto rotta danneggiato danneggiata difettoso difettosa piccolo
    troppo
    molto tardi
    ola bom boa dia tarde cumprimentos chegou partido partida quebrado quebrada danificado danificada pequeno muito
    dag goedemorgen groeten is was kapot beschadigd defect klein groot te laat aangekomen
    merhaba gunaydin saygilar kirik bozuk hasarli kucuk buyuk cok geldi""".split()  # noqa: SIM905 - a table reads as one
)
"""With PLAIN, what a sentence beside the request may be made of: a greeting, thanks, what is wrong with the goods."""
AMOUNT: Final = re.compile(r"^(?:[$€£]\d+(?:[.,]\d+)*|\d+(?:[.,]\d+)*[$€£]|\d+(?:[.,]\d{3})*[.,]\d{2})$")
"""An amount of money; whether it is the order's is looked at elsewhere (`proposals`)."""
DOUBT: Final = frozenset(
    """not no never without none nobody nothing neither nor stop undo refuse refuses refused refusing unless if when
    whenever until whether later maybe might perhaps could wonder wondering happens except but only instead rather
    than
    half part parts partial partially percent third quarter difference mistake wrong ignore mind forget sorry
    actually
    already joke kidding suppose supposing example says say said saying tell told tells wrote writes write asked
    asks
    thinks thought think heard friend sister brother husband wife mother father mom dad boss him her how why what
    keep kept dont cant wont twice double duplicate overcharged charged fee fees
    nicht kein keine keinen keiner nie niemals niemand ohne falls wenn sobald bevor nachdem ob vielleicht spater
    ausser
    nur stattdessen lieber halb halbe halfte teil teilweise prozent irrtum irrtumlich falsch ignorieren vergessen
    doch
    eigentlich schon bereits sagt sagte schrieb behalten wie warum
    pas ne jamais rien sans personne si quand lorsque peut-etre sauf excepte seulement plutot moitie partie partiel
    erreur ignorez oubliez desole deja dit garder comment pourquoi
    nunca jamas nadie nada sin cuando quizas excepto salvo solo solamente mitad parte parcial ciento error ignore
    olvide
    perdon ya dijo dice como
    non mai nessuno niente senza se quando forse tranne soltanto meta parziale errore ignori scusi gia detto come
    nao ninguem sem talvez exceto apenas metade erro desculpe ja disse
    niet geen nooit niemand zonder als wanneer tenzij misschien behalve alleen deel gedeeltelijk procent fout
    vergeet
    zei degil yok hayir asla hic eger belki sonra haric sadece yari yarisi kismi yuzde yanlis unut pardon zaten dedi
    istemiyorum etmeyin etme""".split()  # noqa: SIM905 - a table reads as one
)
"""Words that, in a reason or beside an address, may turn a request into its opposite: then nothing is assumed."""
NO_ARRIVAL: Final = re.compile(
    r"\b(?:never|not|(?:has|have|did|does|is)n't|didnt|hasnt|havent) (?:yet )?(?:been )?"
    r"(?:come|came|arriv\w*|receiv\w*|deliver\w*|work\w*|fit|show(?:ed)? up|turned up)\b"
    r"|\b(?:nie|nicht) (?:angekommen|erhalten|geliefert|zugestellt)\b"
    r"|\b(?:jamais|pas) (?:ete )?(?:arrive|recu|livre)\w*"
    r"|\b(?:nunca|no) (?:ha )?lleg(?:o|ado)\b|\bno (?:lo |la )?he recibido\b|\b(?:non e |mai )arrivat\w*"
    r"|\b(?:nunca|nao) cheg(?:ou|aram)\b|\b(?:nooit|niet) (?:aangekomen|ontvangen|geleverd)\b"
)
"""What says that goods did not come or do not work: a reason for a request, though it holds a "not"."""
BECAUSE: Final = re.compile(r"\b(?:because|since|weil|parce que|porque|perche|omdat|cunku)\b")
"""Where a reason begins: it speaks for what is asked, so that only doubtful words in it count."""
AND_ASKS: Final = re.compile(r"\band (?=(?:i|we|please|kindly|can you|could you)\b)")
"""Where a second sentence begins without a stop."""
