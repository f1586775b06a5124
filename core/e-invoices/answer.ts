// Reading what the portal says of a document, and comparing it with the document. Pure.

import type { EInvoice } from '../invoices/index.ts';
import { isObject, isSignedBy, type PublicKey } from '../kernel/index.ts';

/** A document as the portal has registered it. */
export interface Registration {
  readonly irn: string;
  readonly ack_no: string;
  readonly ack_at: Date;
  /** The signed QR code's text. */
  readonly qr: string;
}

export type PortalAnswer =
  | ({ readonly kind: 'registered' } & Registration)
  /** What is registered under this number is another document: `fields` are not equal. */
  | { readonly kind: 'differs'; readonly irn: string; readonly fields: readonly string[] }
  /** Registered before, and not shown any more, so that nobody can compare it. */
  | { readonly kind: 'hidden'; readonly irn: string | null; readonly code: string; readonly message: string }
  | { readonly kind: 'refused'; readonly irn: string | null; readonly code: string; readonly message: string }
  /** Neither: an answer with something missing. */
  | { readonly kind: 'unusable'; readonly reason: string };

type Json = Readonly<Record<string, unknown>>;

const IRN = /^[0-9a-f]{64}$/;
/** `2026-11-21 15:30:05`, in Kolkata. */
const ACK_TIME = /^(\d{4}-\d{2}-\d{2}) (\d{2}:\d{2}:\d{2})$/;

/** A member that is an object, or such an object as text, as some providers pass it on. */
function objectAt(from: Json, name: string): Json | null {
  const value = from[name];
  if (isObject(value)) return value;
  if (typeof value !== 'string') return null;
  try {
    const parsed: unknown = JSON.parse(value);
    return isObject(parsed) ? parsed : null;
  } catch {
    return null;
  }
}

/** The first of what may come as a list or as the one thing itself. */
function firstOf(value: unknown): Json | null {
  const first: unknown = Array.isArray(value) ? value[0] : value;
  return isObject(first) ? first : null;
}

/** What a signed text of the portal (a JWT) says; null when it is none. */
function signedData(token: unknown): Json | null {
  if (typeof token !== 'string') return null;
  const parts = token.split('.');
  if (parts.length !== 3 || parts.some((part) => part === '')) return null;
  try {
    const payload: unknown = JSON.parse(Buffer.from(parts[1] as string, 'base64url').toString('utf8'));
    return isObject(payload) ? objectAt(payload, 'data') : null;
  } catch {
    return null;
  }
}

/** Rupees as paise; null for what is no amount. */
function paise(value: unknown): number | null {
  const number = typeof value === 'string' && value !== '' ? Number(value) : value;
  return typeof number === 'number' && Number.isFinite(number) ? Math.round(number * 100) : null;
}

const sums = ['AssVal', 'CgstVal', 'SgstVal', 'IgstVal', 'TotInvVal'] as const;

/** The names of what is not equal between our document and the one that the portal has signed. */
function differences(document: EInvoice, invoice: Json, code: Json, irn: string): string[] {
  const { DocDtls, SellerDtls, BuyerDtls, ValDtls } = document;
  const said = objectAt(invoice, 'DocDtls') ?? {};
  const values = objectAt(invoice, 'ValDtls') ?? {};
  const pairs: readonly (readonly [string, unknown, unknown])[] = [
    ['DocDtls.Typ', DocDtls.Typ, said['Typ']],
    ['DocDtls.No', DocDtls.No, said['No']],
    ['DocDtls.Dt', DocDtls.Dt, said['Dt']],
    ['SellerDtls.Gstin', SellerDtls.Gstin, objectAt(invoice, 'SellerDtls')?.['Gstin']],
    ['BuyerDtls.Gstin', BuyerDtls.Gstin, objectAt(invoice, 'BuyerDtls')?.['Gstin']],
    ...sums.map((name) => [`ValDtls.${name}`, paise(ValDtls[name]), paise(values[name])] as const),
    ['QR.Irn', irn, code['Irn']],
    ['QR.DocNo', DocDtls.No, code['DocNo']],
    ['QR.DocTyp', DocDtls.Typ, code['DocTyp']],
    ['QR.DocDt', DocDtls.Dt, code['DocDt']],
    ['QR.SellerGstin', SellerDtls.Gstin, code['SellerGstin']],
    ['QR.BuyerGstin', BuyerDtls.Gstin, code['BuyerGstin']],
    ['QR.TotInvVal', paise(ValDtls.TotInvVal), paise(code['TotInvVal'])],
  ];
  return pairs.filter(([, ours, theirs]) => ours !== theirs).map(([name]) => name);
}

