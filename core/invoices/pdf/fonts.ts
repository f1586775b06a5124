// The fonts of documents. Inter is the console's own; names in letters that it lacks are set in DejaVu Sans, and a
// character that neither has is shown as U+FFFD, because PDF/A forbids the empty box.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { create } from 'fontkit';

const { resolve } = createRequire(import.meta.url);

export type Weight = 'regular' | 'bold';

interface Face {
  readonly name: string;
  readonly bytes: Buffer;
  has(code_point: number): boolean;
}

function open(name: string, path: string): Face {
  const bytes = readFileSync(resolve(path));
  const font = create(bytes);
  if (!('hasGlyphForCodePoint' in font)) throw new Error(`${path} is a collection of fonts`);
  return { name, bytes, has: (code_point) => font.hasGlyphForCodePoint(code_point) };
}

/** Both weights of both fonts, read once per thread. */
export const faces: Readonly<Record<Weight, readonly [Face, Face]>> = {
  regular: [
    open('inter', '@expo-google-fonts/inter/400Regular/Inter_400Regular.ttf'),
    open('dejavu', 'dejavu-fonts-ttf/ttf/DejaVuSans.ttf'),
  ],
  bold: [
    open('inter-bold', '@expo-google-fonts/inter/600SemiBold/Inter_600SemiBold.ttf'),
    open('dejavu-bold', 'dejavu-fonts-ttf/ttf/DejaVuSans-Bold.ttf'),
  ],
};

const covers = (face: Face, text: string) => [...text].every((one) => face.has(one.codePointAt(0) as number));

/** The font that `text` is set in, and `text` without characters that no font here has. */
export function setIn(text: string, weight: Weight): { readonly font: string; readonly text: string } {
  const [inter, dejavu] = faces[weight];
  const line = text.normalize('NFC').replaceAll(/\p{Cc}+/gu, ' ');
  if (covers(inter, line)) return { font: inter.name, text: line };
  const shown = [...line].map((one) => (covers(dejavu, one) ? one : '\ufffd')).join('');
  return { font: dejavu.name, text: shown };
}
