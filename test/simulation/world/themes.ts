// What some runs are about, so that things come together that a mixture of everything seldom has.
import type { Draw } from '../../crash/draw.ts';
import { CALM, type Weather } from '../engine/database.ts';
import { isOpen } from './models.ts';
import {
  type Blow,
  type Keys,
  type Planned,
  planBlows,
  planCalls,
  planWeather,
  type SimCall,
} from './plan.ts';

/** What a run does, and what happens to it. */
export interface Plan {
  readonly calls: readonly Planned[];
  readonly blows: readonly Blow[];
  readonly weather: Readonly<Record<'database.sim' | 'ledger.sim', Weather>>;
}

const THEMES = { none: 50, one_run: 10, one_balance: 10, expensive: 10, slow_ledger: 10, stood_still: 10 };

/** Nobody leaves a call that costs hundreds of dollars: the oracle bounds what is estimated by what usual calls cost. */
const EXPENSIVE: Partial<SimCall> = {
  model: 'sim/expensive',
  ...{ habit: 'once', behaviour: 'ok', leave_after_ms: null, over_report: 0 },
};
const EXPENSIVE_EACH = 3;
/** Payments, and what becomes of them, are spread over so long. */
const EXPENSIVE_MS = 8_000;

type Theme = (plan: Plan, draw: Draw, keys: Keys) => Plan;

const eachCall = (plan: Plan, change: (call: SimCall) => SimCall): Plan => ({
  ...plan,
  calls: plan.calls.map((one) => ({ ...one, call: change(one.call) })),
});

/** All calls are of one run of an agent, and come to one gateway at once. */
const oneRun: Theme = (plan, draw, { all: [key] }) => {
  const budget = { id: 'run-c', max_micro: draw.pick([1_600, 6_000]) };
  const gateway = draw.pick([0, 1] as const);
  const same: Partial<SimCall> = { key: key as string, gateway, budget, model: 'crash/chat', habit: 'once' };
  const themed = eachCall(plan, (call) => ({ ...call, ...same }));
  return { ...themed, calls: themed.calls.map(({ call }) => ({ call, at_ms: 0 })) };
};

/** All calls hold one balance for seconds, while lots of it end. */
const oneBalance: Theme = (plan, _draw, { poor: [, key] }) =>
  eachCall(plan, (call) => ({ ...call, key: key as string, chunk_ms: 1_500 }));

/** Some calls cost as much as a top-up brings, between payments, refunds and disputes. */
const expensive: Theme = (plan, draw, { poor: [key] }) => ({
  ...plan,
  calls: plan.calls.map((one) => {
    if (one.call.no % EXPENSIVE_EACH !== 0) return one;
    const { budget: _, ...call } = one.call;
    return { call: { ...call, ...EXPENSIVE, key: key as string }, at_ms: draw.unit() * EXPENSIVE_MS };
  }),
});

/** The same call of a model that only its provider can count, which has other units than tokens. */
function seeing({ budget: _, ...call }: SimCall): SimCall {
  return { ...call, model: 'sim/senses', habit: 'once', leave_after_ms: null };
}

/** The ledger becomes slow under calls, and their gateway dies with a journal of what is booked and what is not. */
const slowLedger: Theme = (plan, draw) => {
  const gateway = draw.pick([0, 1] as const);
  const slow: Blow = { at_ms: draw.int(20, 250), what: { kind: 'slow', lasts_ms: 6_000 } };
  const after_ms = draw.int(0, 1_500);
  const kill: Blow = { at_ms: 0, what: { kind: 'kill_with_journal', gateway, after_ms, back_ms: 200 } };
  const calls = plan.calls.map(({ call }) => {
    const slow_call = { ...call, gateway, chunk_ms: draw.int(20, 150) };
    return { call: draw.unit() < 0.5 ? seeing(slow_call) : slow_call, at_ms: draw.unit() * 50 };
  });
  return { calls, blows: [slow, kill], weather: { ...plan.weather, 'ledger.sim': CALM } };
};

/** Callers with a key leave a gateway that does nothing and ask the other one; the first goes on when it was taken for dead. */
const stoodStill: Theme = (plan, draw) => {
  const gateway = draw.pick([0, 1] as const);
  const lasts_ms = draw.pick([9_000, 25_000, 100_000]);
  const freeze: Blow = { at_ms: draw.int(100, 2_500), what: { kind: 'freeze', gateway, lasts_ms } };
  const keyed: Partial<SimCall> = { habit: 'keyed', chunk_ms: 600, leave_after_ms: null, patience_ms: 3_000 };
  const themed = eachCall(plan, (call) => (isOpen(call.model) ? call : { ...call, ...keyed }));
  return { ...themed, blows: [...plan.blows, freeze] };
};

const BY_NAME: Readonly<Record<keyof typeof THEMES, Theme>> = {
  none: (plan) => plan,
  one_run: oneRun,
  one_balance: oneBalance,
  expensive,
  slow_ledger: slowLedger,
  stood_still: stoodStill,
};

/** As official clients ask, which repeat a call by themselves. A stream could begin on a first connection that stays, beside the second. */
function asClient({ budget: _, ...call }: SimCall, draw: Draw, key: string): SimCall {
  const stays = draw.unit() < 0.5;
  return {
    ...call,
    ...{ key, habit: 'retries', behaviour: 'ok', leave_after_ms: null, over_report: 0 },
    stream: call.stream && !stays,
    client: { gives_up_ms: draw.pick([3, 40, 400]), stays },
  };
}

const OWN_MODEL = 'crash/own';

/** Calls with a provider key of their organization's own, calls of its model without one, and calls by official clients. */
const withOwners: Theme = (plan, draw, { owner, client }) =>
  eachCall(plan, (call) => {
    const drawn = draw.unit();
    if (call.model.startsWith('sim/') || drawn < 0.2) return call;
    const model = draw.unit() < 0.6 ? OWN_MODEL : call.model;
    if (drawn < 0.6) return asClient({ ...call, model }, draw, client);
    return { ...call, model, key: drawn < 0.9 ? owner : call.key };
  });

/** Of the runs, whatever they are about. */
const WITH_OWNERS = 0.3;

/** All of a run, drawn from its seed. */
export function planRun(draw: Draw, keys: Keys): Plan {
  const plan: Plan = {
    calls: planCalls(draw, keys),
    blows: planBlows(draw),
    weather: { 'database.sim': planWeather(draw), 'ledger.sim': planWeather(draw) },
  };
  const themed = BY_NAME[draw.weighted(THEMES)](plan, draw, keys);
  return draw.unit() < WITH_OWNERS ? withOwners(themed, draw, keys) : themed;
}
