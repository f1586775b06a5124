// The pure parts of sign-in: codes, cookies, addresses, passwords, settings.
import { expect, test } from 'vitest';
import { ConfigError, readConfig } from '../kernel/index.ts';
import { emailKey, isSamePerson } from '../mail/index.ts';
import {
  addressPrefix,
  checkCsrf,
  clientAddress,
  csrfOf,
  csrfToken,
  hasTokenForm,
  isInNetworks,
  readCookie,
  sessionCookie,
  signInSettings,
} from './index.ts';
import { clearedCookie, cookiePolicy, newToken } from './sessions/token.ts';
import { checkPassword, hashPassword, needsRehash, refuseWeakPassword } from './sign-in/password.ts';
import {
  base32,
  fromBase32,
  hashRecoveryCode,
  newRecoveryCodes,
  openTotp,
  otpauthUri,
  sealTotp,
  stepOfCode,
  totpCode,
} from './sign-in/totp.ts';

const secret = Buffer.from('12345678901234567890');
const root_key = Buffer.alloc(32, 3);

test('codes by time are those of RFC 6238', () => {
  expect(totpCode(secret, 59_000)).toBe('287082');
  expect(totpCode(secret, 1_111_111_109_000)).toBe('081804');
  expect(totpCode(secret, 20_000_000_000_000)).toBe('353130');
});

test('a code is valid in its time step and one either side, and the check returns which step it was', () => {
  const code = totpCode(secret, 300_000);
  expect(stepOfCode(secret, code, 299_999)).toBe(10);
  expect(stepOfCode(secret, code, 270_000)).toBe(10);
  expect(stepOfCode(secret, code, 359_999)).toBe(10);
  expect(stepOfCode(secret, code, 269_999)).toBeNull();
  expect(stepOfCode(secret, code, 360_000)).toBeNull();
  for (const wrong of ['', '28708', '2870822', ' 87082', 'abcdef', '２８７０８２']) {
    expect(stepOfCode(secret, wrong, 59_000)).toBeNull();
  }
});

test('the CSRF token is an HMAC over the session, and fits no other session and no other key', () => {
  expect(csrfOf('csrf-key', 'sess-1')).toBe('CWgUx5MUn1U3_tPMYoC64oQ3v9HkWxHAEWnz_kS6b-E');
  const token = csrfToken(root_key, 'ses_1');
  expect(checkCsrf(root_key, 'ses_1', token)).toBe(true);
  expect(checkCsrf(root_key, 'ses_2', token)).toBe(false);
  expect(checkCsrf(Buffer.alloc(32, 4), 'ses_1', token)).toBe(false);
  for (const wrong of [null, '', `${token}=`, token.slice(1)]) {
    expect(checkCsrf(root_key, 'ses_1', wrong)).toBe(false);
  }
});

test('a sealed secret opens for its owner alone', () => {
  const sealed = sealTotp(root_key, 'person.totp_secret', { id: 'usr_a', secret });
  const openAs = (id: string, column: 'person.totp_secret' | 'person.totp_pending' = 'person.totp_secret') =>
    openTotp(root_key, column, { id, sealed });
  expect(openAs('usr_a')).toEqual(secret);
  expect(() => openAs('usr_b')).toThrow();
  expect(() => openAs('usr_a', 'person.totp_pending')).toThrow();
  expect(sealed.includes(secret)).toBe(false);
  expect(fromBase32(base32(secret))).toEqual(secret);
  const uri = otpauthUri(secret, { issuer: 'LLM gateway', email: 'a@b.example' });
  expect(uri).toContain(`secret=${base32(secret)}`);
});

test('recovery codes are ten, distinct, and the same however they are typed', () => {
  const codes = newRecoveryCodes();
  expect(new Set(codes).size).toBe(10);
  for (const code of codes) {
    expect(code).toMatch(/^[0-9a-hjkmnp-tv-z]{5}-[0-9a-hjkmnp-tv-z]{5}$/);
    const typed = ` ${code.toUpperCase().replace('-', '')} `;
    expect(hashRecoveryCode(root_key, typed)).toEqual(hashRecoveryCode(root_key, code));
  }
  expect(hashRecoveryCode(root_key, 'abc')).toBeNull();
});

