// README.txt of an export, for a person who has nothing but the archive.
import type { OrgRecord } from '../orgs/index.ts';
import type { RowFile } from './types.ts';

const WIDTH = 26;
const MONEY = [
  'Amounts end with their unit: _micro_usd and _micro are millionths of a US dollar, _minor is the smallest',
  'unit of the currency (cents, paise). Times are UTC.',
];

function lineOf({ name, about, route }: RowFile): string {
  const path = `${name}.ndjson`.padEnd(WIDTH);
  return `${path} ${about}${route === null ? '' : `\n${' '.repeat(WIDTH + 1)}Fields: ${route}`}`;
}

/** The text. */
export function readmeText(org: Pick<OrgRecord, 'id' | 'slug' | 'name'>, files: readonly RowFile[]): string {
  return [
    `Export of the organization ${org.name} (${org.slug}, ${org.id})`,
    '',
    'Each file ends in .ndjson: every line is one object as JSON, in UTF-8, with the fields of the route that is',
    'named with it. Files of both environments begin each line with "environment", live or test.',
    ...MONEY,
    '',
    ...files.map(lineOf),
    `${'invoices/*.pdf'.padEnd(WIDTH)} Invoices and credit notes as they were sent.`,
    `${'manifest.json'.padEnd(WIDTH)} The last file: each of the others with its lines, its size and its SHA-256.`,
    '',
    'An archive without manifest.json is not whole: make another export. To check one that is:',
    '',
    `  python3 -c "import json,hashlib;[print(f['path'], hashlib.sha256(open(f['path'],'rb').read()).hexdigest()==f['sha256']) for f in json.load(open('manifest.json'))['files']]"`,
    '',
    'Rows are read one page after the other while the archive is sent, newest first, so what happened meanwhile may',
    'be in a later file and not in an earlier one. Secrets (of keys, webhooks, single sign-on) are not in it.',
    '',
  ].join('\n');
}
