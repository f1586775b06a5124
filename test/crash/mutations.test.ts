// The oracle itself is tested: with a piece of the ledger broken on purpose it must find a fault.
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import type { FaultKind } from './faults.ts';
import { type CrashOptions, runCrash } from './run.ts';

/** Replaces `from` by `to` in the source of function `name`, which must contain it: a mutation that does nothing proves nothing. */
function patch(name: string, from: string, to: string): string {
  const quote = (text: string) => `'${text.replaceAll("'", "''")}'`;
  return `do $mutation$
    declare v_source text := pg_get_functiondef('${name}'::regproc);
    begin
      if strpos(v_source, ${quote(from)}) = 0 then raise exception 'nothing to mutate in ${name}'; end if;
      execute replace(v_source, ${quote(from)}, ${quote(to)});
    end $mutation$`;
}

interface Mutation {
  readonly name: string;
  readonly kinds: readonly FaultKind[];
  readonly broken: Pick<CrashOptions, 'mutate' | 'sabotage'>;
  /** What the oracle must say: another complaint would not be about this mutation. */
  readonly said: RegExp;
}

const mutations: readonly Mutation[] = [
  {
    name: 'a settle that charges the hold instead of the cost',
    kinds: ['gateway'],
    broken: { mutate: [patch('ledger.settle_run', 'v_charged := p_cost;', 'v_charged := v_hold;')] },
    said: /cost \d+, charged \d+/,
  },
  {
    name: 'a settle that may be repeated',
    kinds: ['settling'],
    broken: {
      mutate: [
        patch('ledger.settle_run', "case when q.is_metered then 'd'", "case when false then 'd'"),
        'alter table ledger.meter drop constraint request_is_metered_once',
      ],
    },
    said: /has 2 entries/,
  },
  {
    name: 'a release that gives back more than was held',
    kinds: ['gateway'],
    broken: {
      mutate: [
        patch('ledger.release_run', 'available = t.available + x.a', 'available = t.available + x.a + 1'),
      ],
    },
    said: /its entries say/,
  },
  {
    name: 'journals that are gone when a process comes back',
    kinds: ['settling'],
    broken: {
      sabotage: (world, fault) =>
        rmSync(join(world.dataDir(fault.gateway), 'journal'), { recursive: true, force: true }),
    },
    said: /is not in the ledger/,
  },
];

// Most of a round is waiting for leases and for a server to come back; each mutation has a world of its own.
vi.setConfig({ maxConcurrency: 4 });

describe('the oracle notices', () => {
  test.concurrent.each(mutations)('$name', { timeout: 300_000 }, async ({ kinds, broken, said }) => {
    const report = await runCrash({
      // What was lost never comes: twice what a sound round takes at most is enough to wait.
      quiet_ms_max: 12_000,
      ...{ rounds: 3, seed: 11, calls: 150, in_flight: 80 },
      kinds,
      ...broken,
    });
    expect(report.faults.join('\n')).toMatch(said);
  });
});
