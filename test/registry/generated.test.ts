// Clients generated from the document do what people do with them, in TypeScript and in Python: their types are compiled
// as strictly as can be, and they run a streamed tool loop in each format, and management, against a gateway.
import { execFile } from 'node:child_process';
import { copyFileSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { ensurePythonClients } from '@svc/cli/tools/python.ts';
import { openApiDocument } from '@svc/core/operations/index.ts';
import openapiTS, { astToString } from 'openapi-typescript';
import ts from 'typescript';
import { expect, test } from 'vitest';
import { useGateway } from '../clients/gateway.ts';
import { atFileEnd } from '../support/ends.ts';

const gateway = useGateway();
/** Inside the repository, so that packages are found from there. */
const folder = fileURLToPath(new URL(`../../.cache/generated-client-${process.pid}`, import.meta.url));
const program = join(folder, 'loop.ts');
const run = promisify(execFile);

mkdirSync(folder, { recursive: true });
atFileEnd(async () => rmSync(folder, { recursive: true, force: true }));
copyFileSync(new URL('client/loop.ts.txt', import.meta.url), program);
copyFileSync(new URL('client/loop.py', import.meta.url), join(folder, 'loop.py'));

const strictly: ts.CompilerOptions = {
  strict: true,
  noUncheckedIndexedAccess: true,
  noEmit: true,
  skipLibCheck: true,
  allowImportingTsExtensions: true,
  module: ts.ModuleKind.NodeNext,
  moduleResolution: ts.ModuleResolutionKind.NodeNext,
  target: ts.ScriptTarget.ESNext,
  lib: ['lib.esnext.d.ts', 'lib.dom.d.ts', 'lib.dom.asynciterable.d.ts'],
  types: ['node'],
};

/** What a loop in each format says: the tool that was called, and how the answer to its result ended. */
const loops = {
  chat: expect.stringMatching(/^get_weather (?:stop|tool_calls)$/),
  messages: expect.stringMatching(/^get_weather (?:end_turn|tool_use)$/),
  responses: 'get_weather completed',
  native: expect.stringMatching(/^get_weather (?:end_turn|tool_use)$/),
};

test('types made of the document compile strictly, with a program that uses them', async () => {
  const types = await openapiTS(openApiDocument('http://127.0.0.1:8080') as never);
  writeFileSync(join(folder, 'schema.ts'), astToString(types));
  const compiled = ts.createProgram([program], strictly);
  const faults = ts.getPreEmitDiagnostics(compiled).map(({ file, start, messageText }) => {
    const line = file === undefined ? 0 : file.getLineAndCharacterOfPosition(start ?? 0).line + 1;
    return `${file?.fileName.slice(folder.length)}:${line} ${ts.flattenDiagnosticMessageText(messageText, ' ')}`;
  });
  expect(faults).toEqual([]);
}, 120_000);

test('the generated client runs a tool loop in each format, and management', async () => {
  const { base_url, sandbox_key, live_key } = gateway();
  const { stdout } = await run(process.execPath, [program, base_url, sandbox_key, live_key]);
  expect(JSON.parse(stdout)).toEqual({
    ...loops,
    managed: ['made active', 'listed true', 'revoked revoked', 'limits boolean', 'refused not_found'],
  });
});

test('a Python client made of the document compiles strictly, and runs the same', async () => {
  const python = await ensurePythonClients(() => {}, 'generator');
  const files = { document: join(folder, 'openapi.json'), generator: join(folder, 'generator.yaml') };
  writeFileSync(files.document, JSON.stringify(openApiDocument('http://127.0.0.1:8080')));
  // The generator knows files by this type alone.
  const images = ['svg+xml', 'png', 'jpeg', 'webp'].map((kind) => `image/${kind}`);
  const types = ['application/pdf', 'application/zip', ...images].map(
    (type) => `  ${type}: application/octet-stream\n`,
  );
  const overrides = `content_type_overrides:\n${types.join('')}`;
  writeFileSync(files.generator, `post_hooks: []\n${overrides}`);
  // Its own runtime is not strict: it hands `*args: object` to the HTTP client.
  writeFileSync(
    join(folder, 'mypy.ini'),
    '[mypy]\nstrict = True\n[mypy-svc_client.client]\nignore_errors = True\n',
  );
  const made = await run(python, [
    ...['-m', 'openapi_python_client', 'generate', '--meta', 'none', '--fail-on-warning'],
    ...['--path', files.document, '--config', files.generator, '--output-path', join(folder, 'svc_client')],
  ]);
  expect(made.stdout).not.toMatch(/warning/i);
  await run(python, ['-m', 'mypy', '--cache-dir=/dev/null', 'svc_client', 'loop.py'], { cwd: folder }).catch(
    (error: { stdout: string }) => expect(error.stdout).toBe(''),
  );
  const { base_url, sandbox_key, live_key } = gateway();
  const { stdout } = await run(python, ['loop.py', base_url, sandbox_key, live_key], { cwd: folder });
  expect(JSON.parse(stdout)).toEqual({
    ...loops,
    managed: ['made active', 'listed True', 'revoked revoked', 'limits bool', 'refused not_found'],
  });
}, 180_000);
