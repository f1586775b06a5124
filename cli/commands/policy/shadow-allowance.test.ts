// `svcctl policy shadow-allowance` as a person uses it.
import { expect, test } from 'vitest';
import { createTestDatabase } from '../../../test/support/database.ts';
import { runSvcctl } from '../../../test/support/programs/svcctl.ts';

const url = await createTestDatabase();
const svcctl = (...args: string[]) => runSvcctl(args, { SVC_DATABASE_URL: url });
const allowance = (...args: string[]) => svcctl('policy', 'shadow-allowance', '--org', 'acme', ...args);

test('an allowance is shown, set with a reason, and ended', async () => {
  await svcctl('org', 'create', '--slug', 'acme', '--name', 'Acme', '--country', 'US');
  expect((await allowance()).out).toContain('the platform pays for no shadows');
  const wordless = await allowance('--micro-per-day', '5000000');
  expect(wordless.code).not.toBe(0);
  expect(wordless.err).toContain('--micro-per-day needs --reason');
  const set = await allowance('--micro-per-day', '5000000', '--reason', 'a trial', '--json');
  expect(JSON.parse(set.out)).toMatchObject({
    ...{ slug: 'acme', daily_micro_usd: 5_000_000, today_micro_usd: 0, month_runs: 0 },
  });
  expect((await allowance()).out).toContain('5000000 micro-USD a day');
  const ended = await allowance('--micro-per-day', '0', '--reason', 'it is over', '--json');
  expect(JSON.parse(ended.out)).toMatchObject({ daily_micro_usd: null });
});
