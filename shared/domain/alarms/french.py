# ruff: noqa: E501 - one phrase or sentence a line reads better than a wrapped one
"""French phrases that bring a person in, and everyday uses that do not; data in the notation of `patterns`.

An elision is two words ("l avocat"). "Avocat" is also a fruit: it counts only with a verb or beside the law. Source: GO-03.
"""

from typing import Final

from shared.domain.alarms.kinds import AlarmKind

PHRASES: Final[dict[AlarmKind, str]] = {
    AlarmKind.LEGAL: """
        mon|notre|nos|mes avocat*
        contact*|consult*|saisir|voir|appel*|mandat*|engag*|prendre|prends ~1 un|une|mon|notre|l|d avocat*
        par|via|avec|à|auprès [l] [intermédiaire|biais] [de|d] mon|notre|un avocat*
        avocat* ~3 vous contact*|écri*
        porter|porte|porterai|portons|porterons|porterais|déposer|dépose|déposerai|déposons|déposé|porté ~1 plainte
        plainte contre|pénale|au|auprès|déposée
        poursui*|attaqu*|assign*|train*|agir|aller|ester ~3 en|devant [la|le] justice|tribunal|tribunaux
        poursuite|poursuites ~1 judiciaire*|légale*|pénale*
        action|actions|démarche|démarches|voie|voies|suite|suites|mesure|mesures|recours|procédure|procédures [en] judiciaire*|juridique*|légale|légales|légaux|justice
        saisir|saisirai|saisis|saisissons|devant|au|aux ~1 tribunal|tribunaux|juge|justice
        mise|mises|mettre|mets|mettrai|mettons en demeure
        huissier*
        commissaire de justice
        conciliateur*
        dommages et intérêts
        code de la consommation|civil|pénal
        droit|droits du|des|de consommateur*
        droit de la consommation
        garantie légale
        est|sont|c ~2 illégal|illégale|illégaux|illégales
        action de groupe
        assurance|protection|assistance juridique
        appeler|alerter|prévenir ~2 police|gendarmerie
    """,
    AlarmKind.REGULATOR: """
        dgccrf|signalconso|cnil
        signal conso
        répression des fraudes
        ufc que choisir
        écri*|saisi*|contact*|signal*|alert*|prév* ~4 ufc
        soixante|60 millions de consommateurs
        association* ~1 consommateur*
        association* de défense|consommateurs
        protection|défense des|du consommateur*
        médiateur*|médiatrice
        médiation de|à la consommation
        défenseur des droits
        autorité de ~2 concurrence|contrôle|protection
        test achats
        spf économie
    """,
    AlarmKind.DATA_RIGHTS: """
        rgpd
        droit à l oubli|effacement
        droit d accès|opposition|effacement|rectification
        effac*|supprim* ~4 données personnelles
        données personnelles ~3 effac*|supprim*
        règlement général sur la protection
    """,
    AlarmKind.CHARGEBACK: """
        demander|demande|demanderai|faire|ferai|lancer|vais|initier ~4 rétrofacturation|chargeback
        faire|ferai|fais ~1 opposition ~3 paiement|prélèvement|banque
        opposition ~2 faite|bancaire|sur
        banque ~5 annuler|rembourser|contester ~2 paiement|prélèvement
        contester ~3 paiement|prélèvement|transaction ~3 banque
    """,
    AlarmKind.DISTRESS: """
        je pleure|pleurais
        j ai ~2 pleuré
        en pleurs|larmes|sanglots
        larmes aux yeux
        envie de pleurer
        nuit|nuits|jours|journées|soirs à pleurer
        suis|sommes|tellement|vraiment ~2 désespéré|désespérée|désespérés|désespérées
        au désespoir
        par désespoir
        bout du rouleau
        suis|sommes|je ~2 à bout
        à bout de nerfs|forces|souffle
        en peux|pouvons|pouvais plus
        vais craquer|péter|exploser
        crise|crises de nerfs|panique|angoisse|larmes
        crise|crises d angoisse
        dépression nerveuse
        en|vous supplie|supplions
        suis|sommes|toute|tout ~2 effondré*|bouleversé*|anéanti*|traumatisé*|dévasté*
        plus ~2 argent|sou|euro|rien ~3 manger|nourrir|loyer
        nourrir mes|ma|nos enfants|famille|bébé
        ne|n ~2 dors|dormons|dort plus
        ne supporte|supportons plus
        me|nous rend|rendez|rendent malade
        ne sais|savons plus quoi faire
        gâch*|ruin* ~2 vie|mariage|obsèques
    """,
    AlarmKind.SELF_HARM: """
        suicider|suicide|suicidaire|suicidaires|suiciderai
        vais|veux|voudrais|envie|pense [de|d|à] me tuer|pendre|flinguer
        veux|voudrais|voulais|envie|préfère|préférerais [de] mourir|crever
        mettre fin à mes jours|ma|la [vie]
        mettre fin a mes|ma jours|vie
        veux|vais|envie [d|de] en finir
        plus ~1 envie de vivre
        plus ~2 raison de vivre
        ne veux plus vivre
        ouvrir les veines
        me faire|fais du mal
    """,
    AlarmKind.THREAT: """
        vais|va|veux|allons|viens|vient [tous] vous|te|les|lui|tous ~1 tuer|buter|frapper|massacrer|égorger|crever|casser|exploser|poignarder
        je|on vous|te tue|tuerai|bute|égorge|massacre
        sais où vous|tu ~1 habit*|travaill*|viv*
        allez|vas le|la|tout|amèrement regretter
        allez|vas ~2 payer cher
        casser|péter la gueule|figure|tête
        tout casser|cramer|péter|brûler
        brûl*|brul*|incendi*|sauter|exploser|cramer ~3 magasin|boutique|entrepôt|bureaux|locaux|usine
    """,
    AlarmKind.WISH: """
        parler|discuter|échanger|converser|dialoguer|contacter|joindre|transfér*|passez|passer|mettre ~3 à|avec|un|une ~3 humain*|personne|conseiller*|conseillère*|agent*|opérateur*|opératrice*|responsable*|superviseur*|quelqu'un|employé*
        parler|discuter|échanger à|avec quelqu'un
        vrai|vraie|véritable|réelle ~1 humain*|personne|conseiller*|conseillère*|agent
        être humain
        passez|passe moi quelqu'un
        contact avec ~2 conseiller*|conseillère*|humain*|personne|agent
        rappel* ~2 par ~2 quelqu'un|conseiller*|conseillère*|humain|agent
        humain|humaine svp|s|maintenant|vite
        quelqu'un de réel|humain|vrai|compétent
        personne réelle|humaine
        vrai|vraie|véritable interlocuteur|interlocutrice
        quelqu'un au téléphone
        veux|voudrais|besoin|demande|exige|passez|mettez ~3 humain|humaine|humains|conseiller*|conseillère*
        parler|discuter|échanger|écrire|causer ~2 à|avec un|une|votre|ce|le robot|bot|machine|chatbot
    """,
}
"""Kind → phrases, one a line."""

