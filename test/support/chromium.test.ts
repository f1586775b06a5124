import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test } from 'vitest';
import { launchChromium } from './chromium.ts';
import { atFileEnd } from './ends.ts';

test('a real browser loads a page over HTTP, runs its script and takes a picture of it', async () => {
  const page_text = `<button onclick="this.textContent='clicked'">press</button>`;
  const server = createServer((_, reply) => reply.setHeader('content-type', 'text/html').end(page_text));
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  atFileEnd(async () => {
    server.closeAllConnections();
    server.close();
  });
  const browser = await launchChromium();
  const page = await browser.newPage();
  await page.goto(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
  await page.getByRole('button').click();
  expect(await page.getByRole('button').textContent()).toBe('clicked');
  const picture = await page.screenshot();
  expect(picture.subarray(1, 4).toString()).toBe('PNG');
});
