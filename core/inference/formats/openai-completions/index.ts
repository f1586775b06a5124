// OpenAI's older text completions: the model completes a text.

import type { Format } from '../format.ts';
import { completions } from './caller/index.ts';
import { rawCompletions } from './raw/index.ts';

declare module '../../canonical/names.ts' {
  interface Dialects {
    readonly completions: true;
  }
}

/** The whole format. */
export const completionsFormat: Format = {
  callers: () => ({ routes: [{ path: '/v1/completions', dialect: completions }], questions: [], guests: [] }),
  upstream: null,
  kinds: [],
  raw: rawCompletions,
};
