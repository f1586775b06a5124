// `svc.compat` through a gateway, with a loss of each class in each dialect (docs/fidelity.md#losses): what is
// refused, what is reported, and what reaches the provider.
import { describe, expect, test } from 'vitest';
import { errorOf, type Json, open, type Reply, svcOf } from '../calls/caller.ts';
import { type Kind, useWorld } from '../calls/world.ts';
import { PATHS } from './evaluate.ts';
import { tool } from './say.ts';
import type { Dialect } from './types.ts';

const world = useWorld({ models: { messages: 1, chat: 1, 'gemini-3': 1, cross: 1 } });

type Class = 'hint' | 'behaviour' | 'content';
interface Loss {
  readonly body: Json;
  readonly code: string;
  /** Path of the field in the caller's dialect. */
  readonly param: string;
}

interface Case {
  readonly dialect: Dialect;
  /** Models whose one endpoint loses it. */
  readonly kind: Kind;
  readonly losses: Readonly<Record<Class, Loss>>;
}

const named = { messages: [{ role: 'user', name: 'ann', content: 'Hi' }] };
const sealed = { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'b3BhcXVl' };
const six = ['1', '2', '3', '4', '5', '6'];

const cases: readonly Case[] = [
  {
    dialect: 'chat',
    kind: 'messages',
    losses: {
      hint: { body: named, code: 'name_dropped', param: 'messages[0].name' },
      behaviour: { body: { seed: 7 }, code: 'sampling_dropped', param: 'seed' },
      content: { body: { logprobs: true }, code: 'logprobs_unsupported', param: 'logprobs' },
    },
  },
  {
    dialect: 'responses',
    kind: 'messages',
    losses: {
      hint: {
        body: {
          input: [
            { role: 'user', content: 'Hi' },
            sealed,
            { role: 'assistant', content: 'Hello' },
            { role: 'user', content: 'Go on' },
          ],
        },
        code: 'reasoning_signature_dropped',
        param: 'input[1]',
      },
      behaviour: { body: { text: { verbosity: 'low' } }, code: 'verbosity_dropped', param: 'text.verbosity' },
      content: { body: { top_logprobs: 3 }, code: 'logprobs_unsupported', param: 'top_logprobs' },
    },
  },
  {
    dialect: 'messages',
    kind: 'chat',
    losses: {
      hint: {
        body: { tools: [{ ...tool.messages, defer_loading: true }], tool_choice: { type: 'none' } },
        code: 'tool_option_dropped',
        param: 'tools[0]',
      },
      behaviour: { body: { top_k: 40 }, code: 'sampling_dropped', param: 'top_k' },
      content: { body: { stop_sequences: six }, code: 'stop_too_many', param: 'stop_sequences' },
    },
  },
  {
    dialect: 'native',
    kind: 'messages',
    losses: {
      hint: { body: named, code: 'name_dropped', param: 'messages[0].name' },
      behaviour: { body: { generation: { seed: 7 } }, code: 'sampling_dropped', param: 'generation.seed' },
      content: {
        body: { generation: { logprobs: 1 } },
        code: 'logprobs_unsupported',
        param: 'generation.logprobs',
      },
    },
  },
  {
    dialect: 'completions',
    kind: 'gemini-3',
    losses: {
      hint: { body: { user: 'ann' }, code: 'user_dropped', param: 'user' },
      behaviour: { body: { logit_bias: { '7': 1 } }, code: 'sampling_dropped', param: 'logit_bias' },
      content: { body: { stop: six }, code: 'stop_too_many', param: 'stop' },
    },
  },
];

const smallest: Readonly<Record<Dialect, Json>> = {
  chat: { messages: [{ role: 'user', content: 'Hi' }], max_tokens: 64 },
  responses: { input: 'Hi', max_output_tokens: 64 },
  messages: { messages: [{ role: 'user', content: 'Hi' }], max_tokens: 64 },
  completions: { prompt: 'Hi', max_tokens: 64 },
  native: { messages: [{ role: 'user', content: 'Hi' }] },
};

let shared: Promise<string> | null = null;
/** One key for all: nothing here depends on the balance. */
async function key(): Promise<string> {
  shared ??= world()
    .org(10_000_000)
    .then((org) => org.live_key);
  return shared;
}

