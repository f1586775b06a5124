// The name in which a reseller sells to its customers (docs/resellers/invoices.md): who it is on their documents, and its own
// series of numbers. What was issued stays as it is.
import { writeAudit } from '../../identity/index.ts';
import { type Context, invalid, ServiceError } from '../../kernel/index.ts';
import { lockOrg } from '../../orgs/index.ts';
import { checkGstin } from '../gstin.ts';
import { financialYear } from '../number.ts';
import { isStateOfAddress } from '../states.ts';
import { lockIdentity, putIdentity, type SellerIdentity } from './identity-store.ts';
import { claimSeries, isSeriesUsed, releaseSeries } from './series-store.ts';

/** Prefixes of the documents and of the credit notes of a series. */
const formsOf = (series: string) => [series, `C${series}`];

function invalidGstin(reason: string, words: string): ServiceError {
  return new ServiceError('invalid_gstin', words, { param: 'gstin', details: { reason } });
}

/**
 * The identity with the PAN that its GSTIN names. @throws ServiceError invalid_gstin where the GSTIN is none, or not of the
 * state and PAN beside it; invalid_request for a state that no address has, and a letter of undertaking without GSTIN.
 */
function checkedIdentity(wanted: SellerIdentity): SellerIdentity {
  const { gstin, pan, state_code, lut } = wanted;
  if (!isStateOfAddress(state_code))
    throw invalid('state_code', 'unsupported', 'The state is given by the two digits of its GST code.');
  if (gstin === null) {
    if (lut === null) return wanted;
    throw invalid('lut', 'unsupported', 'Only a supplier with a GSTIN has a letter of undertaking.');
  }
  const verdict = checkGstin(gstin, pan);
  if (!verdict.valid) throw invalidGstin(verdict.reason, 'The GSTIN is not valid.');
  if (verdict.state_code !== state_code)
    throw invalidGstin('state_code', `The GSTIN is of the state ${verdict.state_code}, not ${state_code}.`);
  return { ...wanted, pan: verdict.pan };
}

/** Takes the series and that of its credit notes. @throws ServiceError already_exists where one is another supplier's. */
export async function takeSeries(context: Context, supplier: string, series: string): Promise<void> {
  // Both in one order, so that two who want each other's wait in a line and not in a circle.
  for (const form of formsOf(series).sort()) {
    if (await claimSeries(context.db, { supplier, series: form })) continue;
    const words = `Documents of another supplier are numbered ${form}, or may be. Choose another series.`;
    throw new ServiceError('already_exists', words, { param: 'series' });
  }
}

/** @throws ServiceError in_use where a document of this financial year has the series. */
async function leaveSeries(context: Context, supplier: string, series: string): Promise<void> {
  const fy = financialYear(context.now());
  if (await isSeriesUsed(context.db, { supplier, series: formsOf(series), fy })) {
    const words = `Documents of the financial year ${fy} are numbered ${series}: it can change in the next one.`;
    throw new ServiceError('in_use', words, { param: 'series', details: { series, fy } });
  }
  await releaseSeries(context.db, { supplier, series: formsOf(series) });
}

/**
 * Sets in which name a reseller sells to its customers, from the next price that they are told on.
 * @throws ServiceError invalid_gstin, invalid_request, already_exists, in_use.
 */
export function setIdentity(context: Context, wanted: SellerIdentity): Promise<SellerIdentity> {
  const identity = checkedIdentity(wanted);
  return context.transaction(async (context) => {
    const { db } = context;
    const { org_id, series } = identity;
    const org = await lockOrg(db, org_id);
    // Bookings hold the row while they use its series.
    const before = await lockIdentity(db, org_id);
    if (before === null || before.series !== series) {
      if (before !== null) await leaveSeries(context, org_id, before.series);
      await takeSeries(context, org_id, series);
    }
    await putIdentity(db, { ...identity, at: context.now() });
    const shown = ({ legal_name, state_code, gstin, series, enabled }: SellerIdentity) => ({
      ...{ legal_name, state_code, gstin, series, enabled },
    });
    await writeAudit(context, {
      ...{ action: 'reseller.invoicing.set', org_id },
      target: { type: 'org', id: org_id, display: org?.slug ?? org_id },
      ...(before === null ? {} : { before: shown(before) }),
      after: shown(identity),
    });
    return identity;
  });
}
