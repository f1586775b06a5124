// Common passwords. Of the 10,000 most common only those with twelve or more characters are listed, since shorter ones
// are refused for their length; common words that are lengthened by digits or by repetition are refused as well.
// Source: frequency list of zxcvbn 4.4.2 (MIT, (c) 2012-2016 Dan Wheeler and Dropbox, Inc.), leaked passwords.

const long = `
  010203040506 012345678910 014702580369 01telemike01 102030405060 1111111111zz 111222333000 111222333444555
  112233445566 122333444455555 123123qweqwe 123321456654 123321qweewq 123456654321 123456782000
  1234567887654321 123456789000 12345678900987654321 1234567890987654321 1234567890qaz 1234567890qw
  1234567890qwe 1234567890qwerty 1234567890zzz 123456789101 123456789123 1234567892000 12345678987654321
  123456789987654321 123456789abc 123456789asd 123456789qaz 123456789qqq 123456789qwe 123456789qwer
  123456789qwerty 123456789zxc 1234567qwertyu 123456qwerty 1234qwerasdf 1234qwerasdfzxcv 123qwe456rty
  123qweasdzxc 123qwerty123 12qw34er56ty 159753456852 1a2s3d4f5g6h 1q2w3e4r5t6y 1qa2ws3ed4rf 1qa2ws3ed4rf5tg
  1qaz2wsx3edc 1qaz2wsx3edc4rfv 1qazxsw23edc 1qazxsw23edcvfr4 23176djivanfros 31217221027711 32615948worms
  41d8cd98f00b 4815162342lost 541233432442 59382113kevinp 742617000027 89231243658s 89876065093rax
  a1s2d3f4g5h6 abc123456789 admin18533362 amadeusptfcor an83546921an13 andrewjackie antananarivu
  asdfgh123456 asdfghjkl123 auckland2010 avrillavigne bltynbabrfwbz boy4u2ownnyc bpgjldsgjldthnf
  businessbabe chickenwing101 christopher1 cjdthitycndj combat123654 contortionist corperfmonsy
  counterstrike devilmaycry4 digitalprodu dkflbvbhjdbx dkflbvbhjdyf domainlock2005 finalfantasy fkmnthyfnbdf
  fktrcfylhjdbx fktrcfylhjdf fktrcfylhjdyf flvbybcnhfnjh frederiksberg fynfyfyfhbde gfhjkmgfhjkm
  ghbdtnghbdtn ghbdtnrfrltkf ghhh47hj7649 ghjcnjgbpltw ghjcnjgfhjkm ghjcnjghjcnj ghjcnjqgfhjkm ghjcnjrdfibyj
  ghjnbdjcnjzybt gjkysqgbpltw greenlantern gtnhjpfdjlcr hd764nw5d7e1vb1 hedimaptfcor iampurehaha2
  ilovemyfamily ingodwetrust installdevic installsqlst iseedeadpeople jamesbond007 justinbieber leavemealone
  lhbjkjubz2957704 lost4815162342 lytghjgtnhjdcr mailcreated5240 maprchem56458 massimiliano masterbaiting
  masterbating maurolarastefy mevefalkcakk michaeljackson minecraft123 minnesota_hp morganstanley
  mortalkombat msorcloledbr needforspeed nemvxyheqdd5oqxyxyzi networkingpe newproject2004 nhecsyfujkjdt
  nhfdvfnjkju123 nhfycajhvths nightcrawler nondriversig olcrackmaster ontheoutside p030710p$e4o
  paraklast1974 password1234 passwordstandard peanutbutter playstation2 playstation3 polniypizdec0211
  polniypizdec110211 ptybnxtvgbjy punksnotdead q1w2e3r4t5y6 q1w2e3r4t5y6u7 q1w2e3r4t5y6u7i8
  q1w2e3r4t5y6u7i8o9p0 qawsedrftgyh qaz123wsx456 qazwsxedc123 qazwsxedcrfv qazwsxedcrfvtgb qazxswedc123
  qazxswedcvfr qwaszxerdfcv qweasdzxc123 qwerasdfzxcv qwertasdfgzxcvb qwerty123456 qwerty123456789
  qwertyasdfgh qwertyuiop10 qwertyuiop12 qwertyuiop123 qwertyuiop12345 qwertyytrewq residentevil
  rfnthbyf1988 sanfrancisco saun24865709 schoolgirlie seemnemaailm sojdlg123aljg sonnenschein sonyericsson
  specialinsta stickdaddy77 stinkyfinger stratocaster systemofadown temppassword thecakeisalie ticketmaster
  vanyarespekt vfhbyfvfhbyf vfrcbvvfrcbv vfvfvskfhfve vladimirovna warhammer40k wazzkaprivet websolutions
  websolutionssu webuivalidat weihnachtsbau weihnachtsbaum whosyourdaddy xxxp455w0rd5 z1x2c3v4b5n6m7
  zaq1xsw2cde3 zaqwsxcderfv zcfvfzkexifz zqjphsyf6ctifgu zxcasdqwe123 zxcvbn123456 zxcvbnm123456789
`;

