# ruff: noqa: E501 - one phrase or sentence a line reads better than a wrapped one
"""Italian, Portuguese and Dutch phrases that bring a person in; data in the notation of `patterns`.

Shorter than the other languages' lists: the gravest and plainest phrases only. Source: GO-03.
"""

from typing import Final

from shared.domain.alarms.kinds import AlarmKind

ITALIAN: Final[dict[AlarmKind, str]] = {
    AlarmKind.LEGAL: """
        mio|nostro|miei avvocato|avvocati|legale|legali
        avvocato ~3 vi|la|contatt*|scriv*
        contatt*|consult*|rivolg*|parl* ~3 avvocato|avvocati
        vie|azione|azioni|procedimento legali|legale|giudiziaria|giudiziarie
        sporgo|sporgere|sporgerò|fare|farò|presento|presenterò ~1 denuncia|querela
        denunciarvi|denuncerò|denuncio
        vi|la denuncio|denuncerò|querelo
        causa ~2 contro
        farvi|farò|faccio|fare causa
        in|al tribunale
        diffida|giudice [di] [pace]
        è|sono ~1 illegale|illegali
    """,
    AlarmKind.REGULATOR: """
        associazione ~1 consumatori
        altroconsumo|codacons|agcm|adiconsum|federconsumatori
        antitrust
        garante ~3 privacy|dati|concorrenza
        tutela ~2 consumatori|consumatore
    """,
    AlarmKind.DATA_RIGHTS: "diritto all oblio|accesso\ncancell* ~3 dati personali",
    AlarmKind.DISTRESS: """
        sto|ho ~2 piangendo|pianto
        in lacrime
        sono|siamo ~2 disperato|disperata|disperati
        non ce la faccio più
        non ne posso più
        attacco|attacchi di panico|ansia
        vi supplico
    """,
    AlarmKind.SELF_HARM: """
        suicidarmi|suicidio|suicidare|uccidermi|ammazzarmi
        voglio|vorrei morire|farla [finita]
        togliermi la vita
        mi ~2 uccido|ammazzo
    """,
    AlarmKind.THREAT: "vi|ti ~1 ammazzo|uccido|ucciderò|ammazzerò\nso dove abit*|lavor*",
    AlarmKind.WISH: """
        parlare|parlo|contattare|passatemi|mettetemi|trasferit* ~3 con ~3 persona|umano|operatore|operatrice|consulente|qualcuno|responsabile|addetto
        operatore|persona|assistenza umano|umana|reale
        persona vera|reale
    """,
}
"""Kind → phrases, one a line."""

PORTUGUESE: Final[dict[AlarmKind, str]] = {
    AlarmKind.LEGAL: """
        meu|minha|nosso|meus advogado|advogada|advogados
        contact*|contrat*|consult*|falar|procur* ~3 advogado|advogada
        vou|vamos|irei ~1 processar|processá*
        processo|ação|medida|medidas|via|ações judicial|judiciais|legais|legal
        no|ao|em|nos|aos tribunal|tribunais
        juizado*
        pequenas causas
        queixa crime|formal|polícia
        apresentar|fazer|registar|registrar ~1 queixa|denúncia ~3 polícia|autoridades
        é|são ~1 ilegal|ilegais
        código ~3 consumidor
        direitos ~2 consumidor
    """,
    AlarmKind.REGULATOR: """
        procon|asae
        reclame aqui
        livro de reclamações
        defesa ~1 consumidor
        centro de arbitragem
        consumidor gov
    """,
    AlarmKind.DATA_RIGHTS: "lgpd\ndireito ao esquecimento\napag* ~3 dados pessoais",
    AlarmKind.DISTRESS: """
        estou|fiquei ~2 chorar|chorando
        em lágrimas
        estou|estamos ~2 desesperado|desesperada
        não aguento mais
        crise|ataque de ansiedade|pânico|nervos
        suplico|imploro
    """,
    AlarmKind.SELF_HARM: """
        suicídio|suicidar
        quero|queria morrer
        vou|quero me matar
        vou|quero matar me
        acabar com a minha vida
        tirar a minha vida
    """,
    AlarmKind.THREAT: "vou te|vos|lhe|os matar\nsei onde mora*|trabalha*",
    AlarmKind.WISH: """
        falar|fala|conversar|passar|transferir* ~3 com ~3 pessoa|humano|atendente|assistente|operador|alguém|gerente|responsável
        atendente|atendimento|pessoa humano|humana|real
        pessoa de verdade
    """,
}
"""Kind → phrases, one a line."""

DUTCH: Final[dict[AlarmKind, str]] = {
    AlarmKind.LEGAL: """
        mijn|onze advocaat|advocaten|jurist
        advocaat ~2 inschakelen|nemen|bellen
        schakel|neem ~3 advocaat
        juridische|gerechtelijke stappen|maatregelen|procedure
        aanklagen|dagvaarden|dagvaarding|aangeklaagd
        klaag jullie|u|je ~1 aan
        naar|voor de rechtbank
        naar|voor de rechter $|slepen|dagen|brengen|stappen|gaan
        ingebrekestelling
        aangifte ~1 doen
        doe ~1 aangifte
        is|zijn ~1 illegaal|onwettig
        rechtsbijstand*
    """,
    AlarmKind.REGULATOR: """
        consumentenbond|consuwijzer|geschillencommissie
        autoriteit ~1 persoonsgegevens|consument
        test aankoop|aankoop
    """,
    AlarmKind.DATA_RIGHTS: "avg verzoek|recht\nrecht op vergetelheid|inzage",
    AlarmKind.DISTRESS: """
        ik huil
        zit|ben|heb ~3 huilen|gehuild
        in tranen
        ben|zijn ~2 wanhopig|radeloos
        ten einde raad
        ik kan ~1 niet meer $|aan
        trek het niet meer
        paniekaanval*
        smeek u|jullie|je
    """,
    AlarmKind.SELF_HARM: """
        zelfmoord|zelfdoding|suïcide
        mezelf ~2 doden|vermoorden|pijn
        wil ~1 dood|sterven
        niet meer leven
        einde aan mijn leven
    """,
    AlarmKind.THREAT: "maak|steek|schiet jullie|je|u ~1 af|dood|neer\nweet waar jullie|je|u ~1 wonen|woont|werkt|werken",
    AlarmKind.WISH: """
        met ~3 mens|persoon|medewerker|iemand|collega|leidinggevende ~2 spreken|praten|chatten|doorverbinden|doorverbonden
        spreken|praten|chatten ~2 met ~3 mens|persoon|medewerker|iemand
        echt|echte mens|persoon|medewerker
    """,
}
"""Kind → phrases, one a line."""

EVERYDAY: Final = """
    voor een advocaat
    advocaat likeur|drank
    para um advogado
    per un avvocato
    amico|amica avvocato
    chor* de alegria|rir|felicidade
    pian*|lacrime di gioia|felicità
    huil*|tranen van geluk|vreugde
    morrer|morire|sterven de|di|van ~1 rir|ridere|lachen|fame|fome|honger
    zelfmoord squad
"""
"""Uses that are none of it: what one of these overlaps does not count."""
