// What the bench measures, one entry a bar of `bars.ts`.
import type { Job, Target } from './load-jobs.ts';
import { CHUNKS } from './replies.ts';

export interface Scenario {
  readonly name: string;
  readonly title: string;
  /** Group for `--only`. */
  readonly group: 'plain' | 'waiting' | 'latency' | 'stream' | 'burst';
  /** Path of the caller's dialect at the gateway. */
  readonly path: '/v1/chat/completions' | '/v1/messages' | '/v1/responses' | '/v1/embeddings';
  /** Path that the bare proxy calls: the one that the upstream knows. */
  readonly bare_path: string;
  /** Catalog id at the gateway; the bare proxy sends the upstream's own name. */
  readonly model: string;
  readonly upstream_model: string;
  readonly stream: boolean;
  readonly prompt: Target['prompt'];
  readonly units_per_call: number;
  readonly job: (target: Target, quick: boolean) => Job;
}

const CHAT = '/v1/chat/completions';
const MESSAGES = '/v1/messages';

const closed =
  (calls: number, in_flight: number) =>
  (target: Target, quick: boolean): Job => ({
    kind: 'closed',
    target,
    calls: quick ? Math.max(in_flight, Math.ceil(calls / 4)) : calls,
    in_flight,
  });

const plain = {
  group: 'plain',
  path: CHAT,
  bare_path: CHAT,
  model: 'bench/whole',
  upstream_model: 'bench-whole',
  stream: false,
  units_per_call: 1,
} as const;

const streamed = {
  group: 'stream',
  upstream_model: 'bench-paced',
  stream: true,
  prompt: '4k',
  units_per_call: CHUNKS,
  job: closed(200, 200),
} as const;

const GEMINI = '/v1beta/models/bench-paced:streamGenerateContent?alt=sse';
const BEDROCK = '/model/bench-paced/converse-stream';

/** Which variants a scenario compares: what the ledger costs shows on plain calls. */
export function comparesLedger({ group }: Pick<Scenario, 'group'>): boolean {
  return group === 'plain' || group === 'waiting';
}

export const scenarios: readonly Scenario[] = [
  {
    ...plain,
    name: 'plain',
    title: 'plain call, 4k-token prompt, 200-token answer, 48 in flight',
    prompt: '4k',
    job: closed(6000, 48),
  },
  {
    ...plain,
    name: 'embeddings',
    title: 'one text of 4k tokens embedded, 1,536 numbers, 24 in flight',
    path: '/v1/embeddings',
    bare_path: '/v1/embeddings',
    model: 'bench/embed',
    upstream_model: 'bench-embed',
    prompt: '4k',
    job: closed(1200, 24),
  },
  {
    ...plain,
    name: 'plain_100k',
    title: 'plain call, 100k-token prompt (344 KB), 8 in flight',
    prompt: '100k',
    job: closed(400, 8),
  },
  {
    ...plain,
    group: 'waiting',
    name: 'waiting',
    title: 'plain call, 4k-token prompt, answered after 500 ms, 2,000 in flight',
    model: 'bench/delayed',
    upstream_model: 'bench-delayed',
    prompt: '4k',
    job: closed(10_000, 2_000),
  },
  {
    ...plain,
    name: 'latency',
    title: 'plain call, 4k-token prompt, 100 a second',
    group: 'latency',
    prompt: '4k',
    job: (target, quick) => ({ kind: 'open', target, per_second: 100, seconds: quick ? 3 : 6 }),
  },
  {
    ...streamed,
    name: 'chat_raw',
    title: 'chunk, chat over chat (raw lane), 200 streams of 100, 10 ms apart',
    path: CHAT,
    bare_path: CHAT,
    model: 'bench/paced',
  },
  {
    ...streamed,
    name: 'messages_raw',
    title: 'chunk, messages over messages (raw lane)',
    path: MESSAGES,
    bare_path: MESSAGES,
    model: 'bencha/paced',
  },
  {
    ...streamed,
    name: 'chat_across',
    title: 'chunk, chat over messages (across)',
    path: CHAT,
    bare_path: MESSAGES,
    model: 'bencha/paced',
  },
  {
    ...streamed,
    name: 'messages_across',
    title: 'chunk, messages over chat (across)',
    path: MESSAGES,
    bare_path: CHAT,
    model: 'bench/paced',
  },
  {
    ...streamed,
    name: 'responses_raw',
    title: 'chunk, responses over responses (raw lane)',
    path: '/v1/responses',
    bare_path: '/v1/responses',
    model: 'benchr/paced',
  },
  {
    ...streamed,
    name: 'responses_across',
    title: 'chunk, responses over chat (across)',
    path: '/v1/responses',
    bare_path: CHAT,
    model: 'bench/paced',
  },
  {
    ...streamed,
    name: 'chat_gemini',
    title: 'chunk, chat over Gemini (across)',
    path: CHAT,
    bare_path: GEMINI,
    model: 'benchg/paced',
  },
  {
    ...streamed,
    name: 'chat_bedrock',
    title: 'chunk, chat over Bedrock (across)',
    path: CHAT,
    bare_path: BEDROCK,
    model: 'benchb/paced',
  },
  {
    ...streamed,
    name: 'burst',
    title: 'chunk, chat over chat, 24 streams without a gap',
    group: 'burst',
    path: CHAT,
    bare_path: CHAT,
    model: 'bench/burst',
    upstream_model: 'bench-burst',
    job: closed(1200, 24),
  },
];
