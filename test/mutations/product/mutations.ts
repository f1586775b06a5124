// The product with one place of it wrong: of the ledger's functions, or of the gateway's sources. The crash test must
// notice every one within ten rounds; one that survives is a missing rule of its oracle.
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import type { FaultKind } from '../../crash/faults.ts';
import type { CrashOptions } from '../../crash/run.ts';

export interface Mutation {
  readonly name: string;
  /** The kills that show it; absent: all of them in turn. */
  readonly kinds?: readonly FaultKind[];
  readonly broken: Pick<CrashOptions, 'mutate' | 'sabotage' | 'edit'>;
  /** What the oracle must report: another fault would not be due to this mutation. */
  readonly said: RegExp;
}

/** Replaces `from` by `to` in the source of function `name`, which must contain it once: a mutation that does nothing proves nothing. */
function patch(name: string, from: string, to: string): string {
  const quote = (text: string) => `'${text.replaceAll("'", "''")}'`;
  return `do $mutation$
    declare v_source text := pg_get_functiondef('${name}'::regproc);
    begin
      if length(v_source) - length(replace(v_source, ${quote(from)}, '')) <> ${from.length} then
        raise exception '${name} does not hold this once: %', ${quote(from)};
      end if;
      execute replace(v_source, ${quote(from)}, ${quote(to)});
    end $mutation$`;
}

const sql = (name: string, from: string, to: string) => ({ mutate: [patch(`ledger.${name}`, from, to)] });
const source = (file: string, from: string, to: string) => ({ edit: { file, from, to } });
const CLIENT = 'core/ledger/client.ts';
const CALL = 'core/inference/call';
const COST = 'cost_micro_usd: microUsd(end.cost.total_micro_usd),';

