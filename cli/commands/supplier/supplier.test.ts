// `svcctl supplier` as a person uses it.
import { expect, test } from 'vitest';
import { createTestDatabase } from '../../../test/support/database.ts';
import { runSvcctl } from '../../../test/support/programs/svcctl.ts';

const url = await createTestDatabase();
const svcctl = (...args: string[]) =>
  runSvcctl(['supplier', ...args], { SVC_DATABASE_URL: url, SVC_DATA_DIR: '/nonexistent' });

test('who sells is set and shown, with the rates of tax; a flag that says nothing is no change', async () => {
  const set = await svcctl(
    ...['set', '--name', 'Acme Private Limited', '--gstin', '29AABCU9603R1ZJ', '--prefix', 'ACM'],
    ...['--address', '7 Residency Road; Bengaluru 560025', '--lut', 'none'],
  );
  expect([set.code, set.err]).toEqual([0, '']);
  expect((await svcctl('rate', '--from', '2099-04-01', '--bps', '2800')).code).toBe(0);
  const { out } = await svcctl('show');
  for (const line of ['name         Acme Private Limited', 'address      7 Residency Road; Bengaluru 560025'])
    expect(out).toContain(line);
  expect(out).toContain('pan          AABCU9603R');
  expect(out).toContain('lut          none');
  expect(out).toContain('gst today  18 %\ngst from 2099-04-01  28 %');
  expect((await svcctl('set')).code).toBe(2);
}, 60_000);
