// Trying a redaction policy out. Nothing of the sample is stored.
import { Type } from 'typebox';
import { named, oneOf, operation, orgCaller, ServiceError } from '../kernel/index.ts';
import { checkPatterns } from './custom.ts';
import { redactBody } from './pool.ts';
import { PATTERN_LENGTH_MAX, PATTERNS_MAX, presets } from './types.ts';

const SAMPLE_BYTES_MAX = 65_536;
const Presets = Type.Array(oneOf(presets, 'RedactionPreset'), {
  maxItems: presets.length,
  uniqueItems: true,
});
const Patterns = Type.Array(Type.String({ minLength: 1, maxLength: PATTERN_LENGTH_MAX }), {
  maxItems: PATTERNS_MAX,
  description: 'RE2 syntax',
});

export const RedactionPreviewView = named(
  'RedactionPreview',
  Type.Object({
    input: Type.String(),
    output: Type.String(),
    redactions: Type.Integer(),
    presets: Type.Array(oneOf(presets, 'RedactionPreset'), { description: 'all there are' }),
  }),
);

export const previewRedactionOperation = operation({
  name: 'policy.redact.preview',
  method: 'POST',
  path: '/v1/policy/redact/preview',
  summary: 'Show what redaction would make of a text; nothing is stored',
  audience: {
    kind: 'key',
    scopes: ['manage:policies'],
    session: ['owner', 'admin', 'developer', 'billing', 'viewer'],
  },
  input: Type.Object({
    presets: Presets,
    patterns: Type.Optional(Patterns),
    sample: Type.String({ maxLength: SAMPLE_BYTES_MAX, description: 'at most 64 KiB' }),
  }),
  output: RedactionPreviewView,
  errors: ['invalid_pattern', 'request_too_large', 'service_unavailable'],
  request: { presets: ['email', 'phone'], sample: 'Write to a@b.co or call +91 98765 43210' },
  example: {
    input: 'Write to a@b.co or call +91 98765 43210',
    output: 'Write to [REDACTED:email] or call [REDACTED:phone]',
    redactions: 2,
    presets: [...presets],
  },
  async run(context, { presets: chosen, patterns = [], sample }) {
    if (Buffer.byteLength(sample) > SAMPLE_BYTES_MAX) {
      throw new ServiceError('request_too_large', 'A sample has at most 64 KiB.', { param: 'sample' });
    }
    checkPatterns(patterns, 'patterns');
    const { org_id } = orgCaller(context);
    const body = Buffer.from(JSON.stringify([sample]));
    const redacted = await redactBody({ presets: chosen, patterns }, body, { org_id });
    const [output] = JSON.parse(redacted.body.toString()) as [string];
    return { input: sample, output, redactions: redacted.redactions, presets: [...presets] };
  },
});

export const redactionOperations = [previewRedactionOperation] as const;
