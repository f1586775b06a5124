// Which tax applies to a sale, and how much (docs/money/tax.md#who-is-taxed). Pure: supplier and recipient in, decision out.
import { mulDivHalfUp } from '../kernel/index.ts';
import type { Billing } from '../orgs/index.ts';
import { checkGstin } from './gstin.ts';
import { isStateOfAddress, placeOfSupply } from './states.ts';
import type { Supplier, TaxDecision, TaxParts } from './types.ts';

const ABROAD = '96-Other country';
const UNDER_LUT =
  'Supply meant for export/supply to SEZ unit or SEZ developer for authorised operations under bond or letter of ' +
  'undertaking without payment of integrated tax';
const WITH_TAX =
  'Supply meant for export/supply to SEZ unit or SEZ developer for authorised operations on payment of integrated tax';

/** The GST code of the recipient's state: of its GSTIN when that is valid, else of its address; null when unknown. */
function stateOf(recipient: Pick<Billing, 'gstin' | 'address'>): string | null {
  const verdict = recipient.gstin === null ? null : checkGstin(recipient.gstin);
  if (verdict?.valid === true) return verdict.state_code;
  const code = recipient.address?.state_code;
  return code !== undefined && isStateOfAddress(code) ? code : null;
}

/** Export or supply to a special economic zone: no tax under a letter of undertaking, else integrated tax on top. */
function zeroRated(supplier: Supplier): Pick<TaxDecision, 'split' | 'endorsement'> {
  if (supplier.lut === null) return { split: 'inter', endorsement: WITH_TAX };
  return { split: 'none', endorsement: `${UNDER_LUT} (LUT ${supplier.lut})` };
}

/**
 * How a supply of credits from `supplier` to `recipient` is taxed. Where an Indian recipient's state is unknown the
 * supplier's is taken and `state_known` is false: good for a quote, not for a document.
 */
export function decideTax(
  supplier: Supplier,
  recipient: Pick<Billing, 'country' | 'tax_status' | 'gstin' | 'address'>,
  gst_rate_bps: number,
): TaxDecision {
  const abroad = recipient.country !== 'IN';
  const state = abroad ? null : stateOf(recipient);
  const state_code = state ?? supplier.state_code;
  const place = abroad ? ABROAD : placeOfSupply(state_code);
  const state_known = abroad || state !== null;
  const about = { place_of_supply: place, state_code: abroad ? null : state_code, state_known };
  if (supplier.gstin === null) {
    return { ...about, kind: 'receipt', rate_bps: 0, split: 'none', endorsement: '' };
  }
  if (abroad || recipient.tax_status === 'sez') {
    const { split, endorsement } = zeroRated(supplier);
    const kind = abroad ? 'export_invoice' : 'tax_invoice';
    return { ...about, kind, rate_bps: split === 'none' ? 0 : gst_rate_bps, split, endorsement };
  }
  const split = state_code === supplier.state_code ? 'intra' : 'inter';
  return { ...about, kind: 'tax_invoice', rate_bps: gst_rate_bps, split, endorsement: '' };
}

/** The tax on `amount_minor` under a decision; each part rounded half up once, two equal halves within one state. */
export function taxOn(amount_minor: number, decision: Pick<TaxDecision, 'split' | 'rate_bps'>): TaxParts {
  const { split, rate_bps } = decision;
  if (split === 'inter') {
    return { cgst_minor: 0, sgst_minor: 0, igst_minor: mulDivHalfUp(amount_minor, rate_bps, 10_000) };
  }
  if (split === 'none') return { cgst_minor: 0, sgst_minor: 0, igst_minor: 0 };
  const half = mulDivHalfUp(amount_minor, rate_bps, 20_000);
  return { cgst_minor: half, sgst_minor: half, igst_minor: 0 };
}
