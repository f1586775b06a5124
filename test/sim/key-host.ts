// A provider in the format of OpenAI that is asked for its models alone, as keys are tried: it knows some keys, and
// refuses all others in words that repeat them.
import { mkdtempSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { atFileEnd } from '../support/ends.ts';

export interface KeyHost {
  /** Keys that it accepts. */
  readonly accepted: Set<string>;
  /** Keys that it was asked with, in order. */
  readonly asked: string[];
  /** Whether it answers with a fault of its own. */
  broken: boolean;
  /** An item of `providers` in a catalog file: the provider `id`, which takes keys of callers alone. */
  provider(id: string, name: string): string;
}

/** What it says of a key that it does not know, without the key and its address. */
export const REFUSAL = 'Incorrect API key provided: [redacted]. Find yours at [redacted] in your account.';

/** Starts it on loopback; it ends with the test file. */
export async function startKeyHost(): Promise<KeyHost> {
  const accepted = new Set<string>();
  const asked: string[] = [];
  const server = createServer((request, response) => {
    const key = String(request.headers.authorization).replace('Bearer ', '');
    asked.push(key);
    request.resume();
    const [status, body] = answerTo(key);
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  atFileEnd(async () => {
    server.closeAllConnections();
    await new Promise((done) => server.close(done));
  });
  const { port } = server.address() as AddressInfo;
  const host: KeyHost = {
    ...{ accepted, asked, broken: false },
    provider: (id, name) => `
  - id: ${id}
    name: ${name}
    kind: openai
    base_url: http://127.0.0.1:${port}/v1
    byok: required
    regions: [eu-west]
    data_policy: { trains: false, retention_days: 0, zdr: true }`,
  };
  function answerTo(key: string): readonly [number, object] {
    if (host.broken) return [503, { error: { message: 'We are looking into it.' } }];
    if (accepted.has(key)) return [200, { data: [{ id: 'one' }, { id: 'two' }] }];
    const message = `Incorrect API key provided: ${key}. Find yours at https://host.example/keys in your account.`;
    return [401, { error: { message, code: 'invalid_api_key' } }];
  }
  return host;
}

/** A catalog file with `providers` alone. */
export function providersFile(providers: string): string {
  const path = join(mkdtempSync(join(tmpdir(), 'svc-providers-')), 'providers.yaml');
  writeFileSync(path, `version: 1\nproviders:${providers}\n`);
  return path;
}
