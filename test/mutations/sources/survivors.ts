// Changes to the files of `groups.ts` that no test notices, each with the reason.
import { ofRates } from './survivors-rates.ts';
import { ofTopups } from './survivors-topups.ts';
import { ofVerifier } from './survivors-verify.ts';

/** Text of a file that was replaced. */
export interface Change {
  readonly file: string;
  readonly text: string;
  readonly to: string;
}

export interface Survivor extends Change {
  readonly why: string;
}

export const survivors: readonly Survivor[] = [
  {
    file: 'core/pricing/price.ts',
    text: '[]',
    to: '["Stryker was here"]',
    why: 'what has no kind is filtered out of the parts of input and output',
  },
  {
    file: 'core/pricing/price.ts',
    text: 'fits(usage.input_tokens, usage.output_tokens)',
    to: 'false',
    why: 'a short cut: the search ends at the same counts',
  },
  {
    file: 'core/pricing/price.ts',
    text: 'output >= 0',
    to: 'output > 0',
    why: 'with no output left the search for input begins with all of it, which fits',
  },
  {
    file: 'core/pricing/size.ts',
    text: 'bytes === text.length',
    to: 'false',
    why: 'a short cut: text of one byte a unit has no unit beyond Latin',
  },
  {
    file: 'core/pricing/size.ts',
    text: 'i < text.length',
    to: 'i <= text.length',
    why: 'the unit behind the end is NaN, which no comparison holds of',
  },
  {
    file: 'core/pricing/token-ratio.ts',
    text: 'bytes <= 0',
    to: 'false',
    why: 'a short cut: nothing has more tokens than bytes',
  },
  {
    file: 'core/pricing/token-ratio.ts',
    text: 'bytes <= 0',
    to: 'bytes < 0',
    why: 'a short cut: nothing has more tokens than bytes',
  },
  {
    file: 'core/ledger/checkpoint/merkle.ts',
    text: 'top.height + 1',
    to: 'top.height - 1',
    why: 'heights are only compared with each other',
  },
  {
    file: 'core/ledger/checkpoint/blocks.ts',
    text: '[]',
    to: '["Stryker was here"]',
    why: 'what has no number is no book: no block is read of it',
  },
  {
    file: 'core/ledger/checkpoint/proof.ts',
    text: '-1',
    to: '+1',
    why: 'the book is among those of the checkpoint that covers it',
  },
  {
    file: 'core/ledger/journal/journal.ts',
    text: `''`,
    to: '"Stryker was here!"',
    why: 'no process has either as its start',
  },
  {
    file: 'core/ledger/journal/journal.ts',
    text: "{\n    return '';\n  }",
    to: '{}',
    why: 'neither is the start of a process',
  },
  {
    file: 'core/ledger/journal/journal.ts',
    text: 'nowMs() - found.mtimeMs > FOREIGN_STALE_MS',
    to: 'nowMs() - found.mtimeMs >= FOREIGN_STALE_MS',
    why: 'at the very millisecond either is right',
  },
  {
    file: 'core/ledger/journal/journal.ts',
    text: 'entry.slice(0, 8)',
    to: 'entry',
    why: 'a number ends at the blank behind it',
  },
  {
    file: 'core/ledger/journal/journal.ts',
    text: `(error: unknown) => this.log.warn({ error }, 'journal: an acknowledgement was not written')`,
    to: '() => undefined',
    why: 'a disk that takes no more of an open file cannot be had here; the line too many is harmless',
  },
  {
    file: 'core/ledger/journal/journal.ts',
    text: '{ error }',
    to: '{}',
    why: 'a disk that takes no more of an open file cannot be had here',
  },
  {
    file: 'core/ledger/journal/journal.ts',
    text: 'ours.delete(path);',
    to: ';',
    why: 'a name that no file has is in nobody’s way',
  },
  {
    file: 'core/ledger/journal/journal.ts',
    text: '() => null',
    to: '() => undefined',
    why: 'neither is the number of a file',
  },
  {
    file: 'core/ledger/journal/journal.ts',
    text: "{\n  const handle = await open(dir, 'r');\n  try {\n    await handle.sync();\n  } finally {\n    await handle.close();\n  }\n}",
    to: '{}',
    why: 'that a name is on disk shows where power fails',
  },
  {
    file: 'core/ledger/journal/journal.ts',
    text: '{\n    await handle.sync();\n  }',
    to: '{}',
    why: 'that a name is on disk shows where power fails',
  },
  {
    file: 'core/ledger/journal/journal.ts',
    text: `'_'`,
    to: '""',
    why: 'the name of this host has no letter that is replaced',
  },
  {
    file: 'core/ledger/checkpoint/take.ts',
    text: 'book_id <= last',
    to: 'book_id < last',
    why: 'the last book of a page is there',
  },
  {
    file: 'core/ledger/checkpoint/take.ts',
    text: '[]',
    to: '["Stryker was here"]',
    why: 'what has no number is no book: no block is read of it',
  },
  {
    file: 'core/ledger/checkpoint/take.ts',
    text: 'moved.length > 0',
    to: 'true',
    why: 'a short cut: a statement that adds no row',
  },
  {
    file: 'core/ledger/checkpoint/take.ts',
    text: 'moved.length > 0',
    to: 'moved.length >= 0',
    why: 'a short cut: a statement that adds no row',
  },
  {
    file: 'core/ledger/batch/batch.ts',
    text: 'day !== monthDay',
    to: 'true',
    why: 'a short cut: the month is reckoned again',
  },
  {
    file: 'core/ledger/batch/batch.ts',
    text: '-1',
    to: '+1',
    why: 'of that day, of 1970, the month begins at 0 too',
  },
  {
    file: 'core/ledger/batch/batch.ts',
    text: 'new Array<number>(n)',
    to: 'new Array()',
    why: 'how long it will be is a hint',
  },
  {
    file: 'core/ledger/batch/batch.ts',
    text: '(subject * 2 + kind - 1) * 65_536 + start',
    to: '(subject * 2 + kind - 1) * 65_536 - start',
    why: 'another number, and as different from all others',
  },
  {
    file: 'core/ledger/batch/batch.ts',
    text: 'subject * 2 + kind - 1',
    to: 'subject * 2 + kind + 1',
    why: 'another number, and as different from all others',
  },
  {
    file: 'core/ledger/batch/batch.ts',
    text: 'subject * 2 + kind',
    to: 'subject * 2 - kind',
    why: 'another number, and as different from all others',
  },
  {
    file: 'core/ledger/batch/batch.ts',
    text: 'known !== undefined',
    to: 'true',
    why: 'nothing is not above any number',
  },
  {
    file: 'core/ledger/batch/encode.ts',
    text: '-1',
    to: '+1',
    why: 'an id has the shape of one before it is encoded',
  },
  {
    file: 'core/ledger/batch/encode.ts',
    text: 'i < 32',
    to: 'i <= 32',
    why: 'the letter behind the last is NaN, at which an array of bytes keeps nothing',
  },
  {
    file: 'core/ledger/batch/encode.ts',
    text: 'i < 26',
    to: 'i <= 26',
    why: 'the letter behind the last makes no whole byte',
  },
  {
    file: 'core/ledger/checkpoint/note.ts',
    text: '[]',
    to: '["Stryker was here"]',
    why: 'what has no name is no verifier key, and has no key either',
  },
  {
    file: 'core/ledger/checkpoint/note.ts',
    text: "''",
    to: '"Stryker was here!"',
    why: 'what has no name is no verifier key, and has no key either',
  },
  {
    file: 'core/ledger/checkpoint/note.ts',
    text: 'name === undefined',
    to: 'false',
    why: 'what has no name is no verifier key, and has no key either',
  },
  {
    file: 'core/topups/billing.ts',
    text: 'org === null || now === undefined',
    to: 'org === null && now === undefined',
    why: 'an organization and its record are there together',
  },
  {
    file: 'core/topups/billing.ts',
    text: 'org === null',
    to: 'false',
    why: 'an organization and its record are there together',
  },
  {
    file: 'core/topups/billing.ts',
    text: 'now === undefined',
    to: 'false',
    why: 'an organization and its record are there together',
  },
  {
    file: 'core/ledger/lease/lease.ts',
    text: 'before !== 0',
    to: 'true',
    why: 'no lease has the number 0, so its renewal finds none and a new one is taken',
  },
  {
    file: 'core/ledger/tasks/apply.ts',
    text: "debited.status === 'refused'",
    to: 'false',
    why: 'the other fields are absent then, and what is kept is JSON, which leaves them out',
  },
  {
    file: 'core/ledger/tasks/apply.ts',
    text: "'refused'",
    to: '""',
    why: 'the other fields are absent then, and what is kept is JSON, which leaves them out',
  },
  {
    file: 'core/ledger/tasks/apply.ts',
    text: "restored.status === 'nothing'",
    to: 'false',
    why: 'the other fields are absent then, and what is kept is JSON, which leaves them out',
  },
  {
    file: 'core/ledger/tasks/apply.ts',
    text: "'nothing'",
    to: '""',
    why: 'the other fields are absent then, and what is kept is JSON, which leaves them out',
  },
  {
    file: 'core/ledger/tasks/apply.ts',
    text: "charged.status !== 'taken'",
    to: 'false',
    why: 'the other fields are absent then, and what is kept is JSON, which leaves them out',
  },
  {
    file: 'core/ledger/tasks/apply.ts',
    text: "'stuck'",
    to: '""',
    why: 'whoever asks looks whether it is done, or away',
  },
  {
    file: 'core/ledger/tasks/apply.ts',
    text: 'result !== null',
    to: 'true',
    why: 'a credit is always answered',
  },
  {
    file: 'core/ledger/runs/name.ts',
    text: '/^(.{8})(.{4})(.{4})(.{4})/',
    to: '/(.{8})(.{4})(.{4})(.{4})/',
    why: 'what is found first begins at the beginning, which has no line breaks',
  },
  {
    file: 'core/ledger/tasks/order.ts',
    text: 'books !== undefined',
    to: 'false',
    why: 'each order looks at its book then, the later ones in vain',
  },
  {
    file: 'core/ledger/tasks/order.ts',
    text: 'ordered.set(context.db, first);',
    to: ';',
    why: 'each order looks at its book then, the later ones in vain',
  },
  {
    file: 'core/ledger/tasks/order.ts',
    text: 'first === null',
    to: 'false',
    why: 'an order whose reference is taken has one before it',
  },
  {
    file: 'core/ledger/tasks/order.ts',
    text: `throw new Error(\`the order \${args.reference} is there and is not\`);`,
    to: ';',
    why: 'an order whose reference is taken has one before it',
  },
  {
    file: 'core/ledger/batch/target.ts',
    text: 'leadsToSpread(client)',
    to: 'false',
    why: 'of a Citus cluster: `make citus` runs the suites of the ledger against one',
  },
  {
    file: 'core/ledger/client.ts',
    text: '[]',
    to: '["Stryker was here"]',
    why: 'what is no timer is not ended',
  },
  {
    file: 'core/ledger/client.ts',
    text: 'batcher.size > 0',
    to: 'true',
    why: 'a batcher without items finds none that are late',
  },
  {
    file: 'core/ledger/client.ts',
    text: 'batcher.size > 0',
    to: 'batcher.size >= 0',
    why: 'a batcher without items finds none that are late',
  },
  {
    file: 'core/ledger/client.ts',
    text: 'this.hints.size > MAX_HINTS',
    to: 'false',
    why: 'a bound of memory: no test has so many books',
  },
  {
    file: 'core/ledger/client.ts',
    text: 'this.hints.size > MAX_HINTS',
    to: 'this.hints.size >= MAX_HINTS',
    why: 'a bound of memory: no test has so many books',
  },
  {
    file: 'core/ledger/client.ts',
    text: 'this.hints.clear();',
    to: ';',
    why: 'a bound of memory: no test has so many books',
  },
  {
    file: 'core/ledger/client.ts',
    text: 'this.own.has(settle.request_id)',
    to: 'true',
    why: 'giving back what is not held changes nothing',
  },
  ...ofRates,
  ...ofTopups,
  ...ofVerifier,
];

export function isKnown({ file, text, to }: Change): boolean {
  return survivors.some((known) => known.file === file && known.text === text && known.to === to);
}