async function call(dialect: Dialect, kind: Kind, more: Json): Promise<Reply> {
  const body = JSON.stringify({ model: `calls/${kind}-0`, ...smallest[dialect], ...more });
  const headers = { authorization: `Bearer ${await key()}` };
  return open(world().gateway.base_url, { path: PATHS[dialect], body, headers }).reply;
}

const options = (dialect: Dialect, compat: string): Json =>
  dialect === 'native' ? { compat } : { svc: { compat } };

/** Warnings of a reply wherever its dialect has them, without what a completion is always told. */
function warningsOf(dialect: Dialect, reply: Reply): Json[] {
  const body = reply.text.startsWith('{') ? (JSON.parse(reply.text) as Json) : null;
  const list: Json[] = dialect === 'native' ? body?.['warnings'] : svcOf(reply)?.['warnings'];
  return (list ?? []).filter(({ code }) => code !== 'completion_as_chat');
}

const cells = cases.flatMap(({ dialect, kind, losses }) =>
  (Object.entries(losses) as [Class, Loss][]).map(([class_, loss]) => ({ dialect, kind, class_, loss })),
);

describe.concurrent.each(cells)('$class_ lost by a $dialect caller', ({ dialect, kind, class_, loss }) => {
  const { body, code, param } = loss;
  const given = { code, param, message: expect.any(String) };
  const refused = (reply: Reply) => {
    expect(reply.status).toBe(400);
    const error = errorOf(reply) as Json;
    const reported = dialect === 'messages' ? error['details']['error_code'] : error['code'];
    expect(reported).toBe('unsupported_parameter');
    // A completion that nobody can go on with is refused for its prompt already.
    if (dialect !== 'completions') expect(error['param']).toBe(param);
  };

  test('strict refuses it, naming the field', async () => {
    refused(await call(dialect, kind, { ...body, ...options(dialect, 'strict') }));
  });

  test('warn tells it, or refuses what would vanish', async () => {
    const reply = await call(dialect, kind, { ...body, ...options(dialect, 'warn') });
    if (class_ === 'content') return refused(reply);
    expect(reply.status).toBe(200);
    expect(warningsOf(dialect, reply)).toEqual([given]);
    expect(reply.headers['x-svc-warnings']?.split(',')).toContain(code);
  });

  test('drop says nothing of hints and preferences, and tells what vanished', async () => {
    const reply = await call(dialect, kind, { ...body, ...options(dialect, 'drop') });
    expect(reply.status).toBe(200);
    expect(warningsOf(dialect, reply)).toEqual(class_ === 'content' ? [given] : []);
  });
});

describe.concurrent('an endpoint that would lose something', () => {
  const preferred = { providers: { order: ['sim-x', 'sim-a'] } };

  test('is passed over where another loses nothing of content', async () => {
    const reply = await call('chat', 'cross', {
      logprobs: true,
      svc: { compat: 'warn', route: preferred },
    });
    expect(reply.status).toBe(200);
    expect(reply.headers['x-svc-provider']).toBe('sim-a');
    expect(warningsOf('chat', reply)).toEqual([]);
  });

  test('is named in the refusal as lossy', async () => {
    const reply = await call('chat', 'messages', { logprobs: true });
    expect(errorOf(reply)?.['excluded_by']).toMatchObject([{ provider: 'sim-x', reason: 'lossy' }]);
  });

  test('that answers after another failed tells its own losses', async () => {
    const body = {
      seed: 7,
      messages: [{ role: 'user', content: 'sim: mark=moved fail_first=1 fail_status=503' }],
    };
    const order = { providers: { order: ['sim-a', 'sim-x'] } };
    const reply = await call('chat', 'cross', { ...body, svc: { route: order } });
    expect(reply.status).toBe(200);
    expect(reply.headers['x-svc-provider']).toBe('sim-x');
    expect(warningsOf('chat', reply)).toMatchObject([{ code: 'sampling_dropped', param: 'seed' }]);
  });
});

test('at most twenty warnings are shown, and how many more there are', async () => {
  const messages = Array.from({ length: 25 }, (_, n) => ({ role: 'user', name: `n${n}`, content: 'Hi' }));
  const reply = await call('chat', 'messages', { messages });
  const warnings = warningsOf('chat', reply);
  expect(warnings).toHaveLength(21);
  expect(warnings.slice(0, 20).map(({ code }) => code)).toEqual(Array(20).fill('name_dropped'));
  expect(warnings[20]).toEqual({ code: 'more', count: 5 });
});
