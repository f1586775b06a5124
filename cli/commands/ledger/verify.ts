// Proves that the ledger is consistent, or says where it is not. Reads the database, or a dump. Each ledger is
// verified by itself, because no snapshot spans several databases and no book is in two of them.
import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { checkCheckpoint, type Finding, type VerifyReport, verifyLedger } from '@svc/core/ledger/index.ts';
import { type Command, type Input, UsageError } from '../../command.ts';
import { staffContext } from '../../context.ts';
import { ledgerSigner, shards, withDatabase } from '../../installation.ts';
import { getOrg } from '../../lookup.ts';

interface Report extends Omit<VerifyReport, 'findings'> {
  readonly findings: readonly (Finding & { readonly shard?: string })[];
}

/** Verifies all ledgers, or the one that holds the books of an organization. */
async function verifyShards(org: string | null): Promise<Report> {
  const known = await shards();
  const found =
    org === null ? null : await withDatabase(async (pool) => getOrg(await staffContext(pool), org));
  const options = found === null ? {} : { org_id: found.id };
  const sum = { ok: true, books: 0, entries: 0, meters: 0, more: 0 };
  const findings: Report['findings'][number][] = [];
  for (const { name, url } of known) {
    if (found !== null && name !== found.shard) continue;
    const report = await verifyLedger({ url }, options);
    sum.ok &&= report.ok;
    for (const count of ['books', 'entries', 'meters', 'more'] as const) sum[count] += report[count];
    findings.push(...report.findings.map((one) => (known.length === 1 ? one : { shard: name, ...one })));
  }
  return { ...sum, findings };
}

/** The report with what is not as the checkpoint in `file` says. */
async function withCheckpoint(report: Report, file: string, key: string | null): Promise<Report> {
  const note = await readFile(file, 'utf8');
  const verifier_key = key ?? ledgerSigner().verifier_key;
  const { findings } = await withDatabase((pool) => checkCheckpoint(pool, note, verifier_key));
  return { ...report, ok: report.ok && findings.length === 0, findings: [...report.findings, ...findings] };
}

async function verify(input: Input): Promise<Report> {
  const org = input.find('org');
  const dump = input.find('dump');
  const checkpoint = input.find('checkpoint');
  if (checkpoint !== null) {
    if (org !== null || dump !== null)
      throw new UsageError('--checkpoint is about all books in the database: without --org and --dump');
    return withCheckpoint(await verifyShards(null), resolve(checkpoint), input.find('key'));
  }
  if (dump === null) return verifyShards(org);
  return verifyLedger({ dump: resolve(dump) }, org === null ? {} : { org_id: org });
}

export const command: Command = {
  flags: {
    org: { type: 'text', doc: 'only this organization, id or slug (of a dump: id)', value: 'ORG' },
    dump: { type: 'text', doc: 'a folder of `svcctl ledger dump`, instead of the database', value: 'DIR' },
    checkpoint: {
      type: 'text',
      doc: 'also compare with what was signed: a file of `svcctl ledger checkpoint`',
      value: 'FILE',
    },
    key: {
      type: 'text',
      doc: 'the verifier key of the checkpoint; without it that of this installation',
      value: 'KEY',
    },
  },
  async run(input) {
    const started = performance.now();
    const report = await verify(input);
    const seconds = ((performance.now() - started) / 1000).toFixed(1);
    const { books, entries, meters, findings, more } = report;
    const lines = findings.map(({ shard, book_id, check, message }) => {
      const book = shard === undefined ? `book ${book_id}` : `book ${book_id} of ${shard}`;
      return `${book}: ${check}: ${message}`;
    });
    if (more > 0) lines.push(`and ${more} more`);
    const counts = `${books} books, ${entries} entries, ${meters} metered calls (${seconds} s)`;
    lines.push(report.ok ? `right: ${counts}` : `NOT RIGHT: ${findings.length + more} findings in ${counts}`);
    return { json: report, text: lines.join('\n'), ok: report.ok };
  },
};
