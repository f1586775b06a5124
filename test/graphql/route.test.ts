// A trace is taken apart into what it was made of.
import { readRoute } from '@svc/graphql/tenant/route.ts';
import { expect, test } from 'vitest';

const line =
  'v1; policy=agents/7; rule=eu-only; sort=latency; arm=-; canary=0; aff=-; cand=5; drop=ep_G:region,ep_O:circuit; ' +
  'plan=ep_A:0.981,ep_B:0.744,ep_D:0.702; try=ep_A:error:503:812,ep_B:ok:200:402; win=ep_B; reserve=38400';

test('planned endpoints come in order of the plan with their tries, then those excluded, with the reason', () => {
  expect(readRoute(line)).toEqual({
    policy: 'agents',
    version: '7',
    rule: 'eu-only',
    sort: 'latency',
    candidates: 5,
    endpoints: [
      {
        endpoint: 'ep_A',
        planned_at: 1,
        score: 0.981,
        excluded_by: null,
        tries: [{ outcome: 'error', http_status: 503, ms: 812 }],
      },
      {
        endpoint: 'ep_B',
        planned_at: 2,
        score: 0.744,
        excluded_by: null,
        tries: [{ outcome: 'ok', http_status: 200, ms: 402 }],
      },
      { endpoint: 'ep_D', planned_at: 3, score: 0.702, excluded_by: null, tries: [] },
      { endpoint: 'ep_G', planned_at: null, score: null, excluded_by: 'region', tries: [] },
      { endpoint: 'ep_O', planned_at: null, score: null, excluded_by: 'circuit', tries: [] },
    ],
    hidden: 0,
    winner: 'ep_B',
    reserve_micro: 38_400,
  });
});

test('what was cut from a long trace is counted, and an empty list is empty', () => {
  const cut = line.replace('ep_G:region,ep_O:circuit', '+2').replace(',ep_D:0.702', ',+1');
  expect(readRoute(cut)).toMatchObject({
    hidden: 3,
    endpoints: [{ endpoint: 'ep_A' }, { endpoint: 'ep_B' }],
  });
  const empty = line
    .replace(/plan=[^;]+/, 'plan=-')
    .replace(/drop=[^;]+/, 'drop=-')
    .replace('win=ep_B', 'win=-');
  expect(readRoute(empty)).toMatchObject({ hidden: 0, endpoints: [], winner: null });
});

test('the built-in policy has no version, and what is no trace is none', () => {
  expect(readRoute(line.replace('agents/7', 'default'))).toMatchObject({ policy: 'default', version: null });
  for (const other of [null, undefined, {}, '', 'v2; policy=x', 'anything'])
    expect(readRoute(other)).toBeNull();
});
