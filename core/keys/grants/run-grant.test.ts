// The credential with which a worker makes calls for a run: it cannot be forged, changed, moved to another run or kept.
import { afterEach, expect, test } from 'vitest';
import { type Id, secureBytes, shiftClock } from '../../kernel/index.ts';
import { type RunClaims, readRunCredential, runCredential, runSecret } from './run-grant.ts';

const root_key = secureBytes(32);
const claims: RunClaims = {
  run_id: 'er_01KACZ3V8S6T5R4Q3P2N1M0K9J',
  org_id: 'org_01KACZ3V8S6T5R4Q3P2N1M0K9J' as Id<'org'>,
  project_id: 'prj_01KACZ3V8S6T5R4Q3P2N1M0K9J' as Id<'project'>,
  ...{ environment: 'live', key_id: null, key_no: 7 },
};
const refused = (credential: string, key: Uint8Array = root_key) => {
  try {
    readRunCredential(key, credential);
    return null;
  } catch (error) {
    return (error as { details: { reason: string } }).details.reason;
  }
};

afterEach(() => shiftClock(0));

test('what was signed is read again', () => {
  expect(readRunCredential(root_key, runCredential(root_key, claims))).toEqual(claims);
});

test('another key ring, a changed claim or a changed mark is refused', () => {
  const credential = runCredential(root_key, claims);
  expect(refused(credential, secureBytes(32))).toBe('unknown');
  const [body = '', mark = ''] = credential.slice('svc-run-'.length).split('.');
  const said = JSON.parse(Buffer.from(body, 'base64url').toString());
  const richer = Buffer.from(JSON.stringify({ ...said, org_id: 'org_0' })).toString('base64url');
  expect(refused(`svc-run-${richer}.${mark}`)).toBe('unknown');
  const first = mark[0] === 'A' ? 'B' : 'A';
  expect(refused(`svc-run-${body}.${first}${mark.slice(1)}`)).toBe('unknown');
  for (const text of ['', 'svc-run-', `svc-run-${body}`, `svc-run-.${mark}`])
    expect(refused(text)).toBe('unknown');
});

test('it ends after a quarter of an hour', () => {
  const credential = runCredential(root_key, claims);
  shiftClock(899_000);
  expect(refused(credential)).toBe(null);
  shiftClock(900_000);
  expect(refused(credential)).toBe('expired');
});

test('answers of a run are sealed alike under all its credentials, and those of another run are not', () => {
  expect(runSecret(root_key, claims.run_id)).toBe(runSecret(root_key, claims.run_id));
  expect(runSecret(root_key, claims.run_id)).not.toBe(runSecret(root_key, 'er_01KACZ3V8S6T5R4Q3P2N1M0K9K'));
});
