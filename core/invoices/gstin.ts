// The GSTIN: state, PAN, entity, `Z`, check character (docs/money/tax.md#the-gstin).
import { stateName } from './states.ts';

const FORM = /^\d{2}[A-Z]{5}\d{4}[A-Z][1-9A-Z]Z[0-9A-Z]$/;
const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ';

type GstinVerdict =
  | { readonly valid: true; readonly state_code: string; readonly pan: string }
  | { readonly valid: false; readonly reason: 'form' | 'state' | 'check' | 'pan' };

/** The check character that the first 14 characters of a GSTIN call for. */
function checkCharacter(first: string): string {
  let sum = 0;
  for (let i = 0; i < 14; i++) {
    const product = DIGITS.indexOf(first[i] as string) * (i % 2 === 0 ? 1 : 2);
    sum += Math.floor(product / 36) + (product % 36);
  }
  return DIGITS[(36 - (sum % 36)) % 36] as string;
}

/** Whether `text` is a GSTIN, and of which state; with `pan` also whether it belongs to that PAN. */
export function checkGstin(text: string, pan?: string | null): GstinVerdict {
  if (!FORM.test(text)) return { valid: false, reason: 'form' };
  const state_code = text.slice(0, 2);
  if (stateName(state_code) === null) return { valid: false, reason: 'state' };
  if (text[14] !== checkCharacter(text)) return { valid: false, reason: 'check' };
  const own_pan = text.slice(2, 12);
  if (pan !== undefined && pan !== null && pan !== own_pan) return { valid: false, reason: 'pan' };
  return { valid: true, state_code, pan: own_pan };
}
