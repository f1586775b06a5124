// The sandbox: answers made in this process.

import type { Format } from '../format.ts';
import { sandboxAdapter } from './upstream/index.ts';
import { sandboxKind } from './upstream/kind.ts';

declare module '../../canonical/names.ts' {
  interface Families {
    readonly sandbox: true;
  }
}

/** The whole format. */
export const sandboxFormat: Format = {
  callers: null,
  upstream: sandboxAdapter,
  kinds: [sandboxKind],
  raw: null,
};
