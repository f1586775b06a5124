import { expect, test } from 'vitest';
import { networksOf, readSecurity } from './security.ts';

const form = { require_2fa: false, sso_counts: true, session_hours: '72', networks: '', key_days: '0' };

test('networks stand one a line or with commas', () => {
  expect(networksOf(' 203.0.113.0/24,\n2001:db8::/32\t192.0.2.1 \n')).toEqual([
    ...['203.0.113.0/24', '2001:db8::/32', '192.0.2.1'],
  ]);
  expect(networksOf(' \n ')).toEqual([]);
});

test('hours and days are whole numbers within their bounds', () => {
  expect(readSecurity(form).asked).toEqual({
    ...{
      require2fa: false,
      ssoCountsAs2fa: true,
      sessionHours: 72,
      consoleIpAllow: [],
      keyDefaultExpiryDays: 0,
    },
  });
  for (const session_hours of ['', '0', '721', '1.5', 'a day', '-1'])
    expect(readSecurity({ ...form, session_hours }).faults).toHaveProperty('session_hours');
  for (const key_days of ['', '731', '1e2'])
    expect(readSecurity({ ...form, key_days }).faults).toHaveProperty('key_days');
});
