# ruff: noqa: E501 - one phrase or sentence a line reads better than a wrapped one
"""Spanish phrases that bring a person in, and everyday uses that do not; data in the notation of `patterns`.

Of Spain and of Latin America. "Demanda" is also demand: it counts only with a verb of suing. Source: GO-03.
"""

from typing import Final

from shared.domain.alarms.kinds import AlarmKind

PHRASES: Final[dict[AlarmKind, str]] = {
    AlarmKind.LEGAL: """
        mi|mis|nuestro|nuestros|nuestra abogado*|abogada*|letrado
        contact*|contrat*|consult*|acud*|habl*|llam*|busc* ~3 abogado*|abogada*
        por|mediante|vía|con un|mi|una abogado*|abogada*
        voy|vamos|pienso|quiero|puedo|podría|pensamos|tendré ~2 demandar*|denunciar*|querellar*
        los|les|te|os|lo|la demandaré|demando|demandaremos|demandamos|denunciaré|denuncio|denunciaremos
        demandarlos|demandarles|demandarte|demandaros|demandarlo|demandaré|demandaremos|denunciarlos|denunciarles|denunciarte|denunciaros|denunciaré|denunciaremos
        pon*|pondré|present*|interpon*|interpondré|met* ~2 demanda|denuncia|querella
        demanda|denuncia judicial|colectiva|civil|penal|formal|policial
        acción|acciones|medida|medidas|vía|vías|proceso|procedimiento|instancia|instancias legal|legales|judicial|judiciales|penal|penales
        llev*|ir|voy|iremos|vamos|acud*|recurr*|vemos|veremos ~2 juicio|tribunal|tribunales|juzgado|juzgados|corte|justicia
        juzgado|juzgados|tribunales
        juez|jueza ~1 decid*|dirá|dictar*
        ante un|el|la juez|jueza
        burofax
        requerimiento notarial|formal
        daños y perjuicios
        es|son|esto|sea ~2 ilegal|ilegales
        incumplimiento ~1 contrato|contractual
        ley de|del|general ~5 consumidor|consumidores|consumo
        derechos ~3 consumidor|consumidora|consumidores
        llam*|avis*|denunci* ~2 policía
    """,
    AlarmKind.REGULATOR: """
        ocu|facua|omic|profeco|indecopi|sernac|aepd|indec|condusef
        oficina|junta|organismo|autoridad|autoridades|dirección ~2 consumo|consumidor
        reclam*|denunci*|queja|quejar* ~2 consumo
        arbitraje|arbitral de consumo
        hoja|hojas|libro de reclamación|reclamaciones
        defensa|protección al|del|de ~1 consumidor|consumidores
        defensor|defensoría del|de ~1 pueblo|consumidor|cliente
        superintendencia de|del
        agencia|autoridad ~3 protección de datos
        asociación|organización ~1 consumidores
    """,
    AlarmKind.DATA_RIGHTS: """
        rgpd|lopd|lopdgdd|lfpdppp
        derecho al|de|a ~1 olvido|supresión
        derechos arco
        derecho de acceso|rectificación|supresión|oposición
        elimin*|borr*|suprim*|cancel* ~4 datos personales
        ley|según|conforme|reglamento ~4 protección de datos
        datos personales ~5 elimin*|borr*|suprim*
    """,
    AlarmKind.CHARGEBACK: """
        contracargo ~3 banco|tarjeta
        voy|vamos|haré|pediré|solicitaré|iniciaré|pedir|solicitar ~4 contracargo|retrocesión
        banco ~4 revertir|devolver|anular|reversar ~2 cargo|pago
        disputar|reclamar|devolver ~3 cargo ~3 banco
    """,
    AlarmKind.DISTRESS: """
        estoy|estuve|sigo|estamos|termin*|acabé|llevo|llevamos|paso|pasé ~4 llorando
        ganas de llorar
        lloré|lloro|llorado ~3 toda|noche|días|mucho|culpa
        en|con ~1 lágrimas
        estoy|estamos|tan|muy ~2 desesperado|desesperada|desesperados|desesperadas
        con|por|de desesperación
        me desespero
        no aguanto|aguantamos|soporto ~2 más
        ya no puedo|podemos más
        no puedo más $|con|por|ayúd*
        ataque|ataques|crisis de ansiedad|pánico|nervios|angustia
        borde del|de ~2 nervios|colapso|ataque|locura|llanto
        suplico|suplicamos
        se lo|los ruego|imploro
        días|noches|semanas sin dormir
        no ~3 dinero|plata ~4 comer|comida|renta|alquiler|medicina|medicinas
        no tengo|tenemos ni ~3 comida|comer|pan|leche|pañales
        alimentar|comer a mis|mi hijos|hijas|familia|niños
        estoy|estamos|me ~2 destrozado|destrozada|hundido|hundida|devastado|devastada|angustiado|angustiada|desamparado|desamparada
        no ~1 duermo|dormimos|dormir ~4 preocup*|angust*|culpa|esto
        arruin* ~2 vida|boda|funeral
        ya no sé ~1 qué hacer
    """,
    AlarmKind.SELF_HARM: """
        suicidarme|suicidar|suicidio|suicida|suicidándome
        quiero|quisiera|ganas|prefiero|deseo [de] morir|morirme
        me quiero|voy|quisiera [a] morir|matar
        quiero|voy|pienso|ganas [a|en|de] matarme
        quitarme la vida
        acabar|terminar con mi|todo [vida]
        no quiero|tengo [ganas|seguir|razón] [de|para] vivir|viviendo
        hacerme daño
        cortarme las venas
    """,
    AlarmKind.THREAT: """
        los|te|os|las|les|lo voy|vamos a matar|golpear|quemar|apuñalar|reventar|partir
        voy|vamos a matarlos|matarte|mataros|matarles|quemarlos|quemarles|golpearte|golpearlos|reventarte|reventarlos
        sé dónde viv*|trabaj*
        voy|vamos ~3 pegarles|pegarte|pegaros|partirles|partirte
        se|te|os van|vas|vais|va a arrepentir
        van|vas|vais|va a arrepentirse|arrepentirte|arrepentiros
        arrepentirán|arrepentirás|arrepentiréis
        tienda|almacén|local|oficina|oficinas|bodega ~5 quemar|incendiar|explotar|reventar
        quem*|incendi*|bomba ~3 tienda|almacén|local|oficina|oficinas|bodega
    """,
    AlarmKind.WISH: """
        hablar|hablo|comunicar*|contactar|chatear|pasar*|páseme|pásame|pásenme|conectar*|comuníqueme|comunícame|transfier*|transferir* ~3 con|a ~3 persona|humano|humana|agente*|operador*|asesor*|representante*|supervisor*|encargado|encargada|alguien|gerente|ejecutivo|ejecutiva
        persona|humano|agente|asesor real|verdadera|verdadero
        persona de verdad|carne
        ser humano
        alguien real|humano
        quiero|necesito|exijo|pido ~1 humano|agente|asesor|operador|supervisor
        atienda|atiende|atender|conteste|responda|llame|llamar|llamarme|ayude ~3 persona|humano|alguien|asesor*|agente*|representante*
        pas*|ponme|pónganme|póngame ~2 con ~2 persona|humano|alguien|asesor*|agente*
        agente|asesor|operador|atención humano|humana
        hablar|chatear|escribir ~2 con|a un|una|este|su|el robot|bot|máquina|chatbot
    """,
}
"""Kind → phrases, one a line."""

EVERYDAY: Final = """
    para|soy|como|es|de [un|una] abogado*|abogada*
    para mi|un|una abogado*|abogada*
    amigo|amiga|vecino|vecina|marido|esposo|esposa|hermano|hermana abogado*|abogada*
    sin|ningún abogado*|abogada*
    no ~3 demandar*|denunciar*
    es|son ilegal importar|llevar
    elimin*|cancel* ~3 cuenta
    llor* de alegría|risa|felicidad|emoción
    lágrimas de alegría|felicidad|risa|emoción
    llor* ~2 alegría|risa|felicidad|emoción
    bebé ~2 llor*
    morir*|morirme|muero|matar de risa|hambre|calor|vergüenza|frío|ganas|sed|amor
    agente limpiador|desmoldante|espumante|secreto|blanqueador
    escuadrón suicida
    suicida squad
    no ~2 hablar con ~2 persona|nadie|agente*|alguien|humano
"""
"""Uses that are none of it: what one of these overlaps does not count."""
