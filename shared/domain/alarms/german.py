# ruff: noqa: E501 - one phrase or sentence a line reads better than a wrapped one
"""German phrases that bring a person in, and everyday uses that do not; data in the notation of `patterns`.

Both spellings of an umlaut (ü, ue) are written out where the word is often typed without one. Source: GO-03.
"""

from typing import Final

from shared.domain.alarms.kinds import AlarmKind

PHRASES: Final[dict[AlarmKind, str]] = {
    AlarmKind.LEGAL: """
        mein|meine|meinen|meinem|meiner|unser|unsere|unseren|unserem|unserer anwalt*|anwält*|anwaelt*|rechtsanwalt*|rechtsanwält*|rechtsanwaelt*
        anwalt*|anwält*|anwaelt*|rechtsanwalt*|rechtsanwält*|rechtsanwaelt* ~3 einschalt*|beauftrag*|nehmen|nehme|kontaktier*|übergeb*|uebergeb*|konsultier*|hinzuzieh*|einzuschalten|gehen|wenden
        schalte|nehme|nehmen|beauftrag*|kontaktier*|konsultier*|engagier* ~4 anwalt*|anwält*|anwaelt*|rechtsanwalt*|rechtsanwält*|rechtsanwaelt*
        zum|zur|zu|von|vom|an|mit|über|durch meinem|meiner|meinen|unserem|unseren|einem|einen|einer anwalt*|anwält*|anwaelt*|rechtsanwalt*|rechtsanwält*|rechtsanwaelt*
        zum|vom anwalt*|rechtsanwalt*
        rechtlich*|juristisch*|gerichtlich*|anwaltlich*|zivilrechtlich*|strafrechtlich* ~1 schritt*|mittel|konsequenz*|maßnahm*|massnahm*|hilfe|folgen|vertretung|beistand|auseinandersetzung|vorgehen|klären|durchsetzen|vorzugehen
        rechtlich|juristisch|gerichtlich|strafrechtlich ~4 vorgehen|vorgehe|vorzugehen|klären|wehren|belangen|verfolgen|prüfen
        rechtsweg*|rechtsbeistand|rechtsschutz*|rechtsstreit*
        klage|klagen ~3 einreich*|erheb*|eingereicht|gegen
        sonst|andernfalls|ansonsten|folgt|droht ~4 klage|anwalt*|rechtsanwalt*|gericht
        letztmalig*|letztmals ~4 auf|aufforder*
        reiche|reichen|erhebe|erheben ~4 klage
        verklag*
        vor|vors gericht
        anzeige ~5 erstatt*
        anzeige ~2 gegen|gestellt
        erstatt* ~2 anzeige
        zeige sie|euch|dich ~3 an
        anzeigen werde|wegen betrug*
        strafanzeige*|strafantrag*|betrugsanzeige*|staatsanwalt*
        mahnbescheid*|mahnverfahren*|mahngericht*|vollstreckungsbescheid*|gerichtsvollzieher*
        amtsgericht*|landgericht*|verwaltungsgericht*
        schadensersatz*|schadenersatz*|unterlassung*|vertragsbruch*|abmahnung*
        setze|setzen ~4 frist
        frist setzung|gesetzt
        fristsetzung*
        letzte mahnung|aufforderung
        letzte frist bis
        ist|sind|war|handeln|das ~2 illegal|rechtswidrig|gesetzwidrig|strafbar
        bürgerliches gesetzbuch
        gesetzlich* ~1 anspruch|ansprüche|rechte|gewährleistungsrecht*
        polizei ~3 einschalt*|informier*|verständig*|melde*|anzeig*|angezeigt|gemeldet|eingeschaltet|verständigt
        gehe|gehen|wende|wenden|melde|melden ~4 polizei
    """,
    AlarmKind.REGULATOR: """
        verbraucherzentrale*|verbraucherschutz*|verbraucherschütz*|verbraucherschuetz*|konsumentenschutz*|arbeiterkammer
        bundesnetzagentur|wettbewerbszentrale|gewerbeaufsicht*|gewerbeamt|ordnungsamt|kartellamt|bundeskartellamt|bafin|marktaufsicht*|aufsichtsbehörd*|aufsichtsbehoerd*
        schlichtungsstell*|schiedsstelle*|schlichtungsverfahren|ombudsstell*|ombudsmann|ombudsfrau
        verein für konsumenteninformation
        datenschutzbehörde*|datenschutzbehoerde*|landesdatenschutz*
        stiftung warentest melde*|informier*
    """,
    AlarmKind.DATA_RIGHTS: """
        dsgvo
        ds gvo
        datenschutzgrundverordnung
        datenschutz grundverordnung
        auskunftsersuchen|auskunftsanspruch|auskunftsrecht|datenauskunft
        recht auf vergessenwerden|löschung|auskunft|datenübertragbarkeit
        personenbezogen* daten ~4 lösch*|loesch*|auskunft|herausgabe
        lösch*|loesch*|auskunft ~5 personenbezogen*
        datenschutzbeauftragt*
    """,
    AlarmKind.CHARGEBACK: """
        rückbuchung ~4 veranlass*|einleit*|beantrag*
        veranlass*|beantrag*|leite|lasse ~4 rückbuchung
        ich|werde|lasse|wir ~5 zurückbuchen|zurueckbuchen
        bank ~5 zurückbuch*|zurueckbuch*|zurückhol*
        buche|hole ~5 bank ~2 zurück|zurueck
        chargeback ~3 einleit*|beantrag*|veranlass*|machen
        käuferschutz ~3 eingeschaltet|einschalt*|einleit*|öffne*
    """,
    AlarmKind.DISTRESS: """
        ich|wir ~2 weine|heule|weinen|heulen
        weine|heule ich
        am weinen|heulen
        habe|hab|haben|hat|musste ~4 geweint|geheult|weinen
        in tränen ausgebrochen|aufgelöst
        den tränen nah|nahe
        kommen|laufen|liefen ~2 tränen
        fertig mit den|meinen nerven
        keine kraft mehr
        bin|sind|völlig|total|komplett|so|langsam|wirklich|schon ~2 verzweifelt
        ich verzweifle
        zum|am verzweifeln
        aus|voller verzweiflung
        kann|kanns|können einfach nicht mehr $|bitte
        ich|wir kann|können nicht mehr $|bitte
        ich|wir halte|halten|halts ~3 nicht|nimmer ~2 aus
        halte|halt ich|wir ~3 nicht|nimmer ~2 aus
        ertrage|ertragen ~3 nicht mehr|länger
        nicht|kaum ~2 auszuhalten
        mit den|meinen|unseren nerven ~1 ende|fertig
        nervlich|psychisch ~2 am|fertig ende
        nervlich|psychisch ~2 kaputt|krank|fertig|labil|zusammen
        macht|machen mich|uns ~2 kaputt|krank|fertig
        am ende ~2 kräfte|kraft|nerven
        angst um ~1 existenz
        nervenzusammenbruch|panikattacke*|angstzustand|angstzustände|angstzustaende|heulkrampf
        flehe|flehen sie|euch|dich ~1 an
        weiß|weiss ~3 nicht mehr weiter|ein
        existenzangst|existenzängste
        kein*|letztes ~2 geld ~3 essen|miete|lebensmittel|medikamente|windeln
        schlaflose nächte
        kann|können|konnte ~3 nicht mehr schlafen
        bin|sind ~2 hilflos|erschüttert|traumatisiert
        bin|sind am boden zerstört
        treibt|treiben mich in|zur ~1 wahnsinn|verzweiflung
    """,
    AlarmKind.SELF_HARM: """
        bringe|bring mich ~2 um
        mich ~1 umbringen|umzubringen|töten|toeten
        selbstmord|selbstmordgedanken|selbsttötung|suizid*|lebensmüde|lebensmuede
        will|möchte|moechte|mag|kann ~3 nicht mehr leben
        nicht mehr leben will|möchte|moechte|kann
        will|möchte|moechte|würde|wuerde [einfach|lieber|am] [nur|liebsten] sterben
        lieber|wäre|waere|ich tot [wäre|sein]
        leben nehmen|beenden
        leben ein ende
        selbstverletz*
        mich ~2 ritzen|ritze
        springe|spring ~3 brücke|bruecke
    """,
    AlarmKind.THREAT: """
        bringe|bring sie|euch|dich|ihn|alle ~2 um
        sie|euch|dich|alle|ihn ~1 umbringen|abstechen|erschießen|erschiessen|verprügeln|verpruegeln|töten|toeten|fertigmachen|totschlagen
        weiß|weiss wo du|ihr|sie ~2 wohn*|arbeite*
        weiß|weiss wo euer|ihr ~1 laden|büro|lager|geschäft|haus
        werdet|werden|wirst das|es|sie|ihr|du ~2 bereuen
        schlage|schlag|haue|hau ~4 kurz|zusammen|kaputt
        haue|hau euch|dir|ihnen eine|eins|rein
        zünde|zuende|fackel|fackle|sprenge ~4 laden|lager|geschäft|büro|filiale|haus
        laden|lager|geschäft|büro|filiale ~2 anzünden|anzuenden|abfackeln|niederbrennen|sprengen
    """,
    AlarmKind.WISH: """
        mit|zu|an|durch ~3 mensch|menschen|person|mitarbeiter*|berater*|kundenberater*|ansprechpartner*|sachbearbeiter*|vorgesetzt*|kundenservice|kundendienst|jemandem|jemanden ~2 sprechen|reden|chatten|telefonieren|schreiben|verbinden|verbunden|weiterleiten|weitergeleitet|weiterverbinden
        sprechen|reden|chatten|telefonieren|verbinden|verbinde ~3 mit|zu ~3 mensch|menschen|person|mitarbeiter*|berater*|kundenberater*|ansprechpartner*|vorgesetzt*|kundenservice|kundendienst|jemandem
        echt*|richtig*|reale|realen|realer|realem|lebendig*|menschlich* mensch|menschen|person|mitarbeiter|mitarbeiterin|ansprechpartner|berater
        mit|zu ~2 bot|chatbot|roboter|maschine|computer|ki ~2 sprechen|reden|schreiben|chatten|diskutieren
        möchte|moechte|will|brauche|bitte|geben|gebt ~3 einen|einem|ein menschen|mitarbeiter|berater|ansprechpartner
        ihren|ihre|euren|eure|den|die|ihrem|eurem ~1 chef|chefin|vorgesetzten|geschäftsführer*|filialleit*|teamleit* ~2 sprechen|reden|kontaktieren|erreichen
        mensch|mitarbeiter|mitarbeiterin|berater ~2 anrufen|zurückrufen|antworten|melden|schreiben|helfen
        gibts|gibt ~3 menschen|mensch|mitarbeiter $|hier|der|die|mit|bei|zum
        jemanden|jemandem ~1 sprechen|erreichen|reden
        jemand ~2 anrufen|zurückrufen|anruft|zurückruft
        gibts|gibt ~3 keine*|echte* ~1 mitarbeiter|menschen|mensch|ansprechpartner
    """,
}
"""Kind → phrases, one a line."""

