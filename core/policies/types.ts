// The one source of the policy language (docs/policies.md): types, JSON schema, the custom resource's structural
// schema and the check of a stored policy all derive from what stands here. Nothing of Node and nothing else of ours
// is imported, so that clients can use it too.
import { type Static, type TProperties, type TSchema, Type } from 'typebox';

const closed = { additionalProperties: false } as const;

/** One of `values`. */
function choice<const T extends readonly string[]>(values: T) {
  return Type.Unsafe<T[number]>(Type.String({ enum: [...values] }));
}
/** A list with at least one item: an empty one would mean "nothing" where "anything" was meant. */
function list<T extends TSchema>(item: T, maxItems = 100) {
  return Type.Array(item, { minItems: 1, maxItems });
}
function optional<T extends TProperties>(members: T) {
  return Type.Object(members, closed);
}
const opt = Type.Optional;
function count(minimum: number, maximum: number) {
  return Type.Integer({ minimum, maximum });
}

const TOKENS_MAX = 100_000_000;
const MICRO_MAX = 1_000_000_000_000;

export const policyName = '^[a-z0-9][a-z0-9-]{0,62}$';
const Line = (max: number, description: string) =>
  Type.String({ minLength: 1, maxLength: max, pattern: '^[^\\x00-\\x1f\\x7f]*$', description });
const Text = (maxLength: number, minLength: number) =>
  Type.String({
    ...{ minLength, maxLength, pattern: '^[^\\x00-\\x08\\x0b-\\x1f\\x7f]*$' },
    description: 'text without control characters',
  });
const Slug = Line(64, 'a name');
const Glob = Line(128, 'a name or a glob: * within a segment, ** over segments');
const ModelId = Line(128, 'a model id, vendor/model');
const EndpointId = Line(64, 'an endpoint id, ep_…');
const EndpointName = Line(64, 'a provider or endpoint id');

const policySorts = ['price', 'latency', 'throughput', 'uptime', 'balanced'] as const;
const Sort = choice(policySorts);

/** Capabilities that a policy can require by name. */
const capabilities = [
  'tools',
  'parallel_tools',
  'json_schema',
  'vision',
  'audio',
  'pdf',
  'reasoning',
  'cache',
  'prefill',
  'zdr',
  'no_train',
] as const;

/** Keys of an action set, in the order of the document. */
export const actionKeys = [
  'sort',
  'weights',
  'providers',
  'endpoints',
  'require',
  'prefer',
  'fallbacks',
  'fallback_models',
  'failover',
  'max_attempts',
  'affinity',
  'affinity_ttl_s',
  'timeouts',
  'hedge',
  'byok',
  'canary',
  'shadow',
  'experiment',
  'limits',
  'defaults_for',
  'lock',
] as const;
export type ActionKey = (typeof actionKeys)[number];

/** Keys of the grammar that this release refuses by name. */
export const reservedKeys: ReadonlySet<string> = new Set(['hedge', 'defaults_for', 'users']);
/** What happens to a canary that is worse: the first unless its policy says otherwise. */
export const canaryBreaches = ['rollback', 'alert'] as const;

/** Who pays for shadows: the first unless their policy says otherwise. */
export const shadowBills = ['org', 'platform'] as const;

const Weight = Type.Number({ minimum: 0, maximum: 1 });
const Price = Type.Number({ minimum: 0, maximum: 1_000_000 });
const Share = Type.Number({ minimum: 0, maximum: 1 });

const lists = (item: TSchema) => {
  const names = item as typeof EndpointName;
  return optional({
    order: opt(Type.Array(names, { maxItems: 100 })),
    only: opt(list(names)),
    ignore: opt(Type.Array(names, { maxItems: 100 })),
  });
};

