// A client generated from the document does what people do with one: its types are compiled as strictly as can be, and
// it runs a streamed tool loop in each format, and management, against a gateway.
import { execFile } from 'node:child_process';
import { copyFileSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
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

mkdirSync(folder, { recursive: true });
atFileEnd(async () => rmSync(folder, { recursive: true, force: true }));
copyFileSync(new URL('client/loop.ts.txt', import.meta.url), program);

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
  const { stdout } = await promisify(execFile)(process.execPath, [program, base_url, sandbox_key, live_key]);
  expect(JSON.parse(stdout)).toEqual({
    chat: expect.stringMatching(/^get_weather (?:stop|tool_calls)$/),
    messages: expect.stringMatching(/^get_weather (?:end_turn|tool_use)$/),
    responses: 'get_weather completed',
    native: expect.stringMatching(/^get_weather (?:end_turn|tool_use)$/),
    managed: ['made active', 'listed true', 'revoked revoked', 'limits boolean', 'refused not_found'],
  });
});
