// Recomputes the charge of one call. The price function, applied to the units in the call's metering record and the
// price version that it names, must give exactly the cost that was settled.
import { findPriceVersion } from '@svc/core/catalog/index.ts';
import type { Pool } from '@svc/core/db/index.ts';
import { isRequestId, type RequestId, ServiceError } from '@svc/core/kernel/index.ts';
import { type Metered, meteredUsage, readMeter } from '@svc/core/ledger/index.ts';
import { type Recomputed, recompute } from '@svc/core/pricing/index.ts';
import { type Command, UsageError } from '../command.ts';
import { withDatabase } from '../installation.ts';

function verdictOf(metered: Metered, { exact, cost }: Recomputed): { ok: boolean; sentence: string } {
  const { cost_micro_usd, charged_micro_usd } = metered;
  if (!exact)
    return {
      ok: false,
      sentence: `DIFFERS: settled ${cost_micro_usd}, recomputed ${cost.total_micro_usd}`,
    };
  if (charged_micro_usd > cost_micro_usd) return { ok: false, sentence: 'CHARGED MORE than the cost' };
  const sentence = metered.units.other?.insured === 1 ? 'right; an insured answer costs nothing' : 'right';
  if (charged_micro_usd < cost_micro_usd)
    return { ok: true, sentence: `${sentence}; ${cost_micro_usd - charged_micro_usd} of it was written off` };
  return { ok: true, sentence };
}

/** A request id does not identify the organization, so the call is looked for in one ledger after another. */
async function findMeter({ shards }: Pool, id: RequestId): Promise<Metered | null> {
  for (const name of shards.names) {
    const metered = await readMeter(shards.at(name), id);
    if (metered !== null) return metered;
  }
  return null;
}

export const command: Command = {
  positionals: [
    { name: 'REQUEST_ID', doc: 'id of the call, 26 characters (x-svc-request-id)', required: true },
  ],
  async run(input) {
    const id = input.positionals[0] as string;
    if (!isRequestId(id)) throw new UsageError(`${JSON.stringify(id)} is not a request id`);
    return withDatabase(async (pool) => {
      const metered = await findMeter(pool, id);
      if (metered === null) throw new ServiceError('not_found', `No call ${id} was settled.`);
      const version = await findPriceVersion(pool, metered.price_no);
      if (version === null)
        throw new Error(`the price version of the call (number ${metered.price_no}) is gone`);
      const of = meteredUsage(metered);
      const recomputed = recompute(of, version, metered.cost_micro_usd);
      const { source: _, ...usage } = of.usage;
      const { cost } = recomputed;
      const { ok, sentence } = verdictOf(metered, recomputed);
      const lines = cost.lines.map(
        ({ kind, units, unit_price_nano, micro_usd }) =>
          `${kind.padEnd(14)} ${String(units).padStart(10)} x ${String(unit_price_nano).padStart(8)} nano-USD = ${micro_usd}`,
      );
      return {
        json: {
          ok,
          verdict: recomputed.exact ? 'exact' : 'differs',
          request_id: id,
          price_version: version.id,
          usage,
          insured: of.insured,
          estimated: metered.estimated,
          settled_micro_usd: metered.cost_micro_usd,
          charged_micro_usd: metered.charged_micro_usd,
          recomputed_micro_usd: cost.total_micro_usd,
          lines: cost.lines,
        },
        text: [...lines, `total ${cost.total_micro_usd} micro-USD at ${version.id}: ${sentence}`].join('\n'),
        ok,
      };
    });
  },
};