EVERYDAY: Final = """
    befreundet* anwalt*|anwält*|rechtsanwalt*
    anwalt*|anwält*|rechtsanwalt* freund*|kollege*|robe|kostüm|tasse
    für|als ~2 anwalt*|anwält*|anwaelt*|rechtsanwalt*|rechtsanwält*
    ohne|kein|keinen|nicht ~1 anwalt*|anwält*|rechtsanwalt*|klage|gericht
    nicht|ohne|nie ~1 verklag*
    keine|ohne rechtlich*|gerichtlich* ~1 schritt*
    ist|sind es|das|die|der ~3 illegal
    dsgvo konform*
    vor|vors gericht serviert|warm
    vor|aus|für freude|glück|lachen|rührung ~3 geweint|weinen|tränen|geheult
    geweint|weinen|geheult ~3 freude|glück|lachen|rührung
    baby|kind ~2 weint|weinen
    verzweifelt gesucht|auf
    such*|warte ~2 verzweifelt
    verzweifelt ~2 such*|gesucht
    selbstmord kommando
    suizid squad|prävention*
    sterben vor|für
    nicht ~3 mit ~2 mensch*|mitarbeiter*|person|jemand* ~1 sprechen|reden|chatten
    wird|werden ~2 mich ~1 umbringen
    polizei kostüm*|auto|mütze|uniform|station|set
"""
"""Uses that are none of it: what one of these overlaps does not count."""
