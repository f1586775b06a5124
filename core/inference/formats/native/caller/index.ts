// The native dialect: the canonical form as a wire format of its own, strict and versioned.

import { readingBy } from '../../../../kernel/index.ts';
import { chatError } from '../../../caller/error.ts';
import { openaiAnswers } from '../../../caller/openai.ts';
import type { Headers } from '../../../caller/svc.ts';
import type { Dialect } from '../../../canonical/contract.ts';
import { COVERAGE } from './coverage.ts';
import { nativeParam, UNKNOWN } from './params.ts';
import { nativeWarnings } from './pieces.ts';
import { readNative } from './read.ts';
import { nativeTraits } from './traits.ts';
import type { Wires } from './wires.ts';
import { writeNative } from './write.ts';
import { NativeWriter } from './writer.ts';

export { nativeWarnings };

/** POST /v1/svc/generate; callers may refer to files, blocks and tools of the formats in `wires`. */
export const nativeOf = (wires: Wires): Dialect => ({
  name: 'native',
  coverage: COVERAGE,
  ...readingBy((value: unknown, headers: Headers) => readNative(value, headers, wires)),
  write: writeNative,
  writer: (meta) => new NativeWriter(meta),
  ...openaiAnswers,
  ...nativeTraits,
  error(error, place) {
    const envelope = chatError(error, place);
    const reported = envelope['error'] as { param: string | null };
    const own = error.details['reason'] === UNKNOWN.reason;
    if (reported.param !== null && !own) reported.param = nativeParam(reported.param);
    return envelope;
  },
});
