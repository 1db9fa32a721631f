# ruff: noqa: E501 - one phrase or sentence a line reads better than a wrapped one
"""English phrases that bring a person in, and everyday uses that do not; data in the notation of `patterns`.

Wording ours; bodies and laws by their public names. Source: GO-03.
"""

from typing import Final

from shared.domain.alarms.kinds import AlarmKind

PHRASES: Final[dict[AlarmKind, str]] = {
    AlarmKind.LEGAL: """
        my|our [own] lawyer*|attorney*|solicitor*|barrister*
        my|our legal team|department|counsel|representative*|insurance|adviser|advisor
        contact*|consult*|hire*|hiring|retain*|instruct*|involv*|phone*|see|seeing|get|getting|got ~2 lawyer*|attorney*|solicitor*|barrister*
        speak|speaking|spoke|spoken|talk|talking|talked|going|go|turn|hand* [this] [over] to|with|through|via ~2 lawyer*|attorney*|solicitor*|barrister*
        hear|hearing|letter|word|call from ~2 lawyer*|attorney*|solicitor*|barrister*
        lawyer* up
        seek*|sought|take|taking|took|get|getting ~1 legal advice|counsel|representation|help
        legal action|actions|proceedings|notice|threat|steps|measures|consequences|recourse|remedies|redress|claim|case|complaint|letter
        will|ill|gonna|wanna|can|could|should|shall|would|must|might|lets|well|and|or|i|we sue you|u|your|ur|the|this|them|everyone|all
        going|want|have|ready|prepared|able|threaten*|right|forced|decided to sue
        suing you|u|your|everyone|$|now
        im|am|are|were|be|consider*|about|start|end|of|by ~2 suing
        gets|get|be|being|getting sued
        take|taking|took|taken|drag*|bring*|haul* you|u|ya|this|it|them|your|everyone|someone|somebody ~2 to court
        see|meet you|u|ya|yall|them ~2 in court
        prepared|ready|happy|willing|have|forced|going|threaten* to go to court
        go|going|went|gone to court over|about|with|against|for
        through the courts
        court order|action|claim|summons|proceedings|papers|date|hearing
        small claim|claims
        law suit|suits
        lawsuit*
        class action
        press|pressing|file|filing|filed|bring|bringing ~2 charges against
        pressing|press charges
        letter before action|claim
        cease and desist
        breach* ~1 contract
        breach|breaking|broke|violat*|against ~1 consumer law|laws|act|rights
        consumer rights
        consumer protection law|laws|act
        statutory right|rights|warranty
        this|that|thats|its|which|what|it|youre|are ~2 illegal|unlawful
        report*|contact*|call*|going|go|went|tell|inform*|involv* ~4 police|authorities
        police report
        police ~3 informed|notified|involved|contacted
    """,
    AlarmKind.REGULATOR: """
        trading standards
        better business bureau
        report*|complain*|complaint*|contact*|file|filing|filed|call*|write|writing|to|with the bbb
        report*|complain*|contact*|file|filing|filed ~4 bbb
        federal trade commission
        ftc|cfpb|accc|ofcom
        consumer financial protection bureau
        attorney generals|general
        ombudsman|ombudsmen|ombudswoman|ombudsperson
        consumer protection|affairs|court|courts|forum|commission|council|watchdog|helpline|association|agency
        competition authority|commission
        citizens advice
        office of fair trading
        reported|report ~4 action fraud
        advertising standards
        financial conduct authority
        data protection authority|authorities|commissioner|agency
        information commissioner*
        report*|complain*|complaint*|escalat* ~4 regulator|regulators|watchdog|authorities
    """,
    AlarmKind.DATA_RIGHTS: """
        gdpr|ccpa|cpra|dsar
        subject access request*
        right to be forgotten
        right to|of erasure|access
        data protection request|law|laws|act|regulation|rights
    """,
    AlarmKind.CHARGEBACK: """
        i|we|ill|im|were will|am|are|shall|have|going|gonna|about|fil*|start*|open*|rais*|request*|initiat*|doing|do ~4 chargeback*
        ill|im|ive|gonna ~4 chargeback*
        i|we will|am|are|shall ~4 charge back
        my|our bank ~4 chargeback*|reverse|dispute
        ill|gonna|will ~2 dispute ~4 with ~2 bank|card|visa|mastercard|amex|paypal
    """,
    AlarmKind.DISTRESS: """
        im|am|been|was|were|left|keep|sitting|sat|ended ~3 crying|sobbing|weeping
        in|into tears
        sobbing
        sit|sat|lie|just ~3 cry
        cried|crying myself|all|because|every|since
        i|im|am|were|are ~2 desperate $|and|please|now|here|help|because
        getting|feel|feeling|really|truly|absolutely desperate $|and|please|now|here|help|because
        desperate for help|answers
        desperate|desperately ~2 help|need help
        cant|cannot|couldnt take|bear|cope|stand|handle|deal [with] it|this|that ~2 anymore|longer
        just cant|cannot anymore
        dont know what to do anymore
        cant|cannot go on
        cant|cannot|couldnt|not take|bear|stand|handle|do it|this|that any more
        can not|barely|hardly cope|sleep|eat
        cant|cannot cope
        my wits|wit end
        end of my rope|tether|wits
        losing|lost my mind
        breaking point
        nervous|mental|emotional breakdown
        having a [nervous|mental|complete] breakdown|meltdown
        panic|anxiety attack|attacks
        begging you
        i beg you
        im|am|are|been|feel|feeling|making|made|makes|causing|so|much ~3 distress*|distraught|despair*|hopeless|helpless|traumatised|traumatized|devastated|heartbroken
        in despair
        destroy*|break*|kill*|ruin* me|us mentally|emotionally|inside
        mentally|emotionally|physically exhausted|drained|destroyed|broken
        mental health ~3 suffer*|worse|ruin*|destroy*|affect*|toll
        im|am falling apart
        havent|not|cant|cannot|couldnt ~1 slept|sleep ~5 worry*|worried|stress*|over|because
        sick|ill with|from worry|stress
        stress ~3 making|killing|unbearable
        ruin* ~2 life|wedding|funeral
        cant|cannot|couldnt|not ~2 afford|buy ~3 food|eat|rent|medicine|medication|groceries|heating
        no|last|our|my|only ~2 money ~4 food|eat|rent|medicine|medication|groceries|baby|kids|children
        feed my|our|the ~1 kids|children|family|baby
    """,
    AlarmKind.SELF_HARM: """
        kill|killing|hurt|hurting|harm|harming|cut|cutting myself
        kill|killing my self
        suicide|suicides|suicidal
        end|ending|take|taking my [own] life
        end|ending it all
        no|lost ~2 will to live
        life isnt|not worth [living|it]
        life is not worth
        want|wanna|wish|rather|ready|like to die
        want|wanna|rather die
        wish i was|were|am dead|gone
        want|rather ~2 be dead
        better off dead|without me
        dont|do|not|no [not] want|wish|reason|point ~2 live|living|exist
        dont|do|not|no [not] want|wish|reason|point ~2 be|being alive|here
        nothing [left] to live for
        no reason ~4 live
        self harm*
        selfharm*
        overdose|overdosing|overdosed
        slit my wrists
    """,
    AlarmKind.THREAT: """
        i|ill|im|we ~4 kill|stab|shoot|murder|strangle|punch|beat|hurt|attack you|u|ya|him|her|them|everyone|everybody|someone|somebody|your
        going|gonna|should|want to|be kill|stab|shoot|murder|strangle|punch you|u|ya|him|her|them|everyone|everybody|your
        burn*|blow*|bomb*|torch*|shoot* [down|up] your|ur|the|that ~2 store|shop|warehouse|office|offices|headquarters|building ~1 down|up
        burn|blow|bomb|torch|shoot up|down your|ur ~2 store|shop|warehouse|office|offices|building
        know where you|u|they|your ~2 live|lives|work|works
        smash*|trash*|wreck* [up] your|ur|the ~2 store|shop|warehouse|office|offices|windows
        your|ur store|shop|office|warehouse [will|should|is|gonna] [going] [to] burn|explode
        watch your back
        you|u will|gonna regret
        youll regret
        you|u|youll [will|gonna] pay for this
        youre|your|ur dead meat
        bring|bringing ~2 gun|knife|weapon|rifle to|and|with
        coming after|for you|u
    """,
    AlarmKind.WISH: """
        speak|speaking|talk|talking|chat|chatting|connect*|transfer*|put|pass|forward|switch|escalate ~2 to|with|through ~3 human|humans|person|agent|agents|representative|representatives|rep|reps|operator|advisor|adviser|supervisor|manager|employee|someone|somebody
        get|give|want|need|send|find me|us|a|to|some [a] [real] human|humans|person|agent|representative|operator $|now|please|asap|immediately|here|who|instead
        someone|somebody from your|the ~1 staff|team|company|office|department ~2 call|contact|speak|talk|help|phone|reply|get
        someone|somebody real|human
        person|human in charge
        person|human please
        real|actual|live person|human|agent|representative|rep|operator
        human being|agent|person|representative|operator|support
        speak|talk|talking|speaking|chat to|with a|this|some|your ~1 bot|robot|machine|computer|ai
    """,
}
"""Kind → phrases, one a line."""

