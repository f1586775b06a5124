// What a long stream costs: a stream of 20,000 chunks as much as 200 of 100, in time, for every decoder, every writer
// and every raw lane; and what it keeps in memory meanwhile.
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, test } from 'vitest';
import { Assembler } from '../../core/inference/canonical/assemble.ts';
import type { Dialect, RawLane, Relay } from '../../core/inference/canonical/contract.ts';
import { canonicalRelay } from '../../core/inference/canonical/relay.ts';
import type { CanonicalRequest } from '../../core/inference/canonical/types.ts';
import { builtIn } from '../../core/inference/formats/index.ts';
import { counted, paid } from '../grammar/messages-cases.ts';
import { meta } from '../grammar/responses-cases.ts';
import {
  adapterOf,
  askedBy,
  callArguments,
  families,
  type StreamFamily,
  targetOf,
  texts,
  type Wire,
  wireOf,
  withCitations,
  withGrounding,
  withLogprobs,
} from './wires.ts';

const { dialects, raw_lanes: rawLanes } = builtIn;

const LONG = 20_000;
const SHORT = 100;
/** Of a quadratic cost the ratio is in the tens: this leaves room for caches and collections. */
const RATIO_MAX = 1.6;
const ROUNDS_MAX = 12;
const TEXT = 'the river carries rain ';

interface Way {
  readonly name: string;
  readonly wire: Wire;
  relay(): Relay;
}

const writers = [
  '/v1/chat/completions',
  '/v1/messages',
  '/v1/responses',
  '/v1/completions',
  '/v1/svc/generate',
];

function across(family: StreamFamily, path: string, wire: Wire = texts[family], what = ''): Way {
  const dialect = dialects.get(path) as Dialect;
  const asked: Partial<CanonicalRequest> =
    wire === withGrounding ? { tools: [{ kind: 'server', name: 'google_search' }] } : {};
  const relay = () =>
    canonicalRelay(
      adapterOf(family).decoder(askedBy(dialect.name, asked), targetOf(family)),
      dialect.writer({ ...meta, include_usage: true }),
    );
  return { name: `${dialect.name} on ${family}${what}`, wire, relay };
}

function raw(lane: RawLane, wire: Wire = wireOf(lane), what = ''): Way {
  const family = lane.family as StreamFamily;
  const relay = () => lane.relay(meta, askedBy(lane.dialect), targetOf(family));
  return { name: `${lane.dialect} raw${what}`, wire, relay };
}

/** The answer put together, as for callers who want it whole and for replays. */
function assembled(family: StreamFamily, wire: Wire, what: string): Way {
  const relay = () => {
    const assembler = new Assembler();
    const write = (event: Parameters<Assembler['add']>[0]) => {
      assembler.add(event);
      return '';
    };
    const decoder = adapterOf(family).decoder(askedBy('chat'), targetOf(family));
    return canonicalRelay(decoder, {
      write,
      end: () => JSON.stringify(assembler.answer()),
      fail: () => '',
      keepAlive: () => '',
    });
  };
  return { name: `assembled from ${family}, ${what}`, wire, relay };
}

const lanes = [...rawLanes.values()];
const chatLane = rawLanes.get('chat openai_chat') as RawLane;
const ways: readonly Way[] = [
  ...families.map((family) => across(family, '/v1/chat/completions')),
  ...writers.slice(1).map((path) => across('openai_chat', path)),
  across('openai_chat', '/v1/responses', callArguments, ', arguments'),
  across('openai_chat', '/v1/responses', withLogprobs, ', log probabilities'),
  across('gemini', '/v1/chat/completions', withGrounding, ', sources on every chunk'),
  ...lanes.map((lane) => raw(lane)),
  raw(chatLane, callArguments, ', arguments'),
  assembled('openai_chat', texts.openai_chat, 'text'),
  assembled('openai_chat', withLogprobs, 'log probabilities'),
  assembled('anthropic_messages', withCitations, 'citations'),
];

/** Bytes that a relay wrote for `streams` streams of `chunks` chunks each. */
function run({ wire, relay }: Way, streams: number, chunks: number): number {
  const chunk = wire.chunk(TEXT);
  let written = 0;
  for (let stream = 0; stream < streams; stream++) {
    const one = relay();
    if (wire.open.length > 0) written += one.push(wire.open).length;
    for (let i = 0; i < chunks; i++) written += one.push(chunk).length;
    written += one.push(wire.close).length + one.close().length;
    if (one.state.fault !== null) throw new Error(one.state.fault.message);
    written += one.end(paid(counted)).length;
  }
  return written;
}

/** Microseconds of processor time that `work` takes. */
function cost(work: () => void): number {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return user + system;
}

/** How much more expensive a chunk of a long stream is: the least time seen of both, asked again while the ratio is bad. */
function costRatio(way: Way): number {
  run(way, 20, SHORT);
  let long = Number.POSITIVE_INFINITY;
  let short = Number.POSITIVE_INFINITY;
  for (let round = 0; round < ROUNDS_MAX; round++) {
    short = Math.min(
      short,
      cost(() => run(way, LONG / SHORT, SHORT)),
    );
    long = Math.min(
      long,
      cost(() => run(way, 1, LONG)),
    );
    if (long <= short * RATIO_MAX) break;
  }
  return long / short;
}

describe('a stream of 20,000 chunks costs what 200 streams of 100 cost', () => {
  test.each(ways)('$name', (way) => {
    expect(costRatio(way)).toBeLessThanOrEqual(RATIO_MAX);
  });
});

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

function heapBytes(): number {
  // Twice: what the first frees of memory outside the heap is counted away by the second.
  collect();
  collect();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

/** Bytes that relays of `ways` hold together after many chunks each, beyond what they held after a hundred. */
function keptBy(those: readonly Way[]): number {
  const open = those.map((way) => {
    // Compiled before: code is not what a stream keeps.
    run(way, 2, SHORT);
    const relay = way.relay();
    const chunk = way.wire.chunk(PIECE);
    relay.push(way.wire.open);
    for (let i = 0; i < SHORT; i++) relay.push(chunk);
    return { relay, chunk };
  });
  const before = heapBytes();
  for (const { relay, chunk } of open) for (let i = 0; i < PIECES; i++) relay.push(chunk);
  const kept = heapBytes() - before;
  for (const { relay } of open) expect(relay.state.output_bytes).toBeGreaterThan(ANSWER);
  return kept;
}

const PIECE = TEXT.repeat(4);
const PIECES = 5_000;
const ANSWER = PIECES * PIECE.length;
const repeats = ({ name }: Way) => name.startsWith('responses') || name.startsWith('assembled');

test('a running stream keeps nothing of the answer where nothing repeats it', () => {
  const passing = ways.filter((way) => !repeats(way) && way.wire !== withGrounding);
  expect(passing.length).toBeGreaterThan(10);
  // One of them that kept its answer would pass this alone.
  expect(keptBy(passing)).toBeLessThan(ANSWER * 0.9);
});

test('where the end repeats the answer, the stream keeps it and little more', () => {
  const keeping = ways.filter((way) => repeats(way) && way.wire === texts.openai_chat);
  const kept = keptBy(keeping);
  expect(kept).toBeGreaterThan(ANSWER * keeping.length * 0.9);
  expect(kept).toBeLessThan(ANSWER * keeping.length * 6);
});
