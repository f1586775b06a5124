// Proves that the money is right, or says where it is not. Works on the database, or on a dump without one.
import { resolve } from 'node:path';
import { type VerifyReport, verifyLedger } from '@svc/core/ledger/index.ts';
import type { Command, Input } from '../command.ts';
import { staffContext } from '../context.ts';
import { databaseUrl, withDatabase } from '../installation.ts';
import { getOrg } from '../lookup.ts';

async function verify(input: Input): Promise<VerifyReport> {
  const org = input.find('org');
  const dump = input.find('dump');
  if (dump !== null) return verifyLedger({ dump: resolve(dump) }, org === null ? {} : { org_id: org });
  if (org === null) return verifyLedger({ url: databaseUrl() });
  const org_id = await withDatabase(async (pool) => (await getOrg(await staffContext(pool), org)).id);
  return verifyLedger({ url: databaseUrl() }, { org_id });
}

export const command: Command = {
  flags: {
    org: { type: 'text', doc: 'only this organization, id or slug (of a dump: id)', value: 'ORG' },
    dump: { type: 'text', doc: 'a folder of `svcctl ledger dump`, instead of the database', value: 'DIR' },
  },
  async run(input) {
    const started = performance.now();
    const report = await verify(input);
    const seconds = ((performance.now() - started) / 1000).toFixed(1);
    const { books, entries, meters, findings, more } = report;
    const lines = findings.map(({ book_id, check, message }) => `book ${book_id}: ${check}: ${message}`);
    if (more > 0) lines.push(`and ${more} more`);
    const counts = `${books} books, ${entries} entries, ${meters} metered calls (${seconds} s)`;
    lines.push(report.ok ? `right: ${counts}` : `NOT RIGHT: ${findings.length + more} findings in ${counts}`);
    return { json: report, text: lines.join('\n'), ok: report.ok };
  },
};
