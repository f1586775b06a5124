// Whatever JSON a provider sends, in any event and at any place of it, is its own fault or an answer: reading it never
// throws anything but a `ProtocolFault`, for anything else would be a 500 of ours (docs/outcomes.md#gateway-defect).
import { readdirSync, readFileSync } from 'node:fs';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Relay } from '../../core/inference/canonical/contract.ts';
import { canonicalRelay } from '../../core/inference/canonical/relay.ts';
import { settleTask } from '../../core/inference/canonical/tasks/settle.ts';
import type { Task } from '../../core/inference/canonical/types.ts';
import { builtIn } from '../../core/inference/formats/index.ts';
import { ProtocolFault } from '../../core/inference/wire/fault.ts';
import { chatEnd } from '../grammar/chat-fixtures.ts';
import { meta } from '../grammar/responses-cases.ts';
import { jsonEvent } from '../sim/providers/bedrock/event-stream.ts';
import { contents, reported } from './answers.ts';
import { endpoint } from './endpoints.ts';
import { bodyOf, PATHS, rawLaneOf, read } from './evaluate.ts';
import { DIALECTS, type Dialect, FAMILIES, type GenerationFamily } from './types.ts';
import { wireOf } from './wires.ts';

const FIXTURES: Readonly<Record<GenerationFamily, string>> = {
  openai_chat: 'openai-chat',
  openai_responses: 'openai-responses',
  anthropic_messages: 'anthropic-messages',
  gemini: 'gemini',
  bedrock_converse: 'bedrock-converse',
};