const actions = {
  sort: opt(Sort),
  weights: opt(
    optional({ price: opt(Weight), latency: opt(Weight), throughput: opt(Weight), uptime: opt(Weight) }),
  ),
  providers: opt(lists(EndpointName)),
  endpoints: opt(lists(EndpointId)),
  require: opt(
    optional({
      zdr: opt(Type.Boolean()),
      no_train: opt(Type.Boolean()),
      regions: opt(list(Slug)),
      max_retention_days: opt(count(0, 36_500)),
      quantizations: opt(list(Slug)),
      capabilities: opt(Type.Array(choice(capabilities), { maxItems: 20 })),
      parameters: opt(Type.Boolean()),
      min_uptime: opt(Share),
      max_price: opt(
        Type.Object(
          { input: opt(Price), output: opt(Price), request: opt(Price) },
          { ...closed, description: 'USD per million tokens; request: USD per call' },
        ),
      ),
    }),
  ),
  prefer: opt(
    optional({
      max_latency_ms: opt(count(1, 600_000)),
      min_throughput_tps: opt(Type.Number({ minimum: 0, maximum: 1_000_000 })),
    }),
  ),
  fallbacks: opt(Type.Boolean()),
  fallback_models: opt(Type.Array(ModelId, { maxItems: 5 })),
  failover: opt(
    Type.Object(
      {
        on: list(
          Type.String({
            pattern:
              '^(?:content_filtered|context_length|-(?:rate_limit|overloaded|server|timeout|network|protocol|auth|quota|model_missing|too_large))$',
            description: 'content_filtered, context_length, or a class of faults after a minus, -rate_limit',
          }),
          20,
        ),
      },
      closed,
    ),
  ),
  max_attempts: opt(count(1, 6)),
  affinity: opt(choice(['off', 'key', 'user', 'session', 'prefix'])),
  affinity_ttl_s: opt(count(1, 86_400)),
  timeouts: opt(
    optional({
      connect_ms: opt(count(1_000, 60_000)),
      first_event_ms: opt(count(5_000, 600_000)),
      idle_ms: opt(count(10_000, 600_000)),
      total_ms: opt(count(10_000, 600_000)),
    }),
  ),
  hedge: opt(
    Type.Object(
      { after_ms: count(200, 600_000), max: opt(count(1, 1)) },
      { ...closed, description: 'Reserved: refused by this release' },
    ),
  ),
  byok: opt(choice(['prefer', 'only', 'never'])),
  canary: opt(
    Type.Object(
      {
        endpoint: EndpointId,
        percent: Type.Number({ minimum: 0.1, maximum: 50 }),
        max_error_rate: opt(Share),
        min_samples: opt(count(20, 1_000_000)),
        window_s: opt(count(60, 86_400)),
        on_breach: opt(choice(canaryBreaches)),
        alpha: opt(Type.Number({ minimum: 0.000_001, maximum: 0.5 })),
        min_effect: opt(Share),
      },
      closed,
    ),
  ),
  shadow: opt(
    Type.Object(
      {
        endpoint: EndpointId,
        percent: Type.Number({ minimum: 0, maximum: 100 }),
        bill: opt(choice(shadowBills)),
        max_per_day: opt(count(0, 1_000_000)),
      },
      closed,
    ),
  ),
  experiment: opt(
    Type.Object(
      {
        name: Slug,
        arms: list(
          Type.Object(
            {
              name: choice(['control', 'candidate']),
              percent: Type.Number({ minimum: 0, maximum: 100 }),
              providers: opt(lists(EndpointName)),
              endpoints: opt(lists(EndpointId)),
              model: opt(ModelId),
            },
            closed,
          ),
          2,
        ),
        stick: opt(choice(['key', 'user', 'session'])),
      },
      closed,
    ),
  ),
  limits: opt(
    optional({
      max_tokens: opt(count(1, TOKENS_MAX)),
      max_input_tokens: opt(count(1, TOKENS_MAX)),
      max_cost_micro: opt(count(1, MICRO_MAX)),
    }),
  ),
  defaults_for: opt(
    Type.Object(
      {
        temperature: opt(Type.Number({ minimum: 0, maximum: 2 })),
        max_tokens: opt(count(1, TOKENS_MAX)),
        reasoning_effort: opt(choice(['minimal', 'low', 'medium', 'high'])),
      },
      { ...closed, description: 'Reserved: refused by this release' },
    ),
  ),
  lock: opt(Type.Array(choice(actionKeys), { maxItems: actionKeys.length })),
};

