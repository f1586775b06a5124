import { expect, test } from 'vitest';
import { redisAddress } from './address.ts';

const none = {
  username: null,
  password: null,
  master: null,
  sentinel_username: null,
  sentinel_password: null,
};

test('each form of an address says what it leads to', () => {
  expect(redisAddress('redis://cache.example')).toEqual({
    ...{ ...none, kind: 'server', tls: false, db: 0 },
    hosts: [{ host: 'cache.example', port: 6379 }],
  });
  expect(redisAddress('rediss://svc:p%40ss:word@[2001:db8::1]:6380/3')).toMatchObject({
    ...{ kind: 'server', tls: true, db: 3, username: 'svc', password: 'p@ss:word' },
    hosts: [{ host: '2001:db8::1', port: 6380 }],
  });
  expect(redisAddress('rediss-cluster://:secret@a.example:7000,b.example')).toMatchObject({
    ...{ kind: 'cluster', tls: true, username: null, password: 'secret' },
    hosts: [
      { host: 'a.example', port: 7000 },
      { host: 'b.example', port: 6379 },
    ],
  });
  expect(redisAddress('redis-sentinel://:x@a,b:5/2?master=main&sentinel_password=y%26')).toMatchObject({
    ...{ kind: 'sentinel', master: 'main', password: 'x', sentinel_password: 'y&', db: 2 },
    hosts: [
      { host: 'a', port: 26379 },
      { host: 'b', port: 5 },
    ],
  });
});

test.each([
  ['http://a', 'expected redis://'],
  ['redis://', 'expected redis://'],
  ['redis://a,b', 'several hosts'],
  ['redis://a:70000', 'hosts as host:port'],
  ['redis://a:0', 'hosts as host:port'],
  ['redis-cluster://a,,b', 'hosts as host:port'],
  ['redis-cluster://a/1', 'no databases'],
  ['redis-sentinel://a', '?master='],
  ['redis://a?master=main', 'no parameter is called master'],
  ['redis-sentinel://a?mastr=main', 'no parameter is called mastr'],
  ['redis://hunter2@a', 'after a colon'],
  ['redis://:100%@a', '%25'],
])('%s is refused with a sentence, which repeats no password', (url, sentence) => {
  expect(() => redisAddress(url)).toThrow(sentence);
  expect(() => redisAddress(url)).not.toThrow('hunter2');
});
