"""Word and letter profiles of the languages we tell apart: data for shared.domain.language, nothing else.

Source: our own lists of each language's frequent function words and shop words; the alphabets. CL-03.
"""

from typing import Final

WORDS: Final[dict[str, str]] = {
    "en": (
        "the a an i you my your is are was were be been am it its this that these those to of in on at for from "
        "with without and or but not do does did dont didnt doesnt isnt have has had havent hasnt can cant could "
        "will wont would should where wheres when what whats which who why how there here me we us our they them "
        "he she please pls plz thanks thank hello hi hey order ordered orders refund return shipping delivery "
        "deliver delivered package parcel tracking money back help need want get got still yet any some no yes "
        "account password email card charged payment price cost size buy bought item items received broken "
        "missing wrong late today tomorrow week day days available if so just about because than then out up down "
        "off now new only more much many after before been im ive id "
    ),
    "es": (
        "el la los las un una unos unas de del al en y o pero no sí mi mis tu tus su sus que qué como cómo cuando "
        "cuándo donde dónde por para porque con sin es son está están estoy fue ha han he hay ser tener tengo "
        "tiene tienen quiero quisiera puedo puede pueden necesito me te se lo le les nos ya aún todavía muy más "
        "este esta esto ese esa hola gracias buenos buenas días tardes pedido pedidos paquete envío envíos "
        "reembolso devolver devolución dinero cuenta contraseña tarjeta pago precio cuánto cuesta talla tienda "
        "llegado llega ayuda favor hace cancelar cambiar comprar compré recibido días semana también hasta desde "
        "cuanto cual cuál "
    ),
    "fr": (
        "le la les un une des du de et ou mais ne pas je tu il elle nous vous ils elles mon ma mes ton votre vos "
        "notre que qui quoi quel quelle quels comment quand où pourquoi pour avec sans dans sur sous est sont "
        "était être suis ai as a avez ont avoir c'est ça ce cet cette ces se me y en au aux plus très déjà encore "
        "toujours jamais bonjour merci svp s'il plaît commande commander colis livraison livré livrer "
        "remboursement remboursé retour retourner argent compte mot passe carte paiement prix combien taille "
        "magasin reçu reçois besoin aide voudrais veux peux puis peut pouvez annuler changer acheter acheté j'ai "
        "n'ai d'un l'article qu'il n'est aujourd'hui jours semaine par faire fait "
    ),
    "de": (
        "der die das den dem des ein eine einen einem einer und oder aber nicht kein keine ich du er sie es wir "
        "ihr mein meine meinen meiner dein euer eure ihre unser ist sind war waren bin bist sein habe hast hat "
        "haben hatte wird werden wurde kann können könnt könnte will möchte wo wann was wer wie warum welche "
        "welcher welches von zu zum zur mit ohne für auf an am im in aus bei nach noch schon immer nur auch sehr "
        "mehr bitte danke hallo guten tag bestellung bestellt paket lieferung geliefert versand rückerstattung "
        "zurück rücksendung geld konto passwort karte zahlung preis kostet größe laden angekommen brauche hilfe "
        "stornieren ändern kaufen gekauft erhalten tage woche dass wenn mir mich gibt meldet seit heute morgen "
        "kommt bleibt "
    ),
    "it": (
        "il lo la i gli le un uno una di del della dei delle da dal dalla in nel nella su per con senza e o ma "
        "non che chi cosa come quando dove perché quale quanto quanti è sono era ho hai ha abbiamo avete hanno mi "
        "ti si ci vi mio mia miei tuo vostro questo questa quello essere avere vorrei voglio posso può potete "
        "devo già ancora mai sempre molto più ciao salve grazie buongiorno favore ordine ordinato pacco "
        "spedizione spedite consegna rimborso restituire reso soldi conto account carta pagamento prezzo costa "
        "taglia negozio arrivato arriva ricevuto aiuto annullare cambiare comprare acquistato giorni settimana "
        "anche dopo prima fino dov'è c'è l'ordine un'altra "
    ),
    "pt": (
        "o a os as um uma uns umas de do da dos das em no na nos nas por pelo pela para pra com sem e ou mas não "
        "sim eu você vocês ele ela nós meu minha meus minhas seu sua que quem qual quais como quando onde cadê "
        "porque quanto é são está estão estou foi ser ter tenho tem têm há quero queria gostaria posso pode podem "
        "preciso já ainda nunca sempre muito mais este esta esse essa isso olá oi obrigado obrigada bom dia "
        "pedido encomenda pacote entrega entregue entregam frete envio reembolso devolver devolução dinheiro "
        "conta senha cartão pagamento preço custa tamanho loja chegou chega recebi ajuda favor cancelar mudar "
        "trocar comprar comprei dias semana também até faz fazer "
    ),
    "nl": (
        "de het een en of maar niet geen ik jij je u hij zij wij we jullie mijn jouw uw ons onze is zijn was "
        "waren ben bent heb hebt heeft hebben had wordt worden werd kan kunnen kunt wil willen zou moet mag waar "
        "wanneer wat wie hoe waarom welke van naar met zonder voor op aan in uit bij nog al altijd ook zeer meer "
        "alstublieft bedankt dank hallo goedemorgen dag bestelling besteld pakket pakje levering geleverd "
        "verzending bezorgd terugbetaling terug retour geld rekening account wachtwoord kaart betaling prijs kost "
        "maat winkel aangekomen ontvangen nodig hulp annuleren wijzigen kopen gekocht dagen week dat dit deze die "
        "als er te om graag blijft komt "
    ),
    "tr": (
        "bir ve veya ama fakat değil degil ben sen biz siz onlar benim senin bizim sizin bana beni sizi bize "
        "bu şu bunu bunun buna şunu o ne neden niçin niye nasıl nasil nerede nerde nereye zaman kaç kac hangi "
        "kim için icin ile gibi kadar göre gore olarak var yok mi mı mu mü midir mısınız misiniz miyim mıyım "
        "musunuz müsünüz çok cok daha hiç hic şey sey ki ise eğer eger hala hâlâ henüz henuz artık artik sonra "
        "önce şimdi simdi bugün bugun yarın yarin dün dun gün gündür gundur hafta haftadır lütfen lutfen merhaba "
        "merhabalar selam günaydın iyi günler teşekkürler tesekkurler teşekkür tesekkur ederim ederiz rica evet "
        "hayır hayir tamam peki acaba lazım lazim gerek gerekiyor sipariş siparis siparişim siparisim siparişimi "
        "siparisimi siparişimin siparişiniz siparişinizi siparişinizin siparişleriniz verdim kargo kargom "
        "kargoya kargoda kargonun iade iadesi iadem iptal etmek ettim etti edin edecek edeceğim edecegim "
        "edebilir edilir edildi istiyorum istemiyorum istedim isterim para param paramı parami paramın hesap "
        "hesabım hesabim hesabıma hesabımı şifre sifre şifremi sifremi unuttum giriş giris kart kartım kartimdan "
        "kartımdan kredi ödeme odeme ödedim odedim fatura ücret ucret ücreti fiyat fiyatı fiyati kampanya "
        "indirim kupon kodu geldi gelmedi gelir gelecek gelmiyor gelen ulaştı ulasti ulaşmadı ulasmadi teslim "
        "teslimat tarihi adres adresi adresimi değiştirmek degistirmek değişim degisim beden numara numaralı "
        "numarası renk mağaza magaza ürün urun ürünü urunu ürünün ürünler urunler aldım aldim almak satın satin "
        "stokta mevcut kırık kirik bozuk eksik yanlış yanlis hasarlı hasarli çıktı cikti çalışmıyor calismiyor "
        "yapabilirim yapabilir yapamıyorum yapılır oldu olmadı olmadi olur olacak müşteri musteri hizmetleri "
        "temsilci temsilcisi yardım yardim yardımcı bilgi alabilir alabilirim öğrenebilir almadım içinde icinde "
        "hakkında hakkinda bunlar bunlardan durumu takip toplam tutarı buradan ekibimiz ekibimizden talebiniz "
        "insanla yanıt kişi "
    ),
    "hi": (
        "mera meri mere mujhe kya hai hain kab kahan kaha kaise kyu kyun nahi nahin aaya aayega milega chahiye "
        "karna karo kar ho hua hui raha rahi se ke ka ki ko me mein aur bhi abhi tak paisa paise wapas kitna "
        "kitne kitni bhai ji apna aap aapka batao do gaya gaye kaunsa "
    ),
    "sv": (
        "jag och är det inte en ett min mitt mina har var när vad hur varför som på av för med till från tack hej "
        "beställning paket leverans pengar kan vill "
    ),
    "pl": (
        "nie jest się na do że i w z mój moja moje jak gdzie kiedy co dlaczego dla czy proszę dziękuję zamówienie "
        "paczka zwrot pieniądze chcę mam "
    ),
    "da": (
        "jeg og er det ikke en et min mit mine har hvor hvornår hvad hvordan hvorfor på af for med til fra tak "
        "hej bestilling pakke levering penge kan vil "
    ),
}
"""Frequent words, separated by spaces; a word may belong to several languages and then counts for less in each."""

