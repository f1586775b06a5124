// Writes what an accountant files of a month: the sections of form GSTR-1 as CSV, and the list of all documents; ours, or
// those in the name of a reseller.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { listIssued, monthInKolkata, returnFiles } from '@svc/core/invoices/index.ts';
import type { Command } from '../../command.ts';
import { staffContext } from '../../context.ts';
import { withDatabase } from '../../installation.ts';
import { getOrg } from '../../lookup.ts';

export const command: Command = {
  flags: {
    month: {
      type: 'text',
      doc: 'the month, by the date in Kolkata',
      value: 'YYYY-MM',
      form: [/^20\d\d-(0[1-9]|1[0-2])$/, 'a month such as 2026-11'],
      required: true,
    },
    org: {
      type: 'text',
      doc: 'a reseller, by id or slug: documents in its name; default: ours',
      value: 'ORG',
    },
    out: { type: 'text', doc: 'folder for the files; default: gstr1-MONTH here', value: 'DIR' },
  },
  example: 'svcctl invoices export --month 2026-11',
  async run(input) {
    const month = input.get('month');
    const reseller = input.find('org') ?? null;
    return withDatabase(async (pool) => {
      const org = reseller === null ? null : await getOrg(await staffContext(pool), reseller);
      const folder = input.find('out') ?? `gstr1-${org === null ? '' : `${org.slug}-`}${month}`;
      const supplier_id = org?.id ?? 'platform';
      const documents = await listIssued(pool, { supplier_id, ...monthInKolkata(month) });
      const files = returnFiles(documents);
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      for (const [name, text] of files) writeFileSync(join(folder, name), text, { mode: 0o600 });
      const names = [...files.keys()];
      const unconverted = documents.filter(
        ({ currency, inr_rate }) => currency !== 'INR' && inr_rate === null,
      );
      const warning = unconverted.map(({ number }) => `${number} has no rate to rupees: convert it by hand`);
      const text = [
        `${documents.length} documents of ${month} in ${folder}: ${names.join(', ')}`,
        ...warning,
      ];
      return {
        json: { month, folder, documents: documents.length, files: names, unconverted: unconverted.length },
        text: text.join('\n'),
      };
    });
  },
};