export const Actions = Type.Object(actions, closed);
export type Actions = Static<typeof Actions>;

const range = (max: number) => optional({ min: opt(count(0, max)), max: opt(count(0, max)) });
const modalities = choice(['text', 'image', 'audio', 'video', 'embedding', 'ranking']);
/** What a rule can match by, in this order in the document. A dialect that is not here does not compile where it is matched. */
export const policyDialects = [
  'chat',
  'messages',
  'responses',
  'completions',
  'embeddings',
  'rerank',
  'native',
] as const;
export type PolicyDialect = (typeof policyDialects)[number];
const dialects = choice(policyDialects);
const ProjectId = Type.String({
  pattern: '^prj_[0-9A-HJKMNP-TV-Z]{26}$',
  description: 'a project id, prj_…',
});
const KeyId = Type.String({ pattern: '^key_[0-9A-HJKMNP-TV-Z]{26}$', description: 'a key id, key_…' });
const TimeOfDay = Type.String({ pattern: '^(?:[01]\\d|2[0-3]):[0-5]\\d$', description: 'a time, "09:00"' });

const flat = {
  model: opt(Glob),
  models: opt(list(Glob)),
  vendor: opt(Slug),
  vendors: opt(list(Slug)),
  project_id: opt(ProjectId),
  projects: opt(list(ProjectId)),
  key_id: opt(KeyId),
  keys: opt(list(KeyId)),
  environments: opt(list(choice(['live', 'test']))),
  dialect: opt(dialects),
  dialects: opt(list(dialects)),
  modalities_in: opt(list(modalities)),
  modalities_out: opt(list(modalities)),
  stream: opt(Type.Boolean()),
  has: opt(list(choice(['tools', 'json_schema', 'images', 'reasoning', 'cache', 'byok']))),
  input_tokens: opt(range(TOKENS_MAX)),
  max_tokens: opt(range(TOKENS_MAX)),
  metadata: opt(
    Type.Unsafe<{ [key: string]: string[] }>({
      type: 'object',
      additionalProperties: list(Glob, 20),
      maxProperties: 16,
    }),
  ),
  apps: opt(list(Slug)),
  users: opt(
    Type.Object(
      { hash_mod: Type.Array(count(0, 10_000), { minItems: 2, maxItems: 2 }) },
      { ...closed, description: 'Reserved: refused by this release' },
    ),
  ),
  time: opt(
    Type.Object(
      {
        tz: Line(64, 'a time zone, Asia/Kolkata'),
        days: opt(list(choice(['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun']))),
        from: opt(TimeOfDay),
        to: opt(TimeOfDay),
      },
      closed,
    ),
  ),
};
const MatchFlat = Type.Object(flat, closed);
export type MatchFlat = Static<typeof MatchFlat>;
export const Match = Type.Object({ ...flat, not: opt(MatchFlat) }, closed);
export type Match = Static<typeof Match>;

export const Rule = Type.Object(
  {
    name: opt(Line(63, 'a rule name')),
    match: Match,
    continue: opt(Type.Boolean()),
    deny: opt(Type.Object({ message: opt(Text(300, 1)) }, closed)),
    ...actions,
  },
  {
    ...closed,
    not: {
      allOf: [{ required: ['deny'] }, { anyOf: actionKeys.map((key) => ({ required: [key] })) }],
    },
  },
);
export type Rule = Static<typeof Rule>;

export const PolicyDocument = Type.Object(
  {
    version: opt(Type.Unsafe<1>(Type.Integer({ enum: [1] }))),
    policy: opt(Type.String({ pattern: policyName, description: 'a name of a-z, 0-9 and -' })),
    description: opt(Text(500, 0)),
    sort: opt(Sort),
    defaults: opt(Actions),
    rules: opt(Type.Array(Rule, { maxItems: 100 })),
  },
  closed,
);
/** A policy as structure: what its text says, checked. */
export type PolicyDocument = Static<typeof PolicyDocument>;