LETTERS: Final[tuple[tuple[str, dict[str, float]], ...]] = (
    ("ñ¿¡", {"es": 2.0}),
    ("ß", {"de": 2.5}),
    ("ãõ", {"pt": 2.0}),
    ("œùû", {"fr": 1.5}),
    ("ğışİ", {"tr": 2.5}),
    ("äö", {"de": 0.8, "tr": 0.2, "sv": 0.8, "fi": 0.8}),
    ("ü", {"de": 0.7, "tr": 0.5, "es": 0.1}),
    ("ç", {"fr": 0.6, "pt": 0.6, "tr": 0.6}),
    ("êâ", {"fr": 0.6, "pt": 0.6}),
    ("ìò", {"it": 1.5}),
    ("à", {"it": 0.5, "fr": 0.5, "pt": 0.3}),
    ("è", {"it": 0.5, "fr": 0.6}),
    ("é", {"fr": 0.5, "es": 0.4, "pt": 0.4, "it": 0.1, "nl": 0.05}),
    ("áíóú", {"es": 0.6, "pt": 0.5}),
    ("ëï", {"nl": 0.5, "fr": 0.3}),
    ("łąęśźżćń", {"pl": 2.0}),
    ("å", {"sv": 1.5, "da": 1.5}),
    ("øæ", {"da": 2.0}),
    ("ěřů", {"cs": 2.0}),
    ("ăâțș", {"ro": 1.0}),
)
"""Letters, and how much one word holding any of them speaks for a language. Weights ours."""

SCRIPTS: Final[tuple[tuple[str, str], ...]] = (
    ("ぁ-ゖァ-ヺー", "ja"),
    ("가-힣ᄀ-ᇿ", "ko"),
    ("一-鿿㐀-䶿", "zh"),
    ("Ѐ-ӿ", "ru"),
    ("؀-ۿݐ-ݿ", "ar"),
    ("֐-׿", "he"),
    ("Ͱ-Ͽἀ-῿", "el"),
    ("ऀ-ॿ", "hi"),
    ("ঀ-৿", "bn"),
    ("஀-௿", "ta"),
    ("ఀ-౿", "te"),
    ("઀-૿", "gu"),
    ("਀-੿", "pa"),
    ("ಀ-೿", "kn"),
    ("ഀ-ൿ", "ml"),
    ("฀-๿", "th"),
    ("Ⴀ-ჿ", "ka"),
    ("԰-֏", "hy"),
)
"""Character ranges and the language most of their customers write. Source: Unicode blocks."""
