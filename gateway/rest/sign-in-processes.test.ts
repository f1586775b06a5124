// Sign-in across real gateway processes: what one ends, the other refuses; what both log holds no secret.
import { createPool } from '@svc/core/db/index.ts';
import { createPerson, totpCode } from '@svc/core/identity/index.ts';
import { createOrg } from '@svc/core/orgs/index.ts';
import { Secret } from 'otpauth';
import { afterAll, expect, test } from 'vitest';
import { createTestDatabase } from '../../test/support/database.ts';
import { freshDataDir, startGatewayProcess } from '../../test/support/gateway.ts';
import { staffContext } from '../../test/support/provision.ts';

const database_url = await createTestDatabase();
const pool = createPool(database_url, { max: 2 });
const context = staffContext(pool);
const org = await createOrg(context, { slug: 'acme', name: 'Acme', billing_country: 'US' });
const person = await createPerson(context, { email: 'asha@acme.example', org_id: org.id, role: 'owner' });
const password = person.password as string;
const data_dir = freshDataDir();
const env = { SVC_LOG_LEVEL: 'debug' };
const [one, two] = await Promise.all([
  startGatewayProcess({ database_url, data_dir, name: 'one', env }),
  startGatewayProcess({ database_url, data_dir, name: 'two', env }),
]);
afterAll(async () => {
  await Promise.all([one.kill(), two.kill()]);
  await pool.end();
});

/** Everything secret that was sent or received. */
const secrets: string[] = [password];

async function send(
  gateway: typeof one,
  method: string,
  path: string,
  options: { token?: string; body?: object } = {},
) {
  const { token, body } = options;
  const response = await fetch(`${gateway.base_url}${path}`, {
    method,
    headers: {
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  const json = text === '' ? {} : JSON.parse(text);
  for (const name of ['token', 'mfa_token', 'secret']) if (name in json) secrets.push(json[name]);
  secrets.push(...(json.recovery_codes ?? []));
  return { status: response.status, json };
}

const signIn = async (gateway: typeof one) => {
  const { json } = await send(gateway, 'POST', '/v1/auth/login', {
    body: { email: person.email, password, transport: 'bearer' },
  });
  return json.token as string;
};

test('a session begun at one process works at the other and ends there at once', async () => {
  const token = await signIn(one);
  for (const gateway of [one, two, one]) {
    expect((await send(gateway, 'GET', '/v1/auth/session', { token })).status).toBe(200);
  }
  expect((await send(two, 'POST', '/v1/auth/logout', { token })).status).toBe(204);
  for (const gateway of [one, two]) {
    const after = await send(gateway, 'GET', '/v1/auth/session', { token });
    expect([after.status, after.json.error.code]).toEqual([401, 'session_expired']);
  }
});

test('failures are counted over both processes together', async () => {
  const other = await createPerson(context, { email: 'bo@acme.example', org_id: org.id, role: 'viewer' });
  const guess = (gateway: typeof one, i: number) => {
    const wrong = `wrong-guess-${i}`;
    secrets.push(wrong);
    return send(gateway, 'POST', '/v1/auth/login', { body: { email: other.email, password: wrong } });
  };
  const answers = await Promise.all(Array.from({ length: 16 }, (_, i) => guess(i % 2 === 0 ? one : two, i)));
  expect(answers.filter(({ status }) => status === 401)).toHaveLength(10);
  expect(answers.filter(({ status }) => status === 429)).toHaveLength(6);
});

test('neither process logs a password, a token, a code or a secret, at any level', async () => {
  const token = await signIn(one);
  const { json } = await send(two, 'POST', '/v1/auth/totp/enrol', { token, body: {} });
  const secret = Buffer.from(Secret.fromBase32(json.secret).bytes);
  const code = totpCode(secret, Date.now());
  await send(one, 'POST', '/v1/auth/totp/confirm', { token, body: { code } });
  const half = await send(two, 'POST', '/v1/auth/login', { body: { email: person.email, password } });
  expect(half.json.mfa_token).toMatch(/^svc-mfa-/);
  const { mfa_token } = half.json;
  expect((await send(one, 'POST', '/v1/auth/login/totp', { body: { mfa_token, code } })).status).toBe(401);
  await send(one, 'GET', `/v1/auth/session?token=${token}`, { token });
  expect(secrets.length).toBeGreaterThan(30);
  for (const gateway of [one, two]) {
    expect(gateway.output()).toContain('gateway ready');
    for (const text of [...secrets, code])
      expect([text, gateway.output().includes(text)]).toEqual([text, false]);
  }
});
