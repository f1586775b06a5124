// Checks the files of a release as others do: the statement is signed by the key, and each file is the one that it names.
//   node cli/release/verify.ts --key release.pub.pem FOLDER
import { createReadStream, existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import type { JsonObject } from '@svc/core/kernel/index.ts';
import { digestOf } from './layers.ts';
import { openEnvelope, readPublicKey } from './provenance.ts';

/** What is wrong with the files in `folder`, a sentence each. @throws Error when the statement is not signed by the key. */
export async function releaseFaults(folder: string, public_pem: string): Promise<string[]> {
  const files = readdirSync(folder);
  const name = files.find((one) => one.endsWith('.intoto.jsonl'));
  if (name === undefined) throw new Error(`${folder} has no statement, *.intoto.jsonl`);
  const statement = openEnvelope(readFileSync(join(folder, name), 'utf8'), readPublicKey(public_pem));
  const subjects = statement['subject'] as { name: string; digest: JsonObject }[];
  const faults: string[] = [];
  for (const { name: file, digest } of subjects.filter((one) => !one.name.includes(':'))) {
    if (!existsSync(join(folder, file))) faults.push(`${file} is not here`);
    else if ((await digestOf(createReadStream(join(folder, file)))) !== `sha256:${digest['sha256']}`)
      faults.push(`${file} is another file than the one that was released`);
  }
  const named = new Set([name, 'SHA256SUMS', ...subjects.map((one) => one.name)]);
  return [
    ...faults,
    ...files.filter((one) => !named.has(one)).map((one) => `${one} is not part of the release`),
  ];
}

if (import.meta.main) {
  const { values, positionals } = parseArgs({ options: { key: { type: 'string' } }, allowPositionals: true });
  const [folder] = positionals;
  try {
    if (values.key === undefined || folder === undefined)
      throw new Error('usage: node cli/release/verify.ts --key release.pub.pem FOLDER');
    const faults = await releaseFaults(folder, readFileSync(values.key, 'utf8'));
    for (const fault of faults) process.stdout.write(`${fault}\n`);
    process.stdout.write(faults.length === 0 ? 'every file is the one that was released\n' : '');
    process.exitCode = faults.length === 0 ? 0 : 1;
  } catch (error) {
    process.stderr.write(`${(error as Error).message}\n`);
    process.exitCode = 1;
  }
}
