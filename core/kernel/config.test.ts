import { expect, test } from 'vitest';
import { readConfig } from './config.ts';

test('a public address is an http or https address, and loses its trailing slash', () => {
  const read = (SVC_BASE_URL: string) => readConfig({ SVC_BASE_URL }).base_url;
  expect(read('https://llm.example/')).toBe('https://llm.example');
  expect(read('https://llm.example/gateway')).toBe('https://llm.example/gateway');
  expect(read('')).toBeNull();
  for (const wrong of ['llm.example', 'ftp://llm.example', 'https:///path', 'http://a b']) {
    expect(() => read(wrong)).toThrow(/SVC_BASE_URL/);
  }
});
