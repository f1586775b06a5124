// What calls could have cost less, from rows and prices alone. Pure. A call counts only where its row and the present price of its
// endpoint give exactly what was charged, so that each amount can be computed again.
import type { Catalog, Endpoint, PriceVersion } from '../../catalog/index.ts';
import { price, type Usage } from '../../pricing/index.ts';
import type { AdvisedCall } from './store.ts';

export const adviceKinds = ['cache_reads_missed', 'retries_paid', 'dearer_endpoint'] as const;
type AdviceKind = (typeof adviceKinds)[number];

/** A group of calls for which one thing is said. */
export interface Finding {
  readonly kind: AdviceKind;
  readonly model: string;
  /** Of a finding about a key alone. */
  readonly key_id: string | null;
  readonly endpoint: Endpoint;
  /** The cheaper endpoint; null for a finding about the cache. */
  readonly instead: Endpoint | null;
  readonly saving_micro: number;
  readonly numbers: Readonly<Record<string, number>>;
}

type Prices = Pick<Catalog, 'endpoints'>;

function usageOf(call: AdvisedCall): Usage {
  const { input_tokens, output_tokens, cache_read_tokens, cache_write_tokens, reasoning_tokens } = call;
  return {
    ...{ input_tokens, output_tokens, cache_read_tokens, cache_write_tokens, reasoning_tokens },
    source: 'provider',
  };
}

const costAt = (usage: Usage, version: PriceVersion) => price(usage, version).total_micro_usd;

/** The endpoint that answered, where its present price gives what was charged; null elsewhere. */
function provenEndpoint(call: AdvisedCall, { endpoints }: Prices): Endpoint | null {
  const endpoint = endpoints.get(call.endpoint_id as Endpoint['id']);
  if (endpoint === undefined || call.byok || endpoint.price.id !== call.price_version_id) return null;
  return costAt(usageOf(call), endpoint.price) === call.cost_micro ? endpoint : null;
}

/** An active endpoint of the same model. Whether its credentials are here is known to gateways alone; it was in the plan. */
function usable(
  id: string | undefined,
  { model_id, id: own }: Endpoint,
  { endpoints }: Prices,
): Endpoint | null {
  const found = endpoints.get(id as Endpoint['id']);
  if (found === undefined || found.id === own || found.model_id !== model_id) return null;
  return found.status === 'active' ? found : null;
}

/** The endpoint of the plan at which the call would have cost least, where that is less than it did. */
function cheapest(call: AdvisedCall, endpoint: Endpoint, prices: Prices): Endpoint | null {
  let best: Endpoint | null = null;
  let least = call.cost_micro;
  for (const id of call.plan) {
    const other = usable(id, endpoint, prices);
    const cost = other === null ? least : costAt(usageOf(call), other.price);
    if (cost < least) [best, least] = [other, cost];
  }
  return best;
}

interface Moved {
  readonly kind: AdviceKind;
  readonly endpoint: Endpoint;
  readonly instead: Endpoint;
}

/** Where a call that was answered could have been cheaper; null where nothing proves it. */
function movedFrom(call: AdvisedCall, prices: Prices): Moved | null {
  const endpoint = call.status === 'ok' ? provenEndpoint(call, prices) : null;
  if (endpoint === null) return null;
  if (call.attempts === 1) {
    const instead = cheapest(call, endpoint, prices);
    return instead && { kind: 'dearer_endpoint', endpoint, instead };
  }
  // Of attempts that raced the slower one did not fail, and whoever left was not refused.
  if (['ok', 'hedge_lost', 'cancelled'].includes(call.first_outcome ?? 'ok')) return null;
  const first = usable(call.tried[0], endpoint, prices);
  if (first === null || costAt(usageOf(call), first.price) >= call.cost_micro) return null;
  return { kind: 'retries_paid', endpoint, instead: first };
}

function endpointFindings(calls: readonly AdvisedCall[], prices: Prices): Finding[] {
  const findings = new Map<string, Finding & { numbers: Record<string, number> }>();
  for (const call of calls) {
    const moved = movedFrom(call, prices);
    if (moved === null) continue;
    const { kind, endpoint, instead } = moved;
    const key = `${kind} ${endpoint.id} ${instead.id} ${call.model}`;
    const before = findings.get(key)?.numbers ?? { calls: 0, cost_micro: 0, instead_micro: 0 };
    const numbers = {
      calls: (before['calls'] ?? 0) + 1,
      cost_micro: (before['cost_micro'] ?? 0) + call.cost_micro,
      instead_micro: (before['instead_micro'] ?? 0) + costAt(usageOf(call), instead.price),
    };
    const saving_micro = numbers.cost_micro - numbers.instead_micro;
    findings.set(key, { ...moved, model: call.model, key_id: null, saving_micro, numbers });
  }
  return [...findings.values()];
}

/** What caching has cost a call more, and less, than reading its whole prompt anew. */
function cacheBalance(call: AdvisedCall, { price: version }: Endpoint) {
  const usage = usageOf(call);
  const { input_tokens, cache_read_tokens, cache_write_tokens } = usage;
  const unwritten = { ...usage, input_tokens: input_tokens + cache_write_tokens, cache_write_tokens: 0 };
  const unread = { ...usage, input_tokens: input_tokens + cache_read_tokens, cache_read_tokens: 0 };
  return {
    surcharge: call.cost_micro - costAt(unwritten, version),
    saved: costAt(unread, version) - call.cost_micro,
  };
}

/** Of a key and a model: what was written to a cache and cost more than what was read from it has saved. */
function cacheFindings(calls: readonly AdvisedCall[], prices: Prices): Finding[] {
  const groups = Map.groupBy(calls, ({ key_id, model }) => `${key_id} ${model}`);
  return [...groups.values()].flatMap((group) => {
    const proven = group.map((call) => ({ call, endpoint: provenEndpoint(call, prices) }));
    // A call that cannot be computed again may have read what the others have written.
    if (
      proven.some(
        ({ call, endpoint }) => endpoint === null && call.cache_read_tokens + call.cache_write_tokens > 0,
      )
    )
      return [];
    const numbers = { cache_write_tokens: 0, cache_read_tokens: 0 };
    const money = { write_surcharge_micro: 0, read_saving_micro: 0 };
    for (const { call, endpoint } of proven) {
      numbers.cache_write_tokens += call.cache_write_tokens;
      numbers.cache_read_tokens += call.cache_read_tokens;
      if (endpoint === null) continue;
      const { surcharge, saved } = cacheBalance(call, endpoint);
      money.write_surcharge_micro += surcharge;
      money.read_saving_micro += saved;
    }
    const writer = proven.find(({ call, endpoint }) => endpoint !== null && call.cache_write_tokens > 0);
    const saving_micro = money.write_surcharge_micro - money.read_saving_micro;
    if (!writer?.endpoint || saving_micro <= 0) return [];
    const { model, key_id } = writer.call;
    const { endpoint } = writer;
    return [
      {
        kind: 'cache_reads_missed' as const,
        model,
        key_id,
        endpoint,
        instead: null,
        saving_micro,
        numbers: { ...numbers, ...money },
      },
    ];
  });
}

/** All that rows prove, the largest saving first. `whole_hours`: the calls are all of their hours, which sums are asked by. */
export function advise(calls: readonly AdvisedCall[], prices: Prices, whole_hours: boolean): Finding[] {
  const findings = [...endpointFindings(calls, prices), ...(whole_hours ? cacheFindings(calls, prices) : [])];
  return findings.sort((a, b) => b.saving_micro - a.saving_micro || (a.model < b.model ? -1 : 1));
}