test('tokens have their form, 256 bits of their own, and no form fits two kinds', () => {
  const tokens = Array.from({ length: 50 }, () => newToken('session'));
  expect(new Set(tokens).size).toBe(50);
  for (const token of tokens) {
    expect(token).toMatch(/^svc-sess-[A-Za-z0-9_-]{43}$/);
    expect([hasTokenForm('session', token), hasTokenForm('staff', token)]).toEqual([true, false]);
  }
});

test('a cookie is bound to the host over https, and plain on loopback', () => {
  const bound = cookiePolicy(true);
  const set = sessionCookie(bound, 'session', 'T', 60);
  expect(set).toBe('__Host-svc_session=T; Path=/; HttpOnly; SameSite=Lax; Secure; Max-Age=60');
  expect(sessionCookie(cookiePolicy(false), 'staff', 'T', 60)).toBe(
    'svc_staff=T; Path=/; HttpOnly; SameSite=Lax; Max-Age=60',
  );
  expect(clearedCookie(bound, 'session')).toContain('Max-Age=0');
  expect(readCookie('a=1; svc_session=x=y;svc_session=z', 'svc_session')).toEqual(['x=y', 'z']);
  expect(readCookie('xsvc_session=1', 'svc_session')).toEqual([]);
});

test('http beyond loopback stops the start unless it is allowed', () => {
  const config = (env: Record<string, string>) => readConfig(env);
  for (const address of ['http://127.0.0.1:8080', 'http://localhost:8080', 'http://[::1]:8080']) {
    expect(signInSettings(config({}), address).cookies).toEqual(cookiePolicy(false));
  }
  expect(signInSettings(config({}), 'https://api.example').cookies.secure).toBe(true);
  // A container listens everywhere; what people call it is unknown, so its cookies are for https alone.
  expect(signInSettings(config({}), 'http://0.0.0.0:8080').cookies.secure).toBe(true);
  expect(() => signInSettings(config({}), 'http://gateway.internal:8080')).toThrow(ConfigError);
  const allowed = config({ SVC_ALLOW_INSECURE_COOKIES: '1' });
  expect(signInSettings(allowed, 'http://gateway.internal:8080').cookies.secure).toBe(false);
});

test('pages of the console, configured or not, are no staff pages', () => {
  const bare = signInSettings(readConfig({}), 'http://127.0.0.1:8080');
  const env = { SVC_CONSOLE_ORIGINS: 'https://console.example.com', SVC_STAFF_PORT: '9082' };
  const named = signInSettings(readConfig(env), 'https://gateway.example.com');
  expect(named.console_origins).toEqual(['https://console.example.com']);
  expect(bare.staff_origins).toEqual(['http://127.0.0.1:8082', 'http://localhost:8082']);
  expect(named.staff_origins).toEqual(['http://127.0.0.1:9082', 'http://localhost:9082']);
});

test('console origins and proxies are checked when they are read', () => {
  const read = (env: Record<string, string>) => () => readConfig(env);
  for (const wrong of ['console.example', 'https://console.example/', 'https://a.example,', '*']) {
    expect(read({ SVC_CONSOLE_ORIGINS: wrong })).toThrow(ConfigError);
  }
  for (const wrong of ['10.0.0.0/33', '10.0.0', '::1/129', 'proxy', '10.0.0.0/8/8']) {
    expect(read({ SVC_TRUSTED_PROXIES: wrong })).toThrow(ConfigError);
  }
  const config = readConfig({
    SVC_CONSOLE_ORIGINS: 'https://a.example, https://b.example:8443',
    SVC_TRUSTED_PROXIES: '10.0.0.0/8,::1',
  });
  const settings = signInSettings(config, 'https://api.example');
  expect(settings.console_origins).toEqual(['https://a.example', 'https://b.example:8443']);
  expect(settings.trusted_proxies).toEqual(['10.0.0.0/8', '::1']);
});

test('the client is the rightmost hop that is no trusted proxy', () => {
  const trusted = ['10.0.0.0/8', '::1'];
  const client = (socket: string, forwarded: string | null) => clientAddress(socket, forwarded, trusted);
  expect(client('203.0.113.9', '198.51.100.1')).toBe('203.0.113.9');
  expect(client('10.0.0.1', '198.51.100.1')).toBe('198.51.100.1');
  expect(client('10.0.0.1', 'spoofed, 192.0.2.1, 198.51.100.1, 10.0.0.2')).toBe('198.51.100.1');
  expect(client('::ffff:10.0.0.1', '2001:db8::1')).toBe('2001:db8::1');
  expect(client('10.0.0.1', 'garbage')).toBe('10.0.0.1');
  expect(client('10.0.0.1', '10.0.0.2')).toBe('10.0.0.2');
  expect(client('10.0.0.1', null)).toBe('10.0.0.1');
});

