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
    r"|(?:can|could|would|will) you|(?:can|could|may) (?:i|we)|(?:i am|i'm) (?:asking|requesting)"
    r"|ich (?:mochte|will|hatte gerne?|brauche|wunsche)|(?:konnen|konnten|wurden) sie|(?:kann|konnte) ich"
    r"|je (?:veux|voudrais|souhaite|desire)|j'aimerais|(?:pouvez|pourriez)[- ]vous|puis-je"
    r"|(?:yo )?(?:quiero|quisiera|deseo|necesito)|me gustaria|(?:puede|pueden|podria|podrian)|puedo"
    r"|(?:io )?(?:vorrei|voglio|desidero)|(?:potete|puo|potrebbe|potreste)"
    r"|(?:eu )?(?:quero|queria|gostaria|desejo)|(?:pode|podem|poderia)"
    r"|ik (?:wil|zou graag|wens)|(?:kunt|kun|wilt) u|kan ik)\b"
)
"""A wish or a polite question in the first person, or one to us."""
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
        r"^(?:resend|resent|replace|replaced|replacement|ersatz\w*|renvoy\w*|reenvi\w*|sostitu\w*|substitu\w*|vervang\w*)$"
    ),
    ActionType.CHANGE_ADDRESS: re.compile(
        r"^(?:address|adresse|lieferadresse|direccion|indirizzo|morada|endereco|adres\w*)$"
    ),
}
"""Words that name an action in a request."""
TOGETHER: Final = (
    (re.compile(r"\bmoney back\b|\bgeld zuruck\b|\bdinero de vuelta\b|\bpara iade\w*"), "refund"),
    (re.compile(r"\bsend (it|them|this|these|those|(?:my |the )?order \S+)? ?back\b"), r"return \1"),
    (re.compile(r"\bsend (?:me )?(it|them|this|these|(?:my |the )?order \S+)? ?again\b"), r"resend \1"),
    (re.compile(r"\bsend me (?:a new one|another one|another)\b"), "resend it"),
)
"""Words that name an action only together."""
PLAIN: Final = frozenset(
    """a an the my our this that it them these those me us you to for of on in from and order orders order's number no
    nr purchase parcel package full whole entire complete all please pls thanks thank now today asap immediately back
    money card payment get have give send receive be i we would like want need asking requesting request
    bitte die der das den dem des meine meiner meines mein mir mich uns bestellung auftrag nummer ganze ganzen gesamte
    komplett komplette vollstandig von fur zu zur geld sie ich eine einen jetzt heute sofort danke gern gerne hatte
    s'il vous plait merci la le les ma mon mes commande numero n de du pour moi je un une totale entiere maintenant etre
    aujourd'hui demander me l'argent
    por favor gracias el los mi mis pedido para yo completo completa ahora hoy dinero solicitar
    per grazie il lo un mio mia ordine l'ordine all'ordine dell'ordine di del dell dell' intero ora oggi chiedere
    obrigado obrigada o os meu minha encomenda do da inteiro agora hoje dinheiro pedir
    alstublieft aub bedankt het mijn bestelling van voor mij ik graag willen een hele volledige nu vandaag terug
    lutfen tesekkurler siparis siparisi siparisimi siparisimin siparisin numarali nolu benim bir tam edin ediniz et
    etmek istiyorum isterim eder misiniz edebilir icin""".split()  # noqa: SIM905 - a table reads as one
)
"""Words that change nothing of what is asked."""
DOUBT: Final = frozenset(
    """not no never without none nobody nothing neither nor stop undo refuse refuses refused refusing unless if when
    whenever until whether later maybe might perhaps could wonder wondering happens except but only instead rather than
    half part parts partial partially percent third quarter difference mistake wrong ignore mind forget sorry actually
    already joke kidding suppose supposing example says say said saying tell told tells wrote writes write asked asks
    thinks thought think heard friend sister brother husband wife mother father mom dad boss him her how why what
    keep kept dont cant wont twice double duplicate overcharged charged fee fees
    nicht kein keine keinen keiner nie niemals niemand ohne falls wenn sobald bevor nachdem ob vielleicht spater ausser
    nur stattdessen lieber halb halbe halfte teil teilweise prozent irrtum irrtumlich falsch ignorieren vergessen doch
    eigentlich schon bereits sagt sagte schrieb behalten wie warum
    pas ne jamais rien sans personne si quand lorsque peut-etre sauf excepte seulement plutot moitie partie partiel
    erreur ignorez oubliez desole deja dit garder comment pourquoi
    nunca jamas nadie nada sin cuando quizas excepto salvo solo solamente mitad parte parcial ciento error ignore olvide
    perdon ya dijo dice como
    non mai nessuno niente senza se quando forse tranne soltanto meta parziale errore ignori scusi gia detto come
    nao ninguem sem talvez exceto apenas metade erro desculpe ja disse
    niet geen nooit niemand zonder als wanneer tenzij misschien behalve alleen deel gedeeltelijk procent fout vergeet
    zei degil yok hayir asla hic eger belki sonra haric sadece yari yarisi kismi yuzde yanlis unut pardon zaten dedi
    istemiyorum etmeyin etme""".split()  # noqa: SIM905 - a table reads as one
)
"""Words that may turn a request into its opposite, a part, a condition or somebody else's: then nothing is assumed."""
NO_ARRIVAL: Final = re.compile(
    r"\b(?:never|not|(?:has|have|did|does|is)n't|didnt|hasnt|havent) (?:yet )?(?:been )?"
    r"(?:come|came|arriv\w*|receiv\w*|deliver\w*|work\w*|fit|show(?:ed)? up|turned up)\b"
    r"|\b(?:nie|nicht) (?:angekommen|erhalten|geliefert|zugestellt)\b"
    r"|\b(?:jamais|pas) (?:ete )?(?:arrive|recu|livre)\w*"
    r"|\b(?:nunca|no) (?:ha )?lleg(?:o|ado)\b|\bno (?:lo |la )?he recibido\b|\b(?:non e |mai )arrivat\w*"
    r"|\b(?:nunca|nao) cheg(?:ou|aram)\b|\b(?:nooit|niet) (?:aangekomen|ontvangen|geleverd)\b"
)
"""What says that goods did not come or do not work: a reason for a request, though it holds a "not"."""
BECAUSE: Final = re.compile(
    r"\b(?:because|since|weil|parce que|porque|perche|omdat|cunku)\b"
    r"|\band (?=(?:i|we|please|kindly|can you|could you)\b)"
)
"""Where a reason, or a second sentence, begins without a stop."""
