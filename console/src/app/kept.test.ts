import { afterEach, expect, test, vi } from 'vitest';
import { kept, PageLost } from './kept.ts';

afterEach(() => vi.unstubAllGlobals());
const broken = new TypeError('Failed to fetch dynamically imported module');

test('code that cannot be had without a connection is a lost page, so that nothing reloads the console away', async () => {
  vi.stubGlobal('fetch', () => Promise.reject(new TypeError('Failed to fetch')));
  await expect(kept(() => Promise.reject(broken))()).rejects.toBeInstanceOf(PageLost);
});

test('code that the server has no more stays the fault that it is: a newer release has replaced it', async () => {
  vi.stubGlobal('fetch', () => Promise.resolve(new Response('')));
  await expect(kept(() => Promise.reject(broken))()).rejects.toBe(broken);
  expect(await kept(() => Promise.resolve(7))()).toBe(7);
});
