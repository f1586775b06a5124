// The samples of the reference run as pasted: each of an inference operation, in every language, with the address of a
// gateway and a key in the place of ours.
import { execFile } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { ensurePythonClients } from '@svc/cli/tools/python.ts';
import { inferenceRoutes, openApiDocument } from '@svc/core/operations/index.ts';
import { expect, test } from 'vitest';
import { useGateway } from '../clients/gateway.ts';
import { atFileEnd } from '../support/ends.ts';

const OURS = 'http://127.0.0.1:8080';
const gateway = useGateway();
const run = promisify(execFile);
/** Inside the repository, so that packages are found from there. */
const folder = fileURLToPath(new URL(`../../.cache/samples-${process.pid}`, import.meta.url));
mkdirSync(folder, { recursive: true });
atFileEnd(async () => rmSync(folder, { recursive: true, force: true }));

interface Sample {
  readonly lang: 'shell' | 'python' | 'typescript';
  readonly label: string;
  readonly source: string;
}
const { paths } = openApiDocument(OURS) as {
  paths: Record<string, { post: { operationId: string; 'x-codeSamples': Sample[] } }>;
};
const samples = inferenceRoutes.flatMap(({ path }) => {
  const { operationId, 'x-codeSamples': all } = (paths[path] as (typeof paths)[string]).post;
  return all.map((sample, i) => [`${operationId}, ${sample.label}`, `${operationId}-${i}`, sample] as const);
});

/** How a sample that stands in `file` is started. */
const starters = {
  shell: async (file: string) => ['bash', file],
  python: async (file: string) => [await ensurePythonClients(() => {}), file],
  typescript: async (file: string) => [process.execPath, file],
} as const;
const endings = { shell: 'sh', python: 'py', typescript: 'ts' } as const;

test('every inference operation has a sample with curl, and one in Python and TypeScript where a client knows it', () => {
  const languages = new Map<string, string[]>();
  for (const [, name, { label }] of samples) {
    const id = name.slice(0, name.lastIndexOf('-'));
    languages.set(id, [...(languages.get(id) ?? []), label]);
  }
  for (const { name } of inferenceRoutes) expect([name, languages.get(name)?.[0]]).toEqual([name, 'curl']);
  expect(languages.get('chat.completions.create')).toEqual(['curl', 'Python, openai', 'TypeScript, openai']);
  expect(languages.get('messages.create')).toEqual(['curl', 'Python, anthropic', 'TypeScript, anthropic']);
});

test.each(samples)('%s runs as pasted', async (_name, name, { lang, source }) => {
  const { base_url, sandbox_key } = gateway();
  const file = join(folder, `${name}.${endings[lang]}`);
  writeFileSync(file, source.replaceAll(OURS, base_url));
  const [program = '', ...args] = await starters[lang](file);
  const env = { PATH: process.env['PATH'] ?? '', NO_PROXY: '127.0.0.1', SVC_API_KEY: sandbox_key };
  const { stdout } = await run(program, args, { env });
  expect(stdout.trim()).not.toBe('');
  // A response has the member in success as well, as null.
  if (lang === 'shell') expect(JSON.parse(stdout).error ?? null).toBeNull();
});