const words = `
  access adidas airborne alexis america andrey angel angels animal apollo apple apples arsenal asdasd
  asdfasdf asdfgh asdfghjk asdfghjkl asshole austin azerty babygirl badboy banana bandit barney baseball
  batman beatles beaver beavis bigboy bigdaddy bigdog biteme blazer booger boomer boston brandy braves
  broncos brooklyn bubba bubbles buddy bulldog buster butter butthead camaro cameron canada captain carolina
  cartman casper cassie celtic charlie cheese chelsea chester chicago chicken christin cocacola coffee
  compaq computer cookie copper corvette cowboy cowboys creative cricket dakota dallas darkness destiny
  dexter diablo diamond digital doctor dolphin dolphins donkey dragon driver eagles eclipse elephant eminem
  enter explorer falcon fender ferrari fishing florida flower fluffy football forever freddy freedom gandalf
  garfield gateway gators gemini gfhjkm ghbdtn giants ginger girls godzilla golden golfer guinness guitar
  gunner hammer hannah hardcore harley heaven hello helpme hockey hooters hotdog hunter iceman iloveyou
  internet iwantu jaguar jasmine jasper jordan junior killer kitten klaster lakers lasvegas legend letmein
  lifehack liverpoo liverpool london loveme lover lovers lucky maddog madison maggie magic marina marine
  marlboro master matrix maverick maxwell mercedes merlin metallic michigan mickey midnight money monkey
  monster mother mountain muffin mustang nascar natasha newyork nikita nintendo nirvana nissan oliver online
  orange packers pakistan panther panties password peaches peanut pepper phantom phoenix platinum player
  pokemon police pookie porsche prince princess private pumpkin purple qazwsx qazwsxedc qazxsw qwaszx qweqwe
  qwert qwerty qwertyui qwertyuiop rabbit raiders rainbow ranger rangers redskins redsox redwings rocket
  rosebud runner samantha samson samsung saturn scooby scooter scorpio scorpion secret sergey shadow shelby
  sierra silver skippy slayer slipknot smokey sniper snoopy snowball soccer sophie spanky sparky spider
  startrek starwars steelers stupid success summer sunshine superman sydney tennis testing theman therock
  thunder tiger tigers tigger tomcat topgun toyota trinity trouble turtle viking voodoo voyager warrior
  welcome whatever willow winner winston winter wizard xavier yamaha yankees yellow zxcvbn zxcvbnm
`;

function setOf(text: string): ReadonlySet<string> {
  return new Set(text.trim().split(/\s+/));
}

const LONG = setOf(long);
const WORDS = setOf(words);

/**
 * Whether `password` (lower case) is a common password, a common word with digits or marks around it, or a repetition.
 */
export function isCommon(password: string): boolean {
  if (LONG.has(password)) return true;
  // abcabcabcabc, 111111111111
  const unit = /^(.{1,11}?)\1+$/su.exec(password)?.[1];
  if (unit !== undefined && (unit.length <= 4 || WORDS.has(unit))) return true;
  return WORDS.has(password.replace(/^[^a-z]+|[^a-z]+$/g, ''));
}
