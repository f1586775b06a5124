import { expect, test } from 'vitest';
import type { FeedRowFragment } from '../../api/gen/graphql.ts';
import { csvOf } from './csv.ts';

const row = {
  id: '01KACZ3V8S6T5R4Q3P2N1M0K9J',
  ts: '2026-11-20 10:00:00.123',
  keyId: 'key_1',
  model: 'a/b',
  provider: 'acme',
  region: 'eu',
  status: 'OK',
  httpStatus: 200,
  errorCode: '',
  attempts: 1,
  inputTokens: 12,
  outputTokens: 3,
  costMicro: '7412',
  ttftMs: null,
  durationMs: 41.5,
} as FeedRowFragment;

test('a call is a line, exact in money and in UTC, and what is not known is empty', () => {
  const [head, line, rest] = csvOf([row], new Map([['key_1', 'backend']])).split('\r\n');
  expect(head?.split(',').length).toBe(16);
  expect(line).toBe(
    '01KACZ3V8S6T5R4Q3P2N1M0K9J,2026-11-20T10:00:00.123Z,ok,200,,a/b,acme,eu,backend,key_1,1,12,3,0.007412,,41.5',
  );
  expect(rest).toBe('');
});

test('a name cannot break a line or become a formula', () => {
  const line = (name: string) => csvOf([row], new Map([['key_1', name]])).split('\r\n')[1];
  expect(line('a,"b"')).toContain(',"a,""b""",');
  expect(line('=HYPERLINK("x")')).toContain(`,"'=HYPERLINK(""x"")",`);
  expect(line('-1')).toContain(",'-1,");
});
