// The shape of a providers file; also the shape of the committed catalog.yaml.
import { type Static, Type } from 'typebox';
import { cancelBillings, rateKinds } from './kinds.ts';
import { presetNames } from './presets/names.ts';

/** A string out of a list; faults name the list, which they do not for a union of literals. */
function oneOf<const T extends string>(...values: T[]) {
  return Type.Unsafe<T>({ type: 'string', enum: values });
}

const closed = { additionalProperties: false } as const;
const decimal = Type.String({ pattern: '^\\d{1,9}(\\.\\d{1,6})?$' });
const slug = Type.String({ pattern: '^[a-z0-9-]{1,63}$' });
const date = Type.String({ pattern: '^\\d{4}-\\d{2}-\\d{2}$' });
const variable = Type.String({ pattern: '^[A-Z][A-Z0-9_]{0,127}$' });
const words = Type.Array(Type.String({ minLength: 1, maxLength: 128 }), { maxItems: 100 });
const tokens = Type.Integer({ minimum: 1, maximum: 100_000_000 });

function oneOrMany(item: typeof variable) {
  return Type.Union([item, Type.Array(item, { minItems: 1, maxItems: 64 })]);
}

const price = Type.Object(
  {
    ...Object.fromEntries(rateKinds.map((kind) => [kind, Type.Optional(decimal)])),
    input: decimal,
    output: decimal,
  },
  closed,
);
const bands = Type.Array(Type.Object({ from_prompt_tokens: tokens, price }, closed), { maxItems: 8 });

const tiers = Type.Record(
  Type.String({ pattern: '^[a-z][a-z0-9_]{0,31}$' }),
  Type.Object({ price, bands: Type.Optional(bands) }, closed),
);
/** Prices in place of the present ones from a day on; tiers that it does not name stay as they are. */
const scheduled = Type.Array(
  Type.Object({ from: date, price, bands: Type.Optional(bands), tiers: Type.Optional(tiers) }, closed),
  { maxItems: 8 },
);

const capabilities = Type.Partial(
  Type.Object({
    tools: Type.Boolean(),
    parallel_tools: Type.Boolean(),
    json_schema: Type.Boolean(),
    vision: Type.Boolean(),
    audio: Type.Boolean(),
    pdf: Type.Boolean(),
    reasoning: Type.Boolean(),
    cache: Type.Boolean(),
    prefill: Type.Boolean(),
    parameters: words,
    betas: words,
    server_tools: words,
  }),
  closed,
);

const provider = Type.Object(
  {
    id: slug,
    /** Fills in what is not said here; without one `name`, `kind` and `base_url` are required (presets.ts). */
    preset: Type.Optional(oneOf(...presetNames)),
    name: Type.Optional(Type.String({ minLength: 1, maxLength: 128 })),
    /** The formats say which kinds and families there are (`readFile`). */
    kind: Type.Optional(Type.String()),
    base_url: Type.Optional(Type.String({ maxLength: 512 })),
    flags: Type.Optional(words),
    /** Members of its answers that no caller gets. */
    hide: Type.Optional(words),
    cancel_billing: Type.Optional(oneOf(...cancelBillings)),
    api_key_env: Type.Optional(oneOrMany(variable)),
    api_key_file: Type.Optional(oneOrMany(Type.String({ minLength: 1, maxLength: 1024 }))),
    regions: Type.Optional(words),
    data_policy: Type.Optional(
      Type.Object(
        {
          trains: Type.Boolean(),
          retention_days: Type.Union([Type.Integer({ minimum: 0, maximum: 36_500 }), Type.Null()]),
          zdr: Type.Boolean(),
        },
        closed,
      ),
    ),
    terms_url: Type.Optional(Type.String({ pattern: '^https?://', maxLength: 512 })),
    verified_at: Type.Optional(date),
    byok: Type.Optional(oneOf('no', 'capable', 'required')),
  },
  closed,
);

const endpoint = Type.Object(
  {
    provider: slug,
    upstream_model: Type.String({ minLength: 1, maxLength: 256 }),
    region: Type.Optional(slug),
    price,
    bands: Type.Optional(bands),
    tiers: Type.Optional(tiers),
    scheduled: Type.Optional(scheduled),
    family: Type.Optional(Type.String()),
    quantization: Type.Optional(slug),
    context_length: Type.Optional(tokens),
    max_output: Type.Optional(tokens),
    capabilities: Type.Optional(capabilities),
    cancel_billing: Type.Optional(oneOf(...cancelBillings)),
    flags: Type.Optional(words),
    hide: Type.Optional(words),
  },
  closed,
);

const modality = oneOf('text', 'image', 'audio', 'video');
/** `embedding` or `ranking` stands alone: such a model answers no conversation. */
const madeModality = oneOf('text', 'image', 'audio', 'video', 'embedding', 'ranking');
const model = Type.Object(
  {
    id: Type.String({ pattern: '^[a-z0-9-]{1,63}/[a-zA-Z0-9][a-zA-Z0-9._:-]{0,127}$' }),
    name: Type.Optional(Type.String({ minLength: 1, maxLength: 128 })),
    context_length: Type.Optional(tokens),
    max_output: Type.Optional(tokens),
    modalities: Type.Optional(
      Type.Object({ in: Type.Array(modality), out: Type.Array(madeModality) }, closed),
    ),
    capabilities: Type.Optional(capabilities),
    reasoning: Type.Optional(
      Type.Object(
        {
          controls: Type.Optional(Type.Array(oneOf('effort', 'budget', 'adaptive', 'off'))),
          hidden: Type.Optional(Type.Boolean()),
          format: Type.Optional(
            oneOf('anthropic-claude-v1', 'openai-responses-v1', 'google-gemini-v1', 'unknown'),
          ),
        },
        closed,
      ),
    ),
    released_at: Type.Optional(date),
    deprecated_at: Type.Optional(date),
    retires_at: Type.Optional(date),
    markup_bps: Type.Optional(Type.Integer({ minimum: 0, maximum: 100_000 })),
    tokenizer: Type.Optional(Type.String({ minLength: 1, maxLength: 64 })),
    endpoints: Type.Optional(Type.Array(endpoint, { maxItems: 100 })),
  },
  closed,
);

/** A providers file. Whether its parts fit together is the merge's to say. */
export const ProvidersFile = Type.Object(
  {
    version: Type.Unsafe<1>({ const: 1 }),
    providers: Type.Optional(Type.Array(provider, { maxItems: 1_000 })),
    models: Type.Optional(Type.Array(model, { maxItems: 10_000 })),
  },
  closed,
);
export type ProvidersFile = Static<typeof ProvidersFile>;
export type FileProvider = Static<typeof provider>;
export type FileModel = Static<typeof model>;
export type FileEndpoint = Static<typeof endpoint>;
export type FileCapabilities = Static<typeof capabilities>;
export type FilePrice = { [K in (typeof rateKinds)[number]]?: string } & { input: string; output: string };