export const mutations: readonly Mutation[] = [
  {
    name: 'a settle that charges the hold instead of the cost',
    kinds: ['gateway'],
    broken: sql('settle_run', 'v_charged := p_cost;', 'v_charged := v_hold;'),
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
    broken: sql('release_run', 'available = t.available + x.a', 'available = t.available + x.a + 1'),
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
  {
    name: 'a caller that left is charged nothing',
    kinds: ['gateway'],
    broken: source(
      `${CALL}/settle/settlement.ts`,
      COST,
      'cost_micro_usd: microUsd(s.left() ? 0 : end.cost.total_micro_usd),',
    ),
    said: /was not charged|callers left calls|the ledger has 0$/m,
  },
  {
    name: 'a settle of nothing',
    kinds: ['gateway'],
    broken: source(`${CALL}/settle/settlement.ts`, COST, 'cost_micro_usd: microUsd(0),'),
    said: /saw cost \d+, the ledger has 0/,
  },
  {
    name: 'a settle of one micro-dollar more than is told',
    kinds: ['gateway'],
    broken: source(
      `${CALL}/settle/settlement.ts`,
      COST,
      'cost_micro_usd: microUsd(end.cost.total_micro_usd + 1),',
    ),
    said: /saw cost/,
  },
  {
    name: 'holds of failed calls are not released',
    kinds: ['gateway'],
    broken: source(
      `${CALL}/stages/call.ts`,
      'this.deps.ledgers.at(grant.subject.shard).release(grant.subject, request_id);',
      'void [grant, request_id];',
    ),
    said: /holds are left/,
  },
  {
    name: 'an answer that does not wait for its settle',
    kinds: ['gateway'],
    broken: source(
      CLIENT,
      'if (fault === null) return this.settles.add(settle);',
      "if (fault === null) { void this.settles.add(settle); return Promise.resolve({ status: 'settled', charged_micro_usd: settle.cost_micro_usd }); }",
    ),
    said: /is not in the ledger/,
  },
  {
    name: 'a settle that is never sent',
    kinds: ['gateway'],
    broken: source(
      CLIENT,
      'if (fault === null) return this.settles.add(settle);',
      "if (fault === null) return Promise.resolve({ status: 'settled', charged_micro_usd: settle.cost_micro_usd });",
    ),
    said: /is not in the ledger/,
  },
  {
    name: 'settles that wait are not written to the journal',
    kinds: ['settling'],
    broken: source(CLIENT, 'await this.journal.append(waiting.map(({ item }) => item));', ''),
    said: /is not in the ledger/,
  },
  {
    name: 'journals of dead processes are not read',
    kinds: ['settling'],
    broken: source(
      CLIENT,
      'for (const settle of await this.journal.adopt()) this.settles.put(settle, () => {}, true);',
      'await this.journal.adopt();',
    ),
    said: /is not in the ledger/,
  },
  {
    name: 'hard budgets are ignored',
    kinds: ['gateway'],
    broken: sql('hold_run', 'then w.cap - w.spent - w.held', 'then 1000000000'),
    said: /hard budget|refused nobody/,
  },
  {
    name: 'a budget does not count what is held',
    kinds: ['gateway'],
    broken: sql('hold_run', 'then w.cap - w.spent - w.held', 'then w.cap - w.spent'),
    said: /of a hard budget/,
  },
  {
    name: 'the spend of a window is not moved',
    kinds: ['gateway'],
    broken: sql('settle_run', 'set spent = w.spent + u.spend', 'set spent = w.spent'),
    said: /windows of key/,
  },
  {
    name: 'what was held in a window is not given back at settle',
    kinds: ['gateway'],
    broken: sql('settle_run', 'held = w.held - u.unheld', 'held = w.held'),
    said: /still holds/,
  },
  {
    name: 'a sweep forgets the windows',
    kinds: ['gateway'],
    broken: sql('release_run', 'set held = w.held - x.a', 'set held = w.held'),
    said: /still holds/,
  },
  {
    name: 'a hold is given back with the first content',
    kinds: ['gateway'],
    broken: source(
      `${CALL}/stages/streaming.ts`,
      'this.relay = relay;',
      'this.relay = relay; run.call.release();',
    ),
    said: /hard budget|written off|keyed, and paid|cost \d+ instead of \d+/,
  },
  {
    name: 'what costs more than its hold is charged without asking the budget',
    kinds: ['gateway'],
    broken: source(
      `${CALL}/settle/hold-watch.ts`,
      "if ((await facts.ledger.extend(facts.subject, facts.request_id, wanted)) !== 'ok') return false;",
      '',
    ),
    said: /hard budget|written off/,
  },
  {
    name: 'calls that a provider failed are charged for their prompt',
    kinds: ['gateway'],
    broken: source(
      `${CALL}/stages/ends.ts`,
      'const cost = noCost(attempt.record.endpoint);',
      `const cost = noCost(attempt.record.endpoint);
  void call.deps.ledgers.at(record.grant.subject.shard).settle({ ...record.grant.subject, request_id: record.request_id,
    cost_micro_usd: 7, model_no: 0, endpoint_no: attempt.record.endpoint.endpoint_no,
    price_no: attempt.record.endpoint.price.price_no, units: { input_tokens: 1, output_tokens: 0, cache_read_tokens: 0,
    cache_write_tokens: 0, cache_write_5m_tokens: 0, cache_write_1h_tokens: 0, reasoning_tokens: 0 },
    estimated: false, outcome: 'error' });`,
    ),
    said: /ended in an error .* and was charged 7/,
  },
  {
    name: 'the leases of dead processes never lapse',
    kinds: ['gateway'],
    broken: sql('release_run', ' and l.expires_at > v_now', ''),
    said: /holds are left/,
  },
  {
    name: 'the job that sweeps does nothing',
    kinds: ['gateway'],
    broken: source(
      'core/operations/jobs.ts',
      'const swept = await sweepOnce(ledger);',
      'const swept: Awaited<ReturnType<typeof sweepOnce>> = []; void ledger;',
    ),
    said: /holds are left/,
  },
  {
    name: 'a claim that another call has holds nobody back',
    broken: sql(
      'hold_run',
      'where not exists (select from ledger.idempotency x',
      'where false and not exists (select from ledger.idempotency x',
    ),
    said: /keyed, and/,
  },
  {
    name: "a client's own retry is a call of its own",
    kinds: ['worker'],
    broken: source(
      `${CALL}/answer/drained.ts`,
      'if (buckets.size === 0 || count === undefined || !(Number(count) >= 1)) return null;',
      'return null;',
    ),
    said: /retries, and/,
  },
  {
    name: "a call with an organization's own key costs more than its share",
    kinds: ['gateway'],
    broken: source('core/catalog/build.ts', 'OWN_KEY_FEE_BPS = 500', 'OWN_KEY_FEE_BPS = 600'),
    said: /cost \d+ instead of \d+/,
  },
  {
    name: 'a top-up credits less than was paid',
    kinds: ['worker'],
    broken: source(
      'core/ledger/tasks/apply.ts',
      'const terms = { ...task.content,',
      'const terms = { ...task.content, amount_micro_usd: (task.content.amount_micro_usd - 1 || 1) as never,',
    ),
    said: /top-up paid-\S+ credited/,
  },
  {
    name: 'a top-up that is carried out again is credited again',
    kinds: ['worker'],
    broken: {
      ...source(
        'core/ledger/tasks/apply.ts',
        'else await finishTask(db, { task_no, result, at: now() });',
        '',
      ),
      mutate: [
        patch('ledger.credit', 'if found then return; end if;', ''),
        'drop index ledger.entry_moves_once_per_reference',
        'alter table ledger.lot drop constraint lot_lot_id_key',
      ],
    },
    said: /is in the ledger twice/,
  },
];
