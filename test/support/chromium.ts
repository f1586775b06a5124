// A real browser for tests, driven by Playwright.
import { type Browser, chromium } from 'playwright-core';
import { atFileEnd } from './ends.ts';
import { toolPath } from './engine.ts';

const ARGS = [
  // Containers lack what the sandbox and shared memory need, and only our own pages are loaded.
  ...['--no-sandbox', '--disable-dev-shm-usage', '--disable-gpu'],
  // Only the page under test may use the network.
  ...['--disable-quic', '--disable-background-networking', '--disable-component-update', '--disable-sync'],
  '--no-first-run',
];

/**
 * A headless browser that is closed after the last test of the file, and that ends by itself when this process is
 * killed. `without`: default arguments of Playwright to leave out.
 */
export async function launchChromium(options: { without?: string[] } = {}): Promise<Browser> {
  const { without = [] } = options;
  const executablePath = await toolPath('chromium');
  const browser = await chromium.launch({ executablePath, args: ARGS, ignoreDefaultArgs: without });
  atFileEnd(() => browser.close());
  return browser;
}
