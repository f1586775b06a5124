// A kind of part and a kind of event that the canonical form has and no format has heard of: this file must not compile
// together with them (`../forgotten.test.ts`). It is no part of any other check.
import type { TextPart } from '../../../core/inference/canonical/parts.ts';
import '../../../core/inference/formats/index.ts';

interface HologramPart extends Pick<TextPart, 'cache' | 'ext'> {
  type: 'hologram';
  depth: number;
}

declare module '../../../core/inference/canonical/parts.ts' {
  interface Parts {
    hologram: HologramPart;
  }
}

declare module '../../../core/inference/canonical/answer.ts' {
  interface Events {
    pulse: { type: 'pulse'; beat: number };
  }
}
