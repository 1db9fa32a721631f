"""Closed-class words: they hold sentences together and say nothing about what is asked.

Used only to weigh how much of a question an article covers; every word is still indexed and searched. Negations are
left out on purpose: "can I" and "can't I" ask different things. Folded spelling (no accents, no apostrophes).
Source: closed word classes of each language's grammar (articles, pronouns, prepositions, auxiliaries, question words).
"""

from typing import Final

_EN = """a an the this that these those i im ive id ill me my mine myself you your yours youre youve youd youll u ur he
him his she her hers it its itself we us our ours they them their theirs am is are was were be been being do does did
doing done have has had having can could may might must shall should will would of in on at by for from to into onto
with about as if or and but so than then there here how what whats when where wheres which who whos whom whose why
hows some any all each both either just also too very really please hi hello hey thanks thank ok okay yes s t re ve ll
m d get got want need know tell like lets let one ones dear sir madam anyone someone something anything"""
_ES = """el la los las un una unos unas lo al del de en a con por para sobre desde hasta entre y e o u pero si que
quien cual cuales cuando donde como cuanto cuanta cuantos por yo me mi mis tu te tus el ella nos nuestro nuestra su
sus se le les es son era fue ser estoy esta estan estar he ha han hay hola gracias favor puedo puede quiero este ese
eso esto muy mas"""
_DE = """der die das den dem des ein eine einen einem einer eines und oder aber wenn ob als wie was wer wen wem wann
wo woher wohin warum welche welcher welches ich mich mir mein meine meinen meinem meiner du dich dir dein deine sie
ihr ihre ihnen er es wir uns unser unsere ist sind war waren bin bist sein habe hast hat haben hatte kann kannst konnen
konnte muss mussen soll sollte will wollen mochte werden wird wurde fur von vom zu zum zur mit bei an am auf aus in im
nach uber um bis hallo danke bitte auch noch schon sehr man sich da dass dann hier"""
_FR = """le la les un une des du de d l au aux en dans sur sous par pour avec chez entre et ou mais si que qui
quoi quel quelle quels quelles quand ou comment combien pourquoi je j me m mon ma mes tu te t ton ta tes il elle on
nous notre nos vous votre vos ils elles leur leurs se s ce cet cette ces ca c est sont etait etre suis es ai as a avons
avez ont avoir peux peut puis veux voudrais bonjour merci y tres plus bien"""
_PT = """o a os as um uma uns umas de do da dos das em na nos nas por pelo pela para com sobre ate entre e ou mas
se que quem qual quais quando onde como quanto eu me meu minha meus minhas voce voces seu sua seus suas ele ela nos
nosso nossa eles elas lhe e sao era foi ser estou esta estao estar tenho tem ter ha posso pode quero ola obrigado
obrigada favor isso isto este esta muito mais"""
_IT = """il lo la i gli le un uno una di del dello della dei degli delle a al allo alla ai agli alle da dal in nel
nella su sul con per tra fra e o ma se che chi quale quali quando dove come quanto perche io mi mio mia miei mie tu ti
tuo tua lui lei noi ci nostro vostro loro si e sono era essere ho hai ha abbiamo avete hanno avere posso puo vorrei
voglio ciao grazie favore questo questa quello molto piu"""
_NL = """de het een en of maar als dat die dit deze wat wie waar wanneer hoe welke waarom ik me mij mijn je jij jouw
jullie u uw hij hem zijn zij ze haar wij we ons onze hun is ben bent zijn was waren heb hebt heeft hebben had kan kunt
kunnen moet mag wil zou zal worden wordt van voor met bij op in uit aan naar te tot over om door hallo dank bedankt
alstublieft er ook nog al zeer"""
_TR = """bir bu su o ve veya ile ama icin gibi kadar ben beni bana benim sen seni sana senin siz sizin biz bizim
onlar onun ne neden nicin nasil nerede nereden nereye ne zaman kim hangi kac mi mu var midir olan olarak da de ki cok
daha lutfen merhaba tesekkurler"""

_ASKING = """how when where who whom whose why which como cuando donde quien cual cuanto cuanta cuantos wie wann wo
wer wem wohin woher warum welche welcher welches quand ou comment combien pourquoi quel quelle quais
quando onde quem qual quanto chi dove quale perche wanneer waar waarom welke hoe neden nicin nasil nerede
nereden nereye kim hangi kac"""

ASKING_WORDS: Final = frozenset(_ASKING.split())
"""Question words that change what is asked: "when do you ship" is not "where do you ship". "What" changes nothing."""

QUESTION_WORDS: Final = ASKING_WORDS | frozenset(["what", "whats", "was", "wat", "quoi", "cosa"])
"""… and those that ask for the thing itself: in a shop's questions and titles they say which kind of answer is due."""

WORDS_BY_LANGUAGE: Final = {
    language: frozenset(words.split())
    for language, words in {
        "de": _DE, "en": _EN, "es": _ES, "fr": _FR, "it": _IT, "nl": _NL, "pt": _PT, "tr": _TR,
    }.items()
}  # fmt: skip
"""Each language's own words; several share some."""

FUNCTION_WORDS: Final = frozenset().union(*WORDS_BY_LANGUAGE.values())
"""One set over the languages: a question's language is not known before it is searched."""
