// What caller formats share in the OpenAPI document: how the shapes of a route are described, our own options
// (`svc`), and what every answer ends with.
import { type TSchema, Type } from 'typebox';
import { type JsonObject, named, nullable, oneOf } from '../../kernel/index.ts';
import { RUN_LENGTH_MAX } from '../../ledger/index.ts';
import { type ParameterName, parameters } from '../canonical/parameters.ts';
import {
  AFFINITIES,
  APP_LENGTH_MAX,
  ATTEMPTS_MAX,
  BYOK,
  COMPATS,
  DATA_POLICIES,
  FALLBACK_MODELS_MAX,
  METADATA_LIMITS,
  REASONING,
  SESSION_LENGTH_MAX,
  SORTS,
} from './svc.ts';

/** The request and answers of a model route. The shapes have names, so that generated types have names too. */
export interface CallShape {
  readonly body: TSchema;
  readonly answer: TSchema;
  /** One event of the stream; absent when nothing is streamed. */
  readonly event?: TSchema;
  readonly examples: {
    readonly request: Readonly<Record<string, JsonObject>>;
    readonly answer: JsonObject;
    /** Examples by name, in the order in which a stream has them. */
    readonly events?: Readonly<Record<string, JsonObject>>;
  };
}

/** A member that may be absent or null, because clients write unset fields as null. */
export function may<T extends TSchema>(schema: T, description?: string) {
  return Type.Optional(Type.Union([schema, Type.Null()], description === undefined ? {} : { description }));
}

/** A generation parameter as its table declares it. */
export function parameter(name: ParameterName) {
  const { schema, description, example } = parameters[name];
  return Type.Optional(
    Type.Union([Type.Unsafe(schema as object), Type.Null()], { description, examples: [example] }),
  );
}

/** Text of any length. */
export const text = (description?: string) => Type.String(description === undefined ? {} : { description });
/** How many of something. */
export const count = (description?: string) =>
  Type.Integer(description === undefined ? { minimum: 0 } : { minimum: 0, description });
/** True or false. */
export const flag = () => Type.Boolean();
/** A list of texts. */
export const texts = (limits: { maxItems?: number } = {}) => Type.Array(Type.String(), limits);
/** An object whose members are not described here: a JSON schema, options of a provider. */
export const anyObject = (description: string) => Type.Record(Type.String(), Type.Unknown(), { description });

export const model = Type.String({
  description: 'The model as `vendor/model`; GET /v1/models lists them.',
  examples: ['openai/gpt-4o-mini'],
});
export const stream = may(flag(), 'Whether the answer is sent as server-sent events while it is produced.');

const Names = (what: string) =>
  named(
    `${what}Preferences`,
    Type.Object(
      {
        order: may(texts(), 'Providers to try in this order, before all others.'),
        only: may(texts(), 'Only these providers are tried.'),
        ignore: may(texts(), 'Never tried.'),
      },
      { additionalProperties: false },
    ),
  );
const micros = may(Type.Number({ minimum: 0 }));
const days = Type.Integer({ minimum: 0 });
const ms = may(Type.Integer({ minimum: 0 }));

const Requirements = named(
  'RouteRequirements',
  Type.Object(
    {
      zdr: may(flag(), 'Only endpoints with zero data retention.'),
      no_train: may(flag(), 'Only endpoints that do not train on requests.'),
      regions: may(texts(), 'Only these regions; `eu` includes `eu-west`.'),
      max_retention_days: may(days, 'Only endpoints that keep requests no longer than this.'),
      max_price: may(
        Type.Object({ input: micros, output: micros, request: micros }, { additionalProperties: false }),
        'Maximum price of an endpoint, in USD per million tokens and per request.',
      ),
      quantizations: may(texts(), 'Only endpoints with weights of these precisions.'),
      capabilities: may(texts(), 'Only endpoints with these capabilities.'),
      parameters: may(flag(), 'Only endpoints that support every parameter of the request.'),
    },
    { additionalProperties: false },
  ),
);

export const Route = named(
  'RouteOptions',
  Type.Object(
    {
      sort: may(oneOf(SORTS, 'RouteSort'), 'By what endpoints are ranked.'),
      fallbacks: may(flag(), 'Whether another endpoint may be tried when one fails.'),
      fallback_models: may(texts({ maxItems: FALLBACK_MODELS_MAX }), 'Models to try next, in this order.'),
      providers: may(Names('Provider')),
      endpoints: may(Names('Endpoint')),
      require: may(Requirements),
      data_policy: may(oneOf(DATA_POLICIES, 'DataPolicyWord'), 'Shorthand for the requirement of that name.'),
      affinity: may(
        oneOf(AFFINITIES, 'RouteAffinity'),
        'Which calls go to the same endpoint, to use its cache.',
      ),
      byok: may(oneOf(BYOK, 'ByokUse'), 'Whether your own provider keys are used.'),
      max_attempts: may(Type.Integer({ minimum: 1, maximum: ATTEMPTS_MAX })),
      timeouts: may(
        Type.Object(
          { connect_ms: ms, first_event_ms: ms, idle_ms: ms, total_ms: ms },
          { additionalProperties: false },
        ),
      ),
    },
    { additionalProperties: false, description: 'Where the call may go.' },
  ),
);