test('networks hold addresses of their family alone, v4 in v6 form too', () => {
  expect(isInNetworks('192.0.2.7', ['192.0.2.0/24'])).toBe(true);
  expect(isInNetworks('::ffff:192.0.2.7', ['192.0.2.0/24'])).toBe(true);
  expect(isInNetworks('192.0.3.7', ['192.0.2.0/24', '::/0'])).toBe(false);
  expect(isInNetworks('2001:db8::5', ['2001:db8::/32'])).toBe(true);
  expect(isInNetworks('nonsense', ['0.0.0.0/0'])).toBe(false);
  expect(addressPrefix('192.0.2.7')).toBe('192.0.2.7/32');
  expect(addressPrefix('::ffff:192.0.2.7')).toBe('192.0.2.7/32');
  expect(addressPrefix('2001:db8:1:2:3:4:5:6')).toBe('2001:db8:1:2::/64');
  expect(addressPrefix(null)).toBeNull();
});

test('one person has one address, whatever its case or script', () => {
  expect(emailKey('Asha@Acme.Example')).toBe('asha@acme.example');
  expect(isSamePerson('a@bücher.example', 'A@xn--bcher-kva.example')).toBe(true);
  expect(isSamePerson('a+b@c.example', 'a@c.example')).toBe(false);
  for (const wrong of [
    '',
    'a',
    '@b.example',
    'a@',
    'a b@c.example',
    'a@b',
    'a@b..c',
    `${'a'.repeat(65)}@b.example`,
  ]) {
    expect([wrong, emailKey(wrong)]).toEqual([wrong, null]);
  }
});

test('easy passwords are refused with the reason, long ones of any kind accepted', () => {
  const reasonOf = (password: string) => {
    try {
      refuseWeakPassword(password, { email: 'asha@acme.example', param: 'new_password' });
      return null;
    } catch (error) {
      return (error as { details: { reason: string } }).details.reason;
    }
  };
  expect(reasonOf('short')).toBe('length');
  expect(reasonOf('x'.repeat(129))).toBe('length');
  expect(reasonOf('😀'.repeat(11))).toBe('length');
  for (const common of [
    '1q2w3e4r5t6y',
    'Qwerty123456',
    'password1234!',
    'passwordpassword',
    '111111111111',
  ]) {
    expect([common, reasonOf(common)]).toEqual([common, 'common']);
  }
  expect(reasonOf('my name is Asha!')).toBe('email');
  for (const good of ['correct horse battery', 'zwölf Zeichen', '9f8a7b6c5d4e']) {
    expect([good, reasonOf(good)]).toEqual([good, null]);
  }
});

test('a password is argon2id with the decided parameters, and its Unicode form does not count', async () => {
  const stored = await hashPassword('Ångström und mehr');
  expect(stored).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$[A-Za-z0-9+/]{22}\$[A-Za-z0-9+/]{43}$/);
  expect(await checkPassword(stored, 'A\u030angstro\u0308m und mehr')).toBe(true);
  expect(await checkPassword(stored, 'Angstrom und mehr')).toBe(false);
  expect(await checkPassword(null, 'anything at all')).toBe(false);
  expect(needsRehash(stored)).toBe(false);
  expect(needsRehash(stored.replace('m=19456', 'm=9728'))).toBe(true);
});

test('when more passwords are checked at once than the queue holds, the rest are refused with a time to wait, and none is lost', async () => {
  const stored = await hashPassword('a long enough one');
  const tries = Array.from({ length: 4 + 64 + 5 }, () => checkPassword(stored, 'a long enough one'));
  const results = await Promise.allSettled(tries);
  const refused = results.filter((result) => result.status === 'rejected');
  expect(refused).toHaveLength(5);
  for (const result of refused)
    expect(result.reason).toMatchObject({ code: 'too_many_attempts', status: 429 });
  expect(await checkPassword(stored, 'a long enough one')).toBe(true);
});