EVERYDAY: Final = """
    avocat* ~3 mûr|mûrs|pourri*|bio|vert|verts|frais|écrasé*|hass|noyau
    huile|masque|crème|beurre|noyau|purée|toast|toasts|coupe|goût|parfum|savon|shampoing|couteau|presse ~2 avocat*
    prendre|prends un|une|des|d avocat* ~1 et|bio|mûr*
    ami|amie|voisin|voisine|mari|femme|frère|sœur ~1 avocat*
    cadeau|tasse|robe|carte pour|d|de ~1 avocat*
    sans|pas ~3 avocat*|plainte|tribunal
    pas|jamais|sans porter|porte|porterai|déposer ~1 plainte
    est|sont ce|il|elle ~1 illégal*
    rgpd conforme
    conforme*|conformité au|avec rgpd
    conforme*|conformité au|avec le rgpd
    pleur* ~2 joie|rire|bonheur
    pleuré ~2 joie|rire|bonheur
    larmes|pleurs|sanglots de joie|rire|bonheur
    bébé ~2 pleur*
    bout de la|le|l|chaussure|ongle
    fil|film|bande suicide
    suicide squad
    mourir de|d rire|faim|froid|chaud|envie|honte
    pas|besoin|inutile ~3 parler à|avec ~2 personne|conseiller*|humain|quelqu'un|agent
"""
"""Uses that are none of it: what one of these overlaps does not count."""
