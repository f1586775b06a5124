// From the colour that a reseller chose to colours that people can read, whatever was chosen: hue and chroma stay, the
// lightness moves until the contrast is there (WCAG 2.2, 1.4.3: 4.5 to 1). Pure.
// @see https://bottosson.github.io/posts/oklab/ for the two matrices, https://www.w3.org/TR/WCAG22/#dfn-contrast-ratio

type Rgb = readonly [red: number, green: number, blue: number];

interface Theme {
  /** What the colour stands on as text, and the contrast it needs there. */
  readonly ground: string;
  readonly contrast: number;
  /** Cards, into which so much of the colour is mixed where something is selected; as text it stands on that too. */
  readonly surface: string;
  readonly soft: number;
  readonly step: number;
  /** Text on the colour itself. */
  readonly text: string;
}

/** Contrast of text on its ground that WCAG asks for at level AA. */
const AA = 4.5;
/** Grounds as in console/src/app/theme/tokens.css. */
const light: Theme = {
  ...{ ground: '#f7f7f9', contrast: 4.6, surface: '#ffffff', soft: 0.09 },
  ...{ step: -0.01, text: '#ffffff' },
};
const dark: Theme = {
  ...{ ground: '#14161a', contrast: 6, surface: '#14161a', soft: 0.14 },
  ...{ step: 0.01, text: '#0d0e11' },
};

interface AccentColors {
  readonly accent_light: string;
  readonly accent_dark: string;
}

function rgbOf(hex: string): Rgb {
  const n = Number.parseInt(hex.slice(1), 16);
  return [((n >> 16) & 255) / 255, ((n >> 8) & 255) / 255, (n & 255) / 255];
}

function hexOf(rgb: Rgb): string {
  const byte = (part: number) => Math.round(Math.min(1, Math.max(0, part)) * 255);
  return `#${rgb.map((part) => byte(part).toString(16).padStart(2, '0')).join('')}`;
}

const linear = (part: number) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4);
const encoded = (part: number) => (part <= 0.0031308 ? part * 12.92 : 1.055 * part ** (1 / 2.4) - 0.055);

function luminance(hex: string): number {
  const [r, g, b] = rgbOf(hex).map(linear) as unknown as Rgb;
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

/** The contrast of two colours `#rrggbb`, from 1 to 21. */
export function contrastOf(one: string, other: string): number {
  const [a, b] = [luminance(one), luminance(other)];
  return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
}

interface Lch {
  readonly l: number;
  readonly c: number;
  readonly h: number;
}

function lchOf(hex: string): Lch {
  const [r, g, b] = rgbOf(hex).map(linear) as unknown as Rgb;
  const l = Math.cbrt(0.4122214708 * r + 0.5363325363 * g + 0.0514459929 * b);
  const m = Math.cbrt(0.2119034982 * r + 0.6806995451 * g + 0.1073969566 * b);
  const s = Math.cbrt(0.0883024619 * r + 0.2817188376 * g + 0.6299787005 * b);
  const x = 1.9779984951 * l - 2.428592205 * m + 0.4505937099 * s;
  const y = 0.0259040371 * l + 0.7827717662 * m - 0.808675766 * s;
  return {
    l: 0.2104542553 * l + 0.793617785 * m - 0.0040720468 * s,
    c: Math.hypot(x, y),
    h: Math.atan2(y, x),
  };
}

function rgbOfLch({ l, c, h }: Lch): Rgb {
  const [x, y] = [c * Math.cos(h), c * Math.sin(h)];
  const long = (l + 0.3963377774 * x + 0.2158037573 * y) ** 3;
  const medium = (l - 0.1055613458 * x - 0.0638541728 * y) ** 3;
  const short = (l - 0.0894841775 * x - 1.291485548 * y) ** 3;
  return [
    encoded(4.0767416621 * long - 3.3077115913 * medium + 0.2309699292 * short),
    encoded(-1.2684380046 * long + 2.6097574011 * medium - 0.3413193965 * short),
    encoded(-0.0041960863 * long - 0.7034186147 * medium + 1.707614701 * short),
  ];
}

/** The colour as a screen shows it: chroma is taken away until it is one of sRGB. */
function shown(color: Lch): string {
  for (let c = color.c; c > 0; c -= 0.005) {
    const rgb = rgbOfLch({ ...color, c });
    if (rgb.every((part) => part >= -0.0001 && part <= 1.0001)) return hexOf(rgb);
  }
  return hexOf(rgbOfLch({ ...color, c: 0 }));
}

function mixed(color: string, into: string, part: number): string {
  const [one, other] = [rgbOf(color), rgbOf(into)];
  return hexOf(one.map((value, i) => value * part + (other[i] as number) * (1 - part)) as unknown as Rgb);
}

function isReadable(color: string, { ground, contrast, surface, soft, text }: Theme): boolean {
  return (
    contrastOf(color, ground) >= contrast &&
    contrastOf(color, mixed(color, surface, soft)) >= AA &&
    contrastOf(color, text) >= AA
  );
}

function accentOf(hex: string, theme: Theme): string {
  const chosen = lchOf(hex);
  let color = hex.toLowerCase();
  // Black and white are readable in one theme each, so that the way there ends.
  for (let l = chosen.l; !isReadable(color, theme) && l > -0.01 && l < 1.01; ) {
    l += theme.step;
    color = shown({ ...chosen, l: Math.min(1, Math.max(0, l)) });
  }
  return color;
}

/** Text on the accent colour of each theme. */
export const TEXT_LIGHT = light.text;
export const TEXT_DARK = dark.text;

/** The accent colours of both themes from `hex`, any colour `#rrggbb`. */
export function accentColors(hex: string): AccentColors {
  return { accent_light: accentOf(hex, light), accent_dark: accentOf(hex, dark) };
}
