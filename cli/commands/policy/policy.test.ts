// `svcctl policy` against a gateway: what CI runs at a push.
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { startHarness } from '../../../test/registry/harness.ts';
import { runSvcctl } from '../../../test/support/programs/svcctl.ts';

const harness = await startHarness();
const folder = mkdtempSync(join(tmpdir(), 'svc-policy-'));
let base = '';
beforeAll(async () => {
  base = await harness.app.listen({ host: '127.0.0.1', port: 0 });
});

function fileOf(name: string, yaml: string): string {
  const file = join(folder, name);
  writeFileSync(file, yaml);
  return file;
}

const policy = (words: string, file: string, ...more: string[]) =>
  runSvcctl(['policy', words, file, '--base-url', base, '--key', harness.a.key, ...more], {
    SVC_DATA_DIR: folder,
  });

test('a text is judged at its places, tried against past calls, stored once and activated', async () => {
  const faulty = fileOf('faulty.yaml', 'policy: agents\ndefaults:\n  sort: cheap\n');
  const judged = await policy('validate', faulty);
  expect([judged.code, judged.out.split('\n')[0]]).toEqual([
    1,
    `${faulty}:3:3: error: defaults.sort: "cheap"; expected price, latency, throughput, uptime or balanced`,
  ]);
  expect((await policy('apply', faulty)).code).toBe(1);

  const file = fileOf('agents.yaml', 'policy: agents\ndefaults:\n  sort: price\n');
  const good = await policy('validate', file);
  expect([good.code, good.out.trim()]).toEqual([0, `${file} is valid`]);
  const diff = await policy('diff', file, '--hours', '6', '--json');
  expect([diff.code, JSON.parse(diff.out)]).toMatchObject([0, { policy: 'agents', version: 0, calls: 0 }]);
  const first = await policy('apply', file, '--activate');
  expect([first.code, first.out.trim()]).toEqual([
    ...[0, 'version 1 of agents is stored\nit is active for the organization'],
  ]);
  expect((await policy('apply', file)).out.trim()).toBe('version 1 of agents has this text');
  fileOf('agents.yaml', 'policy: agents\ndefaults:\n  sort: latency\n');
  expect((await policy('apply', file)).out.trim()).toBe('version 2 of agents is stored');
  const { data } = (await harness.call('GET', '/v1/policies', { key: harness.a.key })).json();
  expect(data).toMatchObject([{ name: 'agents', version: 1, newest_version: 2, status: 'active' }]);
});

test('a file that names no policy, or is not there, is a matter of usage; a refusal says why', async () => {
  const nameless = fileOf('nameless.yaml', 'sort: price\n');
  expect((await policy('validate', nameless)).code).toBe(2);
  expect((await policy('validate', nameless, '--name', 'agents')).code).toBe(0);
  expect((await policy('validate', join(folder, 'none.yaml'))).code).toBe(2);
  const { secret } = await harness.makeKey(harness.a, { scopes: ['inference'] });
  const refused = await policy('diff', nameless, '--name', 'agents', '--key', secret);
  expect(refused.code).toBe(1);
  expect(refused.out + refused.err).toContain('403');
});
