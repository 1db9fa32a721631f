# ruff: noqa: E501 - one phrase or sentence a line reads better than a wrapped one
"""Turkish phrases that bring a person in, and everyday uses that do not; data in the notation of `patterns`.

Endings are open (`mahkeme*`): Turkish inflects by adding to the word. Source: GO-03.
"""

from typing import Final

from shared.domain.alarms.kinds import AlarmKind

PHRASES: Final[dict[AlarmKind, str]] = {
    AlarmKind.LEGAL: """
        avukatım*|avukatımız*
        avukat|avukata|avukatla|avukatlar|avukatlara ~2 başvur*|danış*|görüş*|tut*|vereceğim|gideceğim|aracılı*|devreye|konuş*
        dava ~1 açacağ*|açar*|açıyor*|açtı*|açıcam|açıcaz|açmak|açmayı|açılacak*|edeceğ*|ederim|ederiz
        davalık*
        mahkeme*
        savcı*
        suç duyuru*
        yasal|hukuki|hukuksal|kanuni|adli hak*|yol*|işlem*|süreç*|süreci|sürece|girişim*|takip*|yaptırım*|başvuru*
        hukuk yol*|mücadele*
        ihtarname*|ihtar
        noter ~2 ihtar*|çek*
        noterden
        icra|icraya|icralık ~1 takib*|vereceğ*|verir*|başlat*
        icralık
        tazminat ~2 dava*|talep*|isteyeceğ*|alacağ*
        tüketici hakları|haklarım*|haklarına|haklarımı|kanunu*|kanuna
        6502 sayılı
        polise|polis|karakola|emniyete ~2 gideceğ*|gidiyor*|şikâyet|şikayet|başvur*|ihbar*|bildir*|haber
        yasa|kanun dışı
        yasadışı
        suç işliyor*
    """,
    AlarmKind.REGULATOR: """
        hakem heyet*
        tüketici hakem|mahkeme*|dernek*|derneğ*|birliğ*|örgüt*
        tüketiciyi koruma*
        tüketicinin koruma*|korunma*
        bakanlı*
        ticaret il müdürlü*
        il ticaret müdürlü*
        cimer*|bimer*|btk|bddk
        alo 175
        175 tüketici
        rekabet|reklam kurul*|kurum*
        kişisel verileri koruma|korunma*
        kamu denetçi*
        ombudsman*
    """,
    AlarmKind.DATA_RIGHTS: """
        kvkk*
        kişisel veri* ~3 sil*|imha*|kaldır*|erişim*|başvuru*|talep*
        unutulma hakk*
        verilerim*|bilgilerim* ~2 yasa*|kanun*
    """,
    AlarmKind.CHARGEBACK: """
        bankam*|bankaya|banka|kartım* ~4 ters ibraz*
        ters ibraz*
        harcama itiraz*
        bankam*|bankaya ~3 itiraz ed*
    """,
    AlarmKind.DISTRESS: """
        ağlıyor*|ağladım|ağladık|ağlatt*|ağlayarak|ağlamaktan|ağlayacağ*|ağlayacam
        gözyaş*
        çaresizim|çaresiziz|çaresizlik*
        çaresiz kal*|durum*|hal*
        umutsuzum|umudum
        artık ~2 dayanam*|katlanam*|kaldıram*
        dayanacak|katlanacak ~1 güc*|hal*|sabr*
        tükendim|tükendik|mahvoldum|mahvolduk
        mahvettiniz|mahvettin ~2 hayat*|beni|bizi
        hayat*|beni|bizi mahvett*|mahfett*|kararttı*
        perişan ol*|ett*|hal*
        sinir krizi*|kriz*
        panik atak*
        bunalıma|bunalımda|depresyona|depresyonda
        psikolojim*|psikolojimiz*|sinirlerim*|sağlığım* ~2 bozul*|bozdu*|alt|altüst|harap|yıpra*|mahv*
        yalvarıyor*|yalvarır*
        uyuyamıyor*|uyuyamadı*
        ne yapacağım* ~1 artık|bilemez|şaşır*
        artık ~2 ne yapacağım*
        çocuklarım*|çocuğum*|bebeğim* ~3 aç|mama*|ekmek|yiyecek
        yiyecek|ekmek|kira|ilaç|mama ~3 param*|paramız* yok|yoktu|kalmadı
        param*|paramız* kalmadı|yok ~4 yiyecek|ekmek|kira|ilaç|mama
        kafayı yiyeceğ*|yicem|yiyicem
        çıldır*|delireceğ*|deliriyor*|delirdim|deliricem
    """,
    AlarmKind.SELF_HARM: """
        intihar*
        kendimi ~1 öldür*|asacağ*|asarım|asmak|atacağ*|keseceğ*|yakacağ*|vuracağ*
        ölmek isti*
        öleyim|ölsem ~2 kurtul*|daha|artık
        yaşamak istemi*
        artık yaşama*|yaşamak
        canıma kıy*|kast*
        hayatıma|yaşamıma son
        kendime zarar
    """,
    AlarmKind.THREAT: """
        sizi|seni|onu|hepinizi|onları ~1 öldür*|vuracağ*|vururum|bıçakla*|yakacağ*|gebert*|döv*|mahvede*
        nerede|nerde yaşadı*|oturdu*|çalıştı* ~1 bili*
        pişman edeceğ*|ederim|olacaksın*|olursun*
        dükkan*|dükkân*|mağaza*|depo*|ofis*|iş yer*|şube* ~3 yakacağ*|yakarım|patlataca*|basacağ*|basarım|havaya
        dükkanınızı|mağazanızı|ofisinizi ~2 yak*|bas*
    """,
    AlarmKind.WISH: """
        müşteri temsilci*|hizmet* ~3 bağla*|görüş*|konuş*|ulaş*|aktar*|yönlendir*|yazış*
        temsilciye|temsilciyle|temsilcinize|temsilcinizle|temsilcisine|temsilcisiyle|temsilcilerinizle ~3 bağla*|görüş*|konuş*|ulaş*|aktar*|yönlendir*|yazış*
        yetkiliyle|yetkiliye|yetkilinizle|görevliyle|görevliye|operatöre|operatörle|danışmana|danışmanla|müdürünüzle|müdürle ~2 bağla*|görüş*|konuş*|ulaş*|aktar*
        yetkili biri* ~2 bağla*|görüş*|konuş*|ulaş*|aktar*
        temsilci* isti*
        canlı destek*|temsilci*|insan*|kişi*|birine|biriyle|birisi*
        insanla|insanlarla|insana|birine|biriyle|birisiyle|birisine|kişiyle|birileriyle ~2 görüş*|konuş*|bağla*|yazış*|aktar*
        gerçek ~1 insan*|kişi*|biri*|temsilci*|görevli*
        insan isti*
        insan|temsilci|kimse|yetkili yok mu
        botla|robotla|chatbotla|makineyle|makinayla ~2 konuş*|görüş*|yazış*
    """,
}
"""Kind → phrases, one a line."""

EVERYDAY: Final = """
    avukat* arkadaş*|dost*|cübbe*|hediye*|kupa*|çanta*|eşim*|kardeş*|komşu*
    avukat olan
    mahkeme*|avukat*|dava ~2 gerek yok|kalmadan
    mahkeme*|avukat*|dava ~2 istemi*|uğraşmak
    dava ~2 açma*
    mahkeme duvar*
    kvkk ~1 uyumlu*|metni*|aydınlatma*|politika*
    kvkk metn*
    sevinçten|mutluluktan|gülmekten ~2 ağla*|ağlı*
    mutluluk gözyaş*
    sevinç gözyaş*
    bebe* ~3 ağla*|ağlı*
    suicide squad
    intihar timi
    gülmekten öl*
    stok* tüken*
    insan*|temsilci*|kimse*|biriyle|yetkili* ~2 konuşmak|görüşmek istemi*
    gerçek insan saç*
    noterden satış|onaylı
"""
"""Uses that are none of it: what one of these overlaps does not count."""
