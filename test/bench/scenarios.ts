// What the bench measures, one entry a row of design 9.
import type { Job, Target } from './load-jobs.ts';
import { CHUNKS } from './replies.ts';

export interface Scenario {
  readonly name: string;
  readonly title: string;
  /** Group for `--only`. */
  readonly group: 'plain' | 'latency' | 'stream' | 'burst';
  /** Path of the caller's dialect at the gateway. */
  readonly path: '/v1/chat/completions' | '/v1/messages';
  /** Path that the bare proxy calls: the dialect the upstream speaks. */
  readonly bare_path: '/v1/chat/completions' | '/v1/messages';
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
  job: closed(400, 200),
} as const;

export const scenarios: readonly Scenario[] = [
  {
    ...plain,
    name: 'plain',
    title: 'plain call, 4k-token prompt, 200-token answer, 48 in flight',
    prompt: '4k',
    job: closed(8000, 48),
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
    name: 'latency',
    title: 'plain call, 4k-token prompt, 100 a second',
    group: 'latency',
    prompt: '4k',
    job: (target, quick) => ({ kind: 'open', target, per_second: 100, seconds: quick ? 3 : 8 }),
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
    name: 'burst',
    title: 'chunk, chat over chat, 24 streams without a gap',
    group: 'burst',
    path: CHAT,
    bare_path: CHAT,
    model: 'bench/burst',
    upstream_model: 'bench-burst',
    job: closed(2400, 24),
  },
];