export const Metadata = named(
  'Metadata',
  Type.Record(Type.String(), nullable(Type.String({ maxLength: METADATA_LIMITS.max_value })), {
    maxProperties: METADATA_LIMITS.max_keys,
    description: `Tags of the call in logs and usage; a key has at most ${METADATA_LIMITS.max_key} characters.`,
  }),
);

const RunBudget = named(
  'RunBudget',
  Type.Object(
    {
      id: Type.String({
        minLength: 1,
        maxLength: RUN_LENGTH_MAX,
        pattern: '\\S',
        description: 'Names the run within its project.',
      }),
      max_micro: Type.Integer({
        minimum: 0,
        maximum: Number.MAX_SAFE_INTEGER,
        description: 'What all its calls may cost together, in micro-USD.',
      }),
    },
    { additionalProperties: false, description: 'The budget of a run of several calls.' },
  ),
);

/** The members of `svc`, which are at the top level of native bodies. */
export const optionMembers = {
  route: may(Route),
  metadata: may(Metadata),
  compat: may(
    oneOf(COMPATS, 'Compat'),
    'What happens when an endpoint does not support a field: refuse, warn, or drop it silently.',
  ),
  provider_options: may(
    Type.Record(Type.String(), anyObject('Members of the provider’s own request body.')),
    'By provider: members that are merged last into the body sent to it.',
  ),
  app: may(Type.String({ maxLength: APP_LENGTH_MAX }), 'The calling program, as shown in logs and usage.'),
  session: may(
    Type.String({ maxLength: SESSION_LENGTH_MAX }),
    'Id that the calls of one conversation share.',
  ),
  budget: may(RunBudget),
};

const Svc = named(
  'SvcOptions',
  Type.Object(
    {
      ...optionMembers,
      data_policy: may(oneOf(DATA_POLICIES, 'DataPolicyWord'), 'Shorthand for `route.data_policy`.'),
      reasoning: may(oneOf(REASONING, 'ReasoningShown'), 'Whether the answer shows reasoning.'),
    },
    {
      additionalProperties: false,
      description: 'Options of this gateway: routing, tags, and what happens to unsupported fields.',
    },
  ),
);
export const svc = may(Svc);

export const Warning = named(
  'CallWarning',
  Type.Object({
    code: text(),
    param: Type.Optional(text('The field of the request.')),
    message: Type.Optional(text()),
    count: Type.Optional(count('With `code` `more`: how many warnings are not shown.')),
  }),
);
/** Audio as the formats of OpenAI send it. */
export const AudioData = named(
  'AudioData',
  Type.Object({ data: text('base64'), format: text('wav, mp3, …') }),
);
export const CallCost = named(
  'CallCost',
  Type.Object({
    total_micro_usd: count('What the call cost, in millionths of a US dollar.'),
    lines: Type.Array(
      named(
        'CallCostLine',
        Type.Object({ kind: text(), units: count(), unit_price_nano: count(), micro_usd: count() }),
      ),
    ),
    price_version: text(),
    estimated: Type.Optional(flag()),
    written_off_micro_usd: Type.Optional(count('Above the cap of the call, and not charged.')),
  }),
);
export const SvcReply = named(
  'SvcReply',
  Type.Object(
    {
      request_id: text(),
      provider: text(),
      endpoint_id: text(),
      cost: nullable(CallCost),
      warnings: Type.Array(Warning),
      error: Type.Optional(
        Type.Object({
          code: text(),
          message: text(),
          details: anyObject('Details that belong to the code.'),
        }),
      ),
    },
    { description: 'Which endpoint answered, what it cost, and what the request lost.' },
  ),
);

const REQUEST_ID = '01KACZ3V8S6T5R4Q3P2N1M0K9J';
const PRICE = 'pv_01KACZ3V8S6T5R4Q3P2N1M0K9J';

export const costExample = {
  total_micro_usd: 9,
  lines: [
    { kind: 'input', units: 24, unit_price_nano: 150, micro_usd: 4 },
    { kind: 'output', units: 8, unit_price_nano: 600, micro_usd: 5 },
  ],
  price_version: PRICE,
};
export const svcExample = {
  request_id: REQUEST_ID,
  provider: 'openai',
  endpoint_id: 'ep_01KACZ3V8S6T5R4Q3P2N1M0K9J',
  cost: costExample,
  warnings: [],
};
/** The example of a tool that all formats show. */
export const weatherSchema = {
  type: 'object',
  properties: { city: { type: 'string' } },
  required: ['city'],
  additionalProperties: false,
};
export const exampleIds = { request_id: REQUEST_ID, created: 1_795_255_200, call_id: 'call_1' };
