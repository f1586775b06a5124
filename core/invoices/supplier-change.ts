// What staff decide about the seller: who it is on documents, and the rate of tax by day (docs/money/supplier.md). What was
// issued stays as it is.
import { readSetting, writeSetting } from '../db/index.ts';
import { writeAudit } from '../identity/index.ts';
import { type Context, invalid, ServiceError } from '../kernel/index.ts';
import { checkGstin } from './gstin.ts';
import { dayInKolkata, IST_MS } from './number.ts';
import { type GstRate, hasDocumentsSince, putGstRate } from './rate-store.ts';
import { takeSeries } from './sellers/identity.ts';
import { isStateOfAddress } from './states.ts';
import { readSupplier } from './supplier.ts';
import type { Supplier } from './types.ts';

/** What changes of the supplier; what is left out stays. */
export interface SupplierChange {
  readonly legal_name?: string;
  readonly address?: readonly string[];
  /** Taken from the GSTIN where there is one. */
  readonly state_code?: string;
  readonly gstin?: string | null;
  readonly lut?: string | null;
  readonly series?: string;
  readonly sac?: string;
  /** Whether documents are registered; it needs a GSTIN and an address with a PIN code. */
  readonly e_invoicing?: boolean;
}

const LINES_MAX = 6;

/** The state and PAN that a GSTIN names, over what was said of them. @throws ServiceError invalid_gstin. */
function registered(supplier: Supplier): Supplier {
  const { gstin } = supplier;
  if (gstin === null) return { ...supplier, pan: null };
  const verdict = checkGstin(gstin);
  if (!verdict.valid) {
    const details = { reason: verdict.reason };
    throw new ServiceError('invalid_gstin', 'The GSTIN is not valid.', { param: 'gstin', details });
  }
  return { ...supplier, state_code: verdict.state_code, pan: verdict.pan };
}

/** @throws ServiceError invalid_request for what no document could show. */
function check(supplier: Supplier): void {
  const { legal_name, address, state_code, series, sac, lut, gstin } = supplier;
  if (legal_name === '') throw invalid('legal_name', 'missing', 'A supplier has a legal name.');
  if (address.length === 0 || address.length > LINES_MAX || address.some((line) => line === '')) {
    throw invalid('address', 'out_of_range', `The address has one to ${LINES_MAX} lines.`);
  }
  if (!isStateOfAddress(state_code)) {
    throw invalid('state_code', 'unsupported', 'The state is given by the two digits of its GST code.');
  }
  if (!/^[A-Z][A-Z0-9]{0,2}$/.test(series)) {
    throw invalid('series', 'pattern', 'A prefix is one to three of A-Z and 0-9, the first a letter.');
  }
  if (!/^\d{6}$/.test(sac)) throw invalid('sac', 'pattern', 'A service accounting code has six digits.');
  if (lut !== null && gstin === null) {
    throw invalid('lut', 'unsupported', 'Only a supplier with a GSTIN has a letter of undertaking.');
  }
  if (supplier.e_invoicing !== true) return;
  if (gstin === null)
    throw invalid('e_invoicing', 'unsupported', 'Only a supplier with a GSTIN registers its documents.');
  if (!address.some((line) => /\b[1-9]\d{5}\b/.test(line)))
    throw invalid(
      'address',
      'missing',
      'Documents are registered with the PIN code of the address: six digits.',
    );
}

/**
 * Changes the supplier; the next top-up is sold in its name and its document shows it. The demo supplier lends nothing
 * to a real one: the first change names everything a document needs.
 * @throws ServiceError invalid_request, invalid_gstin, already_exists for a series of a reseller.
 */
export function setSupplier(context: Context, change: SupplierChange): Promise<Supplier> {
  return context.transaction(async (context) => {
    const { db } = context;
    const before = await readSetting<Supplier>(db, 'supplier');
    const bare = { legal_name: '', address: [], state_code: '', gstin: null, pan: null, lut: null };
    const known =
      before === null
        ? { ...bare, series: 'INV', sac: '998315', e_invoicing: false }
        : (await readSupplier(db)).supplier;
    const supplier = registered({ ...known, ...change, supplier_id: 'platform' });
    check(supplier);
    await takeSeries(context, 'platform', supplier.series);
    const { supplier_id, ...value } = supplier;
    await writeSetting(db, { name: 'supplier', value, at: context.now() });
    const target = { type: 'supplier', id: supplier_id, display: supplier.legal_name };
    const was = before === null ? {} : { before: { ...before } };
    await writeAudit(context, { action: 'staff.supplier.set', org_id: null, target, ...was, after: value });
    return supplier;
  });
}

/**
 * Sets the rate of GST from a day on, in Kolkata, until the next day with a rate. Documents that were issued keep theirs,
 * so the day must not have any yet. @throws ServiceError conflict, invalid_request for what is no day.
 */
export function setGstRate(context: Context, rate: GstRate): Promise<void> {
  return context.transaction(async (context) => {
    const { from_day, rate_bps } = rate;
    const begin = new Date(Date.parse(`${from_day}T00:00:00Z`) - IST_MS);
    if (Number.isNaN(begin.getTime()) || dayInKolkata(begin) !== from_day) {
      throw invalid('from_day', 'pattern', 'The day is written as 2027-04-01.');
    }
    if (await hasDocumentsSince(context.db, begin)) {
      const words = `Documents were issued on ${from_day} or later: a rate begins on a day that has none yet.`;
      throw new ServiceError('conflict', words, { param: 'from_day' });
    }
    await putGstRate(context.db, { ...rate, at: context.now() });
    const target = { type: 'gst_rate', id: from_day, display: `${rate_bps / 100} % from ${from_day}` };
    await writeAudit(context, { action: 'staff.gst_rate.set', org_id: null, target, after: { ...rate } });
  });
}
