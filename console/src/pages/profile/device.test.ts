import { expect, test } from 'vitest';
import { deviceText } from './device.ts';

test('a browser is named by what it is, not by what it claims to be like', () => {
  const chrome =
    'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/143.0 Safari/537.36';
  const edge = `${chrome.replace('X11; Linux x86_64', 'Windows NT 10.0; Win64; x64')} Edg/143.0`;
  const phone =
    'Mozilla/5.0 (iPhone; CPU iPhone OS 19_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/19.0 Mobile/15E148 Safari/604.1';
  expect([chrome, edge, phone].map(deviceText)).toEqual([
    'Chrome on Linux',
    'Edge on Windows',
    'Safari on iOS',
  ]);
  expect(deviceText('curl/8.5.0')).toBe('curl');
  expect(deviceText('my-script/1.0')).toBe('my-script/1.0');
  expect(deviceText(null)).toBe('unknown program');
});
