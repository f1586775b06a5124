// Google's Gemini API.

import type { Format } from '../format.ts';
import { gemini } from './upstream/index.ts';
import { geminiKind } from './upstream/kind.ts';

declare module '../../canonical/names.ts' {
  interface Families {
    readonly gemini: true;
  }
}

/** The whole format. */
export const geminiFormat: Format = {
  callers: null,
  upstream: gemini,
  kinds: [geminiKind],
  raw: null,
};