/** Keys that prove what the portal says; null: it is believed as it comes over TLS. */
export type PortalKeys = readonly PublicKey[] | null;

/** What is said of a document whose signature is not the portal's; nothing else of it is looked at. */
const UNSIGNED: PortalAnswer = {
  kind: 'refused',
  irn: null,
  code: 'signature',
  message: 'The answer is not signed by the portal. Compare SVC_EINVOICE_KEYS_FILE with its published key.',
};

function registered(data: Json, document: EInvoice, keys: PortalKeys): PortalAnswer {
  const { Irn: irn, AckNo, AckDt, SignedInvoice, SignedQRCode } = data;
  const ack_no = typeof AckNo === 'number' ? String(AckNo) : AckNo;
  if (typeof irn !== 'string' || !IRN.test(irn)) return { kind: 'unusable', reason: 'no IRN' };
  if (typeof ack_no !== 'string' || !/^\d{1,20}$/.test(ack_no))
    return { kind: 'unusable', reason: 'no AckNo' };
  const at = typeof AckDt === 'string' ? ACK_TIME.exec(AckDt) : null;
  const ack_at = new Date(at === null ? Number.NaN : Date.parse(`${at[1]}T${at[2]}+05:30`));
  if (Number.isNaN(ack_at.getTime())) return { kind: 'unusable', reason: 'no AckDt' };
  const [invoice, code] = [signedData(SignedInvoice), signedData(SignedQRCode)];
  if (invoice === null) return { kind: 'unusable', reason: 'no SignedInvoice' };
  if (code === null) return { kind: 'unusable', reason: 'no SignedQRCode' };
  const tokens = [SignedInvoice, SignedQRCode] as string[];
  if (keys !== null && !tokens.every((token) => isSignedBy(token, keys))) return UNSIGNED;
  const fields = differences(document, invoice, code, irn);
  if (fields.length > 0) return { kind: 'differs', irn, fields };
  return { kind: 'registered', irn, ack_no, ack_at, qr: SignedQRCode as string };
}

/** The number under which the portal says that a duplicate is registered; it writes this in two forms, or not at all. */
function duplicateIrn(body: Json): string | null {
  const info = firstOf(body['InfoDtls']);
  const irn = info === null ? undefined : firstOf(info['Desc'])?.['Irn'];
  return typeof irn === 'string' && IRN.test(irn) ? irn : null;
}

/** What `body` says of `document`; with `keys`, what they do not prove is not taken over. */
export function readAnswer(body: Json, document: EInvoice, keys: PortalKeys): PortalAnswer {
  if (String(body['Status']) === '1') {
    const data = objectAt(body, 'Data');
    return data === null ? { kind: 'unusable', reason: 'no Data' } : registered(data, document, keys);
  }
  const error = firstOf(body['ErrorDetails']);
  const code = error?.['ErrorCode'];
  if (typeof code !== 'string' && typeof code !== 'number')
    return { kind: 'unusable', reason: 'no error code' };
  const message = typeof error?.['ErrorMessage'] === 'string' ? error['ErrorMessage'].slice(0, 300) : '';
  return { kind: 'refused', irn: duplicateIrn(body), code: String(code), message };
}
