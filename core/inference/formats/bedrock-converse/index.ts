// Amazon Bedrock's Converse API.

import type { Format } from '../format.ts';
import { bedrockConverse } from './upstream/index.ts';
import { bedrockKind } from './upstream/kind.ts';

declare module '../../canonical/names.ts' {
  interface Families {
    readonly bedrock_converse: true;
  }
}

/** The whole format. */
export const bedrockFormat: Format = {
  callers: null,
  upstream: bedrockConverse,
  kinds: [bedrockKind],
  raw: null,
};
