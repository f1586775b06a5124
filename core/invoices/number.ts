// Numbers of documents (docs/money/tax.md#numbers): `PFX/yy-yy/nnnnn`, one series per supplier and financial year. Credit
// notes have a series of their own, `CPFX`.

/** India Standard Time is five and a half hours ahead of UTC and has no summer time. */
export const IST_MS = 5.5 * 3_600_000;
/** A document number is at most this long by law (rule 46 of the CGST Rules). */
const LENGTH_MAX = 16;

/** The day in Kolkata that holds `at`: `2026-11-21`. */
export function dayInKolkata(at: Date): string {
  return new Date(at.getTime() + IST_MS).toISOString().slice(0, 10);
}

/** The financial year, April to March by the date in Asia/Kolkata, that holds `at`: `26-27`. */
export function financialYear(at: Date): string {
  const local = new Date(at.getTime() + IST_MS);
  const first = local.getUTCMonth() >= 3 ? local.getUTCFullYear() : local.getUTCFullYear() - 1;
  return `${String(first % 100).padStart(2, '0')}-${String((first + 1) % 100).padStart(2, '0')}`;
}

/**
 * Number `no` of `series` in `fy`: at least five digits. @throws RangeError when it would exceed sixteen characters;
 * the supplier then needs a new series before more documents can be issued.
 */
export function documentNumber(args: { series: string; fy: string; no: number }): string {
  const number = `${args.series}/${args.fy}/${String(args.no).padStart(5, '0')}`;
  if (number.length > LENGTH_MAX) throw new RangeError(`the series ${args.series} of ${args.fy} is used up`);
  return number;
}

/** The series of the credit notes of documents numbered like `number`: `CINV` for `INV/26-27/00001`. */
export function creditNoteSeries(number: string): string {
  return `C${number.slice(0, number.indexOf('/'))}`;
}

/**
 * The first instant at which a credit note for a document of `issued_at` cannot reduce its tax any more: the end, in
 * Kolkata, of 30 November after the document's financial year (section 34(2) of the CGST Act).
 */
export function taxReductionEnd(issued_at: Date): Date {
  const local = new Date(issued_at.getTime() + IST_MS);
  const year_end = local.getUTCMonth() >= 3 ? local.getUTCFullYear() + 1 : local.getUTCFullYear();
  return new Date(Date.UTC(year_end, 11, 1) - IST_MS);
}

/** Name of a document's file: `INV-26-27-00001.pdf`. */
export function fileName(number: string, extension: 'pdf' | 'json'): string {
  return `${number.replaceAll(/[^A-Za-z0-9]+/g, '-')}.${extension}`;
}
