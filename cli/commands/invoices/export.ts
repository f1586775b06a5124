// Writes what an accountant files of a month: the sections of form GSTR-1 as CSV, and the list of all documents.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { listIssued, monthInKolkata, returnFiles } from '@svc/core/invoices/index.ts';
import type { Command } from '../../command.ts';
import { withDatabase } from '../../installation.ts';

export const command: Command = {
  flags: {
    month: {
      type: 'text',
      doc: 'the month, by the date in Kolkata',
      value: 'YYYY-MM',
      form: [/^20\d\d-(0[1-9]|1[0-2])$/, 'a month such as 2026-11'],
      required: true,
    },
    out: { type: 'text', doc: 'folder for the files; default: gstr1-MONTH here', value: 'DIR' },
  },
  example: 'svcctl invoices export --month 2026-11',
  async run(input) {
    const month = input.get('month');
    const folder = input.find('out') ?? `gstr1-${month}`;
    return withDatabase(async (pool) => {
      const documents = await listIssued(pool, { supplier_id: 'platform', ...monthInKolkata(month) });
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
