// Models of embeddings and rankings at every kind of provider, in addition to the models of the other tests.
import type { Json, Reply } from '../caller.ts';
import type { Handler, ScriptedUpstream } from '../upstream.ts';
import type { Extras, Org, World } from '../world.ts';

/** Micro-USD per token, and per search unit. */
export const TOKEN_MICRO = 1.25;
export const UNIT_MICRO = 2_000;
const COPIES = 20;

const all = { parameters: '[dimensions]', tokenizer: 'cl100k_base' };
/** Of a model that embeds images too, each token of which costs more. */
export const IMAGE_MICRO = 4.5;
const seeing = {
  parameters: '[dimensions]',
  in: 'text, image',
  price: `input: "${TOKEN_MICRO}", output: "0", image_input: "${IMAGE_MICRO}"`,
};
const kinds = {
  openai: { out: 'embedding', at: ['sim-a'], ...all },
  fixed: { out: 'embedding', at: ['sim-a'] },
  small: { out: 'embedding', at: ['sim-a'], context: 100 },
  cohere: { out: 'embedding', at: ['cohere'], ...all },
  'cohere-plain': { out: 'embedding', at: ['cohere'] },
  jina: { out: 'embedding', at: ['jina'], ...all },
  voyage: { out: 'embedding', at: ['voyage'], ...all },
  gemini: { out: 'embedding', at: ['script-g'], ...all },
  script: { out: 'embedding', at: ['script-a'], ...all },
  pair: { out: 'embedding', at: ['script-a', 'cohere'], ...all },
  'see-cohere': { out: 'embedding', at: ['cohere'], ...seeing },
  'see-voyage': { out: 'embedding', at: ['voyage'], ...seeing },
  'see-jina': { out: 'embedding', at: ['jina'], ...seeing },
  'see-gemini': { out: 'embedding', at: ['gemini-e'], ...seeing },
  'see-openai': { out: 'embedding', at: ['sim-a'], ...seeing },
  'see-pair': { out: 'embedding', at: ['jina', 'cohere'], ...seeing },
  rank: { out: 'ranking', at: ['cohere'] },
  'rank-jina': { out: 'ranking', at: ['jina'] },
  'rank-voyage': { out: 'ranking', at: ['voyage'], price: 'input: "1.25", output: "0"' },
  'rank-script': { out: 'ranking', at: ['script-c'] },
  'rank-pair': { out: 'ranking', at: ['script-c', 'cohere'] },
} as const satisfies Record<
  string,
  {
    out: 'embedding' | 'ranking';
    at: readonly string[];
    parameters?: string;
    tokenizer?: string;
    context?: number;
    price?: string;
    in?: string;
  }
>;
export type TaskKind = keyof typeof kinds;
interface Shape {
  readonly out: 'embedding' | 'ranking';
  readonly at: readonly string[];
  readonly parameters?: string;
  readonly tokenizer?: string;
  readonly context?: number;
  readonly price?: string;
  readonly in?: string;
}

const provider = (id: string, kind: string, base: string) => `
  - id: ${id}
    name: ${id}
    kind: ${kind}
    base_url: ${base}
    api_key_env: [CALLS_KEY]
    data_policy: { trains: false, retention_days: 0, zdr: true }`;

function model(kind: string, n: number, shape: Shape): string {
  const usual =
    shape.out === 'embedding'
      ? `input: "${TOKEN_MICRO}", output: "0"`
      : `input: "0", output: "0", search_unit: "${UNIT_MICRO}"`;
  return `
  - id: tasks/${kind}-${n}
    name: ${kind} ${n}
    context_length: ${shape.context ?? 8192}
    modalities: { in: [${shape.in ?? 'text'}], out: [${shape.out}] }
    capabilities: { parameters: ${shape.parameters ?? '[]'} }${shape.tokenizer === undefined ? '' : `\n    tokenizer: ${shape.tokenizer}`}
    endpoints:${shape.at
      .map(
        (at) => `
      - { provider: ${at}, upstream_model: ${kind}-${n}, region: local, price: { ${shape.price ?? usual} } }`,
      )
      .join('')}`;
}

/** The providers and models of these tests. */
export function taskExtras({ sim, script }: { sim: World['sim']; script: ScriptedUpstream }): Extras {
  const models = Object.entries(kinds).flatMap(([kind, shape]) =>
    Array.from({ length: COPIES }, (_, n) => model(kind, n, shape)),
  );
  return {
    providers:
      provider('cohere', 'cohere', `${sim.url}/v2`) +
      provider('jina', 'jina', `${sim.url}/v1`) +
      provider('voyage', 'voyage', `${sim.url}/v1`) +
      provider('gemini-e', 'gemini', `${sim.url}/v1beta`) +
      provider('script-c', 'cohere', `${script.url}/c/v2`) +
      provider('script-g', 'gemini', `${script.url}/g/v1beta`),
    models: models.join(''),
  };
}

const used = new Map<TaskKind, number>();

/** A model that no other test uses. */
export function taskModel(kind: TaskKind): { readonly id: string; readonly upstream: string } {
  const n = used.get(kind) ?? 0;
  if (n >= COPIES) throw new Error(`no model of kind ${kind} is left`);
  used.set(kind, n + 1);
  return { id: `tasks/${kind}-${n}`, upstream: `${kind}-${n}` };
}

export type Surface = '/v1/embeddings' | '/v1/svc/embed' | '/v1/svc/rerank';

/** Sends `body` to `path`; the answer with its JSON. */
export async function ask(
  world: World,
  org: Pick<Org, 'live_key'>,
  path: Surface,
  body: object,
  headers: Readonly<Record<string, string>> = {},
): Promise<Reply & { readonly json: Json }> {
  const authorization = `Bearer ${org.live_key}`;
  const reply = await world.chat(org.live_key, body, { path, headers: { authorization, ...headers } }).reply;
  return { ...reply, json: JSON.parse(reply.text) as Json };
}

/** Answers with `body` as JSON. */
export function answer(body: unknown): Handler {
  return (response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(typeof body === 'string' ? body : JSON.stringify(body));
  };
}