EVERYDAY: Final = """
    lawyer*|attorney*|solicitor*|barrister* friend|friends|neighbour|neighbor|husband|wife|brother|sister|dad|mum|mom|son|daughter|boyfriend|girlfriend|costume*|mug*|gift*|joke*|bag|briefcase|wig
    friend|neighbour|neighbor|husband|wife|brother|sister|son|daughter who|is ~1 lawyer*|attorney*|solicitor*
    for my|our|a|the lawyer*|attorney*|solicitor*
    gift|present|card|mug|shirt|suit|briefcase for ~2 lawyer*|attorney*|solicitor*
    ace attorney
    speak*|spoke|talk*|thank*|wrote|write|email*|repl*|hello|hi|dear [to] sue
    not|never|wont|dont|didnt|without|no|arent|isnt ~3 sue|suing|sued
    not|never|wont|without|no ~2 legal action|proceedings|steps
    not|never|without|no need ~3 lawyer*|attorney*|solicitor*
    without|no lawyer*|attorney*|solicitor*
    legal size|paper|pad|notice page|link|section
    court shoe|shoes|heel|heels|trainers|sneakers|tie|dress|jacket
    is|are it|this|these|they|that ~1 illegal|unlawful|legal
    gdpr|ccpa compliant|compliance|friendly|ready|banner|training|book|handbook
    tears of joy|laughter|happiness
    happy|joyful tears
    tears in|at|along|around|near|on the|a|it|its|one|both|two|my ~2 seam*|fabric|material|knee*|pocket*|sleeve*|lining
    in|with|into|to tears|rips|holes in|at|on|along
    cry*|cried|tears ~3 joy|joyful|laugh*|happiness|happy|good
    laugh* ~3 cry*|cried|tears
    baby|babies|newborn|toddler ~3 cry*|cried
    break|breakdown of|cover*|service
    losing|lost my mind over ~2 cute|beautiful|pretty
    dont|do not|not|never|without|no need|rather ~3 speak*|talk*|chat* to|with ~2 human|person|agent|representative|anyone|someone|anybody|manager
    human hair|size|sized|anatomy|body|skull|skeleton
    real|actual|live person size|sized|cutout|plant*
    die|dying of|from|laugh*|embarrass*|cute*|hunger|boredom
    beat your|their|this|that|the ~1 price*|offer|deal
    hurt your feelings
    shoot you|u|them|him|her a|an|over
    punch your|them ~1 code|number
    suicide squad|doors|door|prevention
    dress|dressed|shoes|these|this|outfit to die
    kill|killing|hurt|hurting|cut|cutting myself ~2 laugh*|shaving|cooking
    overdose|overdosed|overdosing on ~1 chocolate|sugar|cute*|glitter|colour|color
    kill|killing|beat|beats you with|to|on|price*
    robot vacuum*|mower*|toy*|kit
    coming for you in|on|with
    police costume*|hat|uniform*|badge*|outfit*|car|cars|toy*|set|lego|station|helmet*|dress
    tennis|basketball|food|squash|badminton|padel|volleyball|pickleball|indoor|outdoor|clay|hard court*
"""
"""Uses that are none of it: what one of these overlaps does not count."""
