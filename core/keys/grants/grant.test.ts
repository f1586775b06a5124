import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { GrantFacts, OrgDataPolicy } from '../../orgs/index.ts';
import type { KeyRow, OwnDataPolicy } from '../types.ts';
import { combinePolicies, grantOf, statusAt } from './grant.ts';

const region = fc.constantFrom('eu', 'us', 'in');
const regions = fc.uniqueArray(region);
const orgPolicy: fc.Arbitrary<OrgDataPolicy> = fc.record({
  logging: fc.constantFrom('on' as const, 'off' as const),
  retention_days: fc.nat(),
  zdr: fc.boolean(),
  no_train: fc.boolean(),
  regions,
  redact: fc.constant({ presets: [], patterns: [] }),
});
const keyPolicy = fc.option(
  fc.record(
    {
      logging: fc.constantFrom('on' as const, 'off' as const),
      zdr: fc.boolean(),
      no_train: fc.boolean(),
      regions,
    },
    { requiredKeys: [] },
  ) as fc.Arbitrary<OwnDataPolicy>,
);

test("a key's data policy is never looser than its organization's or its own", () => {
  fc.assert(
    fc.property(orgPolicy, keyPolicy, region, (org, key, where) => {
      const both = combinePolicies(org, key);
      if (both.logging) expect([org.logging, key?.logging ?? 'on', both.zdr]).toEqual(['on', 'on', false]);
      expect(both.zdr).toBe(org.zdr || key?.zdr === true);
      expect(both.no_train).toBe(org.no_train || key?.no_train === true);
      const allows = (list: readonly string[] | undefined) =>
        list === undefined || list.length === 0 || list.includes(where);
      expect(both.regions === null || both.regions.includes(where)).toBe(
        allows(org.regions) && allows(key?.regions),
      );
    }),
  );
});

test("a grant carries the key's own limits, its project's and its plan's: all hold (core/limits)", () => {
  const own = { rpm: 10, tpm: null, concurrency: 1_000 };
  const data_policy = { zdr: false, no_train: false, logging: 'off', regions: [] };
  const none = { rpm: null, tpm: null, concurrency: null };
  const limitsUnder = (plan_id: string, project: object = none) =>
    grantOf(
      { ...own, data_policy: null } as unknown as KeyRow,
      {
        ...{ plan_id, limit_overrides: {}, data_policy, legal_outstanding_since: null, ...project },
      } as unknown as GrantFacts,
    ).limits;
  const payg = { rpm: 300, tpm: 1_000_000, concurrency: 20 };
  // A project without any limit is null: its calls are not counted together.
  expect(limitsUnder('payg')).toMatchObject({ key: own, project: null, plan: payg });
  expect(limitsUnder('payg', { ...none, tpm: 5_000 }).project).toEqual({ ...none, tpm: 5_000 });
  expect(limitsUnder('enterprise')).toMatchObject({
    key: own,
    plan: { rpm: null, tpm: null, concurrency: null },
  });
});

test('a key is expired from the very millisecond of its end; revoked stays revoked', () => {
  const ends = new Date(1_000);
  expect(statusAt({ status: 'rotating', expires_at: ends, blocked_at: null }, new Date(999))).toBe(
    'rotating',
  );
  expect(statusAt({ status: 'rotating', expires_at: ends, blocked_at: null }, ends)).toBe('expired');
  expect(statusAt({ status: 'revoked', expires_at: ends, blocked_at: null }, new Date(2_000))).toBe(
    'revoked',
  );
});