/** One event of a stream: its name where the wire has names, and its JSON. */
interface Event {
  readonly name: string;
  readonly data: unknown;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function sseEvents(text: string): Event[] {
  return text.split(/\r?\n\r?\n/).flatMap((block) => {
    const name = /^event: ?(.*)$/m.exec(block)?.[1] ?? '';
    const data = parsed(/^data: ?(.*)$/m.exec(block)?.[1] ?? '');
    return data === undefined ? [] : [{ name, data }];
  });
}

function fixturesOf(family: GenerationFamily): Event[][] {
  const folder = new URL(`../../core/inference/formats/${FIXTURES[family]}/fixtures/`, import.meta.url);
  return readdirSync(folder).flatMap((file) => {
    const text = readFileSync(new URL(file, folder), 'utf8');
    if (file.endsWith('.sse')) return [sseEvents(text)];
    if (family !== 'bedrock_converse') return [];
    const { events } = JSON.parse(text) as { events?: [string, unknown][] };
    return events === undefined ? [] : [events.map(([name, data]) => ({ name, data }))];
  });
}

/** Whole answers: the family's fixtures of one object, and one for each kind of content. */
function wholesOf(family: GenerationFamily): unknown[] {
  return contents.flatMap(({ pieces, stops }) => {
    const stop = stops[family];
    if (stop === undefined) return [];
    return [JSON.parse(wireOf[family]({ pieces, stop, usage: reported[family] }).whole.toString())];
  });
}

function streamOf(family: GenerationFamily, events: readonly Event[]): Buffer {
  if (family === 'bedrock_converse')
    return Buffer.concat(events.map(({ name, data }) => jsonEvent(name, data)));
  const texts = events.map(
    ({ name, data }) => `${name === '' ? '' : `event: ${name}\n`}data: ${JSON.stringify(data)}\n\n`,
  );
  return Buffer.from(texts.join(''));
}

/** For each family and dialect. */
const RUNS = 150;

const ODD = fc.oneof(
  fc.constantFrom<unknown>(null, true, 0, -1, 1.5, 1e308, '', 'x', [], {}, [null], [[]], [{}], { a: null }),
  fc.jsonValue({ maxDepth: 3 }),
);

/** A change of one place: which, counted over all values of a document, and what stands there then. */
const CHANGE = fc.record({ at: fc.nat(400), to: ODD, drop: fc.boolean() });
type Change = typeof CHANGE extends fc.Arbitrary<infer T> ? T : never;

/** `document` with `change` at its `change.at`th value, counted round and round. */
function changed(document: unknown, change: Change): unknown {
  const copy: { root: unknown } = { root: structuredClone(document) };
  const places: { holder: Record<string, unknown>; key: string }[] = [];
  const walk = (holder: Record<string, unknown>, key: string) => {
    places.push({ holder, key });
    const value = holder[key];
    if (typeof value !== 'object' || value === null) return;
    for (const inner of Object.keys(value)) walk(value as Record<string, unknown>, inner);
  };
  walk(copy, 'root');
  const place = places[change.at % places.length];
  if (place === undefined) return document;
  if (change.drop && place.holder !== copy && !Array.isArray(place.holder)) delete place.holder[place.key];
  else place.holder[place.key] = change.to;
  return copy.root;
}

/** Runs `step`, which may find fault with the provider and nothing else. */
function blamesOnlyTheProvider(step: () => void): void {
  try {
    step();
  } catch (error) {
    if (!(error instanceof ProtocolFault)) throw error;
  }
}

function run(relay: Relay, bytes: Buffer, piece: number): void {
  for (let at = 0; at < bytes.length; at += piece) relay.push(Buffer.from(bytes.subarray(at, at + piece)));
  relay.close();
  const { fault, usage } = relay.state;
  if (fault === null) relay.end(chatEnd(usage));
  else relay.fail({ code: 'upstream_error', message: 'failed' }, chatEnd(usage));
}

const cells = FAMILIES.flatMap((family) => DIALECTS.map((dialect) => ({ family, dialect })));

function partsOf(family: GenerationFamily, dialect: Dialect) {
  const adapter = builtIn.adapters.get(family);
  const speaker = builtIn.dialects.get(PATHS[dialect]);
  if (adapter === undefined || speaker === undefined) throw new Error(`no ${family} or ${dialect}`);
  const target = endpoint(family, true);
  const request = read(dialect, bodyOf(dialect, { stream: dialect !== 'native' ? true : undefined }));
  return { adapter, speaker, target, request, lane: rawLaneOf(dialect, target, request) };
}

test.each(cells)('a stream of $family for a caller of $dialect', ({ family, dialect }) => {
  const { adapter, speaker, target, request, lane } = partsOf(family, dialect);
  const streams = fixturesOf(family);
  expect(streams.length).toBeGreaterThan(10);
  fc.assert(
    fc.property(
      fc.constantFrom(...streams),
      fc.array(fc.tuple(fc.nat(60), CHANGE), { minLength: 1, maxLength: 3 }),
      fc.integer({ min: 1, max: 400 }),
      (stream, changes, piece) => {
        const events = [...stream];
        for (const [n, change] of changes) {
          const at = n % events.length;
          const event = events[at];
          if (event !== undefined) events[at] = { ...event, data: changed(event.data, change) };
        }
        const bytes = streamOf(family, events);
        const relays = [canonicalRelay(adapter.decoder(request, target), speaker.writer(meta))];
        if (lane !== undefined) relays.push(lane.relay(meta, request, target));
        for (const relay of relays) blamesOnlyTheProvider(() => run(relay, bytes, piece));
      },
    ),
    { numRuns: RUNS },
  );
});

test.each(cells)('a whole answer of $family for a caller of $dialect', ({ family, dialect }) => {
  const { adapter, speaker, target, request, lane } = partsOf(family, dialect);
  const wholes = wholesOf(family);
  fc.assert(
    fc.property(
      fc.constantFrom(...wholes),
      fc.array(CHANGE, { minLength: 1, maxLength: 3 }),
      fc.constantFrom(200, 400, 429, 500),
      (whole, changes, status) => {
        const body = Buffer.from(JSON.stringify(changes.reduce(changed, whole)));
        adapter.classify(status, {}, body);
        blamesOnlyTheProvider(() => void adapter.counting?.read(body));
        blamesOnlyTheProvider(() => {
          const answer = adapter.decode(body, request, target);
          speaker.write(answer, meta, chatEnd(answer.usage));
        });
        if (lane !== undefined) {
          blamesOnlyTheProvider(() => {
            const given = lane.whole(body, request, target);
            given.finish(meta, chatEnd(given.usage));
          });
        }
      },
    ),
    { numRuns: RUNS },
  );
});

const FOLDER = new URL('../../core/inference/formats/embed-rerank/fixtures/', import.meta.url);

test.each(readdirSync(FOLDER).filter((file) => file.endsWith('.json')))('an answer to a task: %s', (file) => {
  const adapter = builtIn.adapters.get('embed_rerank');
  if (adapter === undefined) throw new Error('no adapter for tasks');
  const [kind = '', what = ''] = file.split(/[-.]/);
  const task: Task =
    what === 'rerank'
      ? { kind: 'rerank', query: 'q', documents: ['a', 'b', 'c'], top_n: 2, return_documents: true }
      : { kind: 'embed', input: ['a', 'b'], single: false, encoding: 'base64' };
  const request = { ...read('native', bodyOf('native', {})), task };
  const target = { ...endpoint('openai_chat'), family: 'embed_rerank', kind } as const;
  const whole: unknown = JSON.parse(readFileSync(new URL(file, FOLDER), 'utf8'));
  fc.assert(
    fc.property(fc.array(CHANGE, { minLength: 1, maxLength: 3 }), (changes) => {
      const body = Buffer.from(JSON.stringify(changes.reduce(changed, whole)));
      adapter.classify(200, {}, body);
      blamesOnlyTheProvider(() => void settleTask(adapter.decode(body, request, target), task));
    }),
    { numRuns: RUNS },
  );
});
