// A real browser for the tests: signed in, with a theme and a width, and watched for everything that a page must not
// do.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { AxeBuilder } from '@axe-core/playwright';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { expect, onTestFailed } from 'vitest';
import { launchChromium } from '../support/chromium.ts';
import { expectFramesHold } from './keyboard.ts';
import { type Person, type Stack, startStack } from './stack.ts';

export interface Look {
  readonly scheme?: 'light' | 'dark';
  readonly width?: number;
  readonly height?: number;
}

/** Both themes, on a desk and on a phone. */
export const fourLooks = [
  { scheme: 'light', width: 1440 },
  { scheme: 'dark', width: 1440 },
  { scheme: 'light', width: 360 },
  { scheme: 'dark', width: 360 },
] as const satisfies readonly Look[];

export interface Watched {
  readonly page: Page;
  readonly context: BrowserContext;
  /** Errors of scripts, reports of the content security policy, failed loads. */
  readonly faults: string[];
}

type State = Awaited<ReturnType<BrowserContext['storageState']>>;

/** Before a sign-in the page asks for the session and gets a 401, which browsers report as an error. */
const EXPECTED = /401 \(Unauthorized\)|429 \(Too Many/;

/** A picture of where a test has failed; pages are opened outside of tests too, where there is nothing to hook into. */
function pictureOfFailure(page: Page): void {
  try {
    onTestFailed(({ task }) => picture(page, `failed ${task.name.slice(0, 60)}`).catch(() => undefined));
  } catch {
    // Not inside a test.
  }
}

/** Has each script and each question to the server wait for `CONSOLE_DELAY_MS`, where that is set: a slow connection. */
async function slowDown(context: BrowserContext): Promise<void> {
  const delay_ms = Number(process.env['CONSOLE_DELAY_MS'] ?? 0);
  if (delay_ms === 0) return;
  await context.route(/\.js(\?|$)|\/graphql/, async (route) => {
    await pause(delay_ms);
    // A page may be gone meanwhile.
    await route.continue().catch(() => {});
  });
}

/** A page of its own context; `state` carries a session over. */
export async function openPage(browser: Browser, look: Look = {}, state?: State): Promise<Watched> {
  const context = await browser.newContext({
    viewport: { width: look.width ?? 1320, height: look.height ?? 860 },
    colorScheme: look.scheme ?? 'light',
    reducedMotion: 'reduce',
    locale: 'en-GB',
    timezoneId: 'Asia/Kolkata',
    permissions: ['clipboard-read', 'clipboard-write'],
    ...(state === undefined ? {} : { storageState: state }),
  });
  await slowDown(context);
  const page = await context.newPage();
  const faults: string[] = [];
  page.on('pageerror', (error) => faults.push(`script: ${error.message}`));
  page.on('console', (message) => {
    // The simulator of the rail has no icon, and browsers ask for one.
    if (message.location().url.endsWith('/favicon.ico')) return;
    if (message.type() === 'error' && !EXPECTED.test(message.text())) faults.push(message.text());
  });
  page.setDefaultTimeout(20_000);
  pictureOfFailure(page);
  return { page, context, faults };
}

type Answer = Record<string, unknown>;

/**
 * Cuts each stream of a page as soon as it is open, as a proxy does that allows none. The first one says before what the first
 * answer to `query` said: `before` gives that answer as it was once, and what a stream makes of it.
 */
export async function cutStreams(
  page: Page,
  query: string,
  before: (data: Answer) => { read: Answer; said: Answer },
): Promise<void> {
  let said: Answer | null | undefined;
  await page.route('**/graphql', async (route) => {
    const asked = route.request();
    if (asked.headers()['accept'] === 'text/event-stream') {
      const body = said ? `event: next\ndata: ${JSON.stringify({ data: said })}\n\n` : 'event: complete\n\n';
      said = null;
      return route.fulfill({ contentType: 'text/event-stream', body });
    }
    const { operationName } = asked.postDataJSON() as { operationName?: string };
    if (operationName !== query || said !== undefined) return route.continue();
    const response = await route.fetch();
    const once = before(((await response.json()) as { data: Answer }).data);
    said = once.said;
    return route.fulfill({ response, json: { data: once.read } });
  });
}

/** Fills and sends the form of the sign-in page. */
export async function fillSignIn(page: Page, person: Person): Promise<void> {
  await page.getByLabel('E-mail').fill(person.email);
  await page.getByLabel('Password', { exact: true }).fill(person.password);
  await page.getByRole('button', { name: 'Sign in' }).click();
}

/** The state of a browser in which `person` has signed in. */
export async function signedIn(browser: Browser, stack: Stack, person: Person): Promise<State> {
  const { page, context } = await openPage(browser);
  await page.goto(`${stack.console_url}/sign-in`);
  await fillSignIn(page, person);
  await page.getByRole('navigation', { name: 'Main' }).waitFor();
  const state = await context.storageState();
  await context.close();
  return state;
}

/** The programs, a browser, and in it the owner of meridian, who is signed in. They end with the file. */
export async function startConsole(settings: Readonly<Record<string, string>> = {}, providers = '') {
  const stack = await startStack(settings, providers);
  const browser = await launchChromium();
  return { stack, browser, owner: await signedIn(browser, stack, stack.owner) };
}

/** No violation of WCAG 2.0 to 2.2, A and AA. */
export async function expectAccessible(page: Page, where: string): Promise<void> {
  const tags = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];
  // What is asked is told whole; of what keeps the rules one place of each is enough, in place of the path of every
  // node. In one frame the page itself can say it: the other mode opens a second page each time, to put frames
  // together.
  expect(page.frames(), where).toHaveLength(1);
  const { violations } = await new AxeBuilder({ page })
    .options({ resultTypes: ['violations'] })
    .withTags(tags)
    .setLegacyMode()
    .analyze();
  const reported = violations.map(
    ({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 160)).join(' | ')}`,
  );
  expect(reported, where).toEqual([]);
}

/** The page itself never scrolls sideways; tables scroll inside. */
export async function expectNoSidewaysScroll(page: Page, where: string): Promise<void> {
  const over = await page.evaluate<number>(
    'document.documentElement.scrollWidth - document.documentElement.clientWidth',
  );
  expect(over, where).toBe(0);
}

/** Writes a picture where `CONSOLE_PICTURES` names a folder; nowhere else. */
export async function picture(page: Page, name: string): Promise<void> {
  const folder = process.env['CONSOLE_PICTURES'];
  if (folder === undefined) return;
  mkdirSync(folder, { recursive: true });
  await page.screenshot({ path: join(folder, `${name}.png`), fullPage: true });
}

/** What `page` shows now, in the four looks: a picture of each, accessible, and nothing wider than it; then as it was opened. */
export async function lookAround(page: Page, where: string): Promise<void> {
  for (const { scheme, width } of fourLooks) {
    const state = `${where}-${scheme}-${width}`;
    await page.emulateMedia({ colorScheme: scheme });
    await page.setViewportSize({ width, height: 860 });
    await picture(page, state);
    await expectNoSidewaysScroll(page, state);
    await expectFramesHold(page, state);
    await expectAccessible(page, state);
  }
  await page.emulateMedia({ colorScheme: 'light' });
  await page.setViewportSize({ width: 1320, height: 860 });
}
