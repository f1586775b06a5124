// Request direction of docs/compatibility.md: dialect × family × feature. Each cell reads the caller's body, lists
// what the family loses, writes the provider's body and looks for the feature in it, streamed and whole.
import { describe, expect, test } from 'vitest';
import { type Sent, send } from './evaluate.ts';
import { groups } from './features/index.ts';
import {
  type Asked,
  type Cell,
  DIALECTS,
  type Dialect,
  FAMILIES,
  type Feature,
  type GenerationFamily,
  type Outcome,
  RAW,
} from './types.ts';

/** Members that the raw lane rewrites; every other goes up as the caller wrote it. */
const OURS = new Set([
  ...['model', 'svc', 'stream_options', 'store', 'user', 'metadata', 'safety_identifier', 'prompt_cache_key'],
  ...['max_tokens', 'max_completion_tokens', 'headers'],
]);

/** The expected result for `feature` from a caller of `dialect` at `family`; in the raw lane the caller's bytes are sent. */
function cellOf(feature: Feature, dialect: Dialect, family: GenerationFamily, listed: boolean): Cell {
  const outcome = RAW[dialect] === family ? rawCell(feature, dialect, family) : feature.at[family];
  return listed ? (outcome.listed ?? outcome) : outcome;
}

function rawCell(feature: Feature, dialect: Dialect, family: GenerationFamily): Outcome {
  const special = feature.raw?.[dialect];
  if (special !== undefined) return special;
  const { body } = feature.says[dialect] as Asked;
  return Object.keys(body).some((name) => OURS.has(name)) ? feature.at[family] : { wire: body };
}

/** The warning of every completion, since no endpoint of the matrix continues texts. */
const AS_CHAT = 'behaviour:completion_as_chat';

function lostOf({ lost }: Sent): readonly string[] {
  return lost.filter((one) => one !== AS_CHAT);
}

function check(sent: Sent, cell: Cell, at: string): void {
  expect(lostOf(sent), at).toEqual(cell.lost ?? []);
  if (cell.wire !== undefined) expect(sent.body, at).toMatchObject(cell.wire);
  for (const text of cell.gone ?? []) expect(sent.text, at).not.toContain(text);
}

const rows = groups.flatMap(({ title, features }) => features.map((feature) => ({ title, feature })));

describe.each(rows)('$title: $feature.name', ({ feature }) => {
  const dialects = DIALECTS.filter((dialect) => feature.says[dialect] !== undefined);

  test.each(dialects)('%s at every family', (dialect) => {
    const { body } = feature.says[dialect]!;
    for (const family of FAMILIES) {
      for (const listed of [false, true]) {
        const cell = cellOf(feature, dialect, family, listed);
        for (const stream of [false, true]) {
          const at = `at ${family}${listed ? ' that lists it' : ''}, ${stream ? 'streamed' : 'whole'}`;
          check(send(dialect, family, body, { listed, stream }), cell, at);
        }
      }
    }
  });

  test.each(dialects)('%s at the sandbox that lists all loses nothing', (dialect) => {
    const sent = send(dialect, 'sandbox', feature.says[dialect]!.body, { listed: true });
    expect(lostOf(sent)).toEqual([]);
    expect(sent.lost.includes(AS_CHAT)).toBe(dialect === 'completions');
  });
});
