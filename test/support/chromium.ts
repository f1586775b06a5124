// A real browser for tests, driven by Playwright.
import { type Browser, chromium } from 'playwright-core';
import { atFileEnd } from './ends.ts';
import { toolPath } from './engine.ts';

const ARGS = [
  // Containers lack what the sandbox and shared memory need; the pages are ours.
  ...['--no-sandbox', '--disable-dev-shm-usage', '--disable-gpu'],
  // Nothing but the page under test may use the network.
  ...['--disable-quic', '--disable-background-networking', '--disable-component-update', '--disable-sync'],
  '--no-first-run',
];

/**
 * A headless browser that is closed after the last test of the file; it ends by itself when this process is killed.
 * `without`: what Playwright would else tell it.
 */
export async function launchChromium(options: { without?: string[] } = {}): Promise<Browser> {
  const { without = [] } = options;
  const executablePath = await toolPath('chromium');
  const browser = await chromium.launch({ executablePath, args: ARGS, ignoreDefaultArgs: without });
  atFileEnd(() => browser.close());
  return browser;
}
