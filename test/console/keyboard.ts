// What a person without a mouse reaches: tables and their rows, by Tab and by the keys that scroll.
import type { Locator, Page } from 'playwright-core';
import { expect } from 'vitest';

/** A page has fewer stops than this; who presses Tab more often than that goes round in circles. */
const STOPS_MAX = 400;

/** Tables whose frame scrolls sideways, by name. */
const WIDE_FRAMES = `[...document.querySelectorAll('.table-scroll')]
  .filter((frame) => frame.scrollWidth > frame.clientWidth)
  .map((frame) => frame.getAttribute('aria-label') + ' by ' + (frame.scrollWidth - frame.clientWidth) + ' px')`;

/** No table of the page is wider than its frame. */
export async function expectFramesHold(page: Page, where: string): Promise<void> {
  expect(await page.evaluate<string[]>(WIDE_FRAMES), where).toEqual([]);
}

/** What is chosen of several views, and is not on the screen. */
const CHOSEN_AWAY = `[...document.querySelectorAll('.views [aria-current="page"]')]
  .filter((it) => {
    const { left, right } = it.getBoundingClientRect();
    return left < 0 || right > innerWidth;
  })
  .map((it) => it.textContent)`;

/** The name of the view that is shown is on the screen, be the choice wider or not. */
export async function expectChosenInSight(page: Page, where: string): Promise<void> {
  await expect.poll(() => page.evaluate<string[]>(CHOSEN_AWAY), { message: where }).toEqual([]);
}

const START = `document.querySelectorAll('[data-reached]').forEach((it) => it.removeAttribute('data-reached'));
  document.activeElement?.blur?.(); window.scrollTo(0, 0)`;

/** Marks what has the focus; false where it was there before, or the focus has left the page. */
const MARK = `(() => {
  const it = document.activeElement;
  if (it === null || it === document.body || it.hasAttribute('data-reached')) return false;
  it.setAttribute('data-reached', '');
  return true;
})()`;

/** Frames, and controls of rows, that Tab has not reached. */
const MISSED = `[...document.querySelectorAll('.table-scroll, .table-scroll tbody :is(a[href], button:enabled, input:enabled)')]
  .filter((it) => !it.hasAttribute('data-reached') && it.checkVisibility())
  .map((it) => it.outerHTML.slice(0, 140))`;

/** Notes in every frame which rows are on the screen. */
const WATCH = `(() => {
  const look = () => {
    for (const row of document.querySelectorAll('.table-scroll tbody tr')) {
      const { top, bottom } = row.getBoundingClientRect();
      if (bottom > 0 && top < innerHeight && row.checkVisibility()) row.setAttribute('data-reached', '');
    }
    requestAnimationFrame(look);
  };
  look();
})()`;

/** Rows that have not been on the screen. */
const UNSEEN = `document.querySelectorAll('.table-scroll tbody tr:not([data-reached])').length`;

/** Whether the end of the page is on the screen, once the page rests: a key that comes while it still scrolls skips rows. */
const AT_END = `new Promise((done) => {
  let last = -1;
  let rests = 0;
  const look = () => {
    rests = scrollY === last ? rests + 1 : 0;
    last = scrollY;
    if (rests < 6) requestAnimationFrame(look);
    else done(scrollY + innerHeight >= document.documentElement.scrollHeight - 1);
  };
  look();
})`;

/** Every table, every control of its rows is reached by Tab, and every row by the keys that scroll. */
export async function expectRowsReached(page: Page, where: string): Promise<void> {
  // What is behind a dialog is out of reach until it is closed.
  if ((await page.getByRole('dialog').count()) > 0) return;
  await page.evaluate(START);
  let stops = 0;
  do {
    await page.keyboard.press('Tab');
    stops++;
  } while (stops < STOPS_MAX && (await page.evaluate<boolean>(MARK)));
  expect(stops, where).toBeLessThan(STOPS_MAX);
  expect(await page.evaluate<string[]>(MISSED), where).toEqual([]);
  if ((await page.locator('.table-scroll').count()) === 0) return;
  // A field that a page gives the focus meanwhile takes the key for itself.
  const toTop = async () => {
    await page.evaluate('document.activeElement?.blur?.()');
    await page.keyboard.press('Home');
    return page.evaluate<number>('scrollY');
  };
  await expect.poll(toTop, { message: where }).toBe(0);
  await page.evaluate(WATCH);
  let presses = 0;
  while (!(await page.evaluate<boolean>(AT_END)) && presses++ < STOPS_MAX)
    await page.keyboard.press('PageDown');
  await expect.poll(() => page.evaluate<number>(UNSEEN), { message: where }).toBe(0);
}

/** `target` gets the focus without a key, as a dialog gives it to its first field a moment after it stands there. */
export async function expectFocused(target: Locator): Promise<void> {
  await expect.poll(() => target.evaluate((it) => it === document.activeElement)).toBe(true);
}

/** Presses Tab until `target` has the focus. */
export async function tabTo(page: Page, target: Locator): Promise<void> {
  await target.waitFor();
  for (let stops = 0; stops < STOPS_MAX; stops++) {
    if (await target.evaluate((it) => it === document.activeElement)) return;
    await page.keyboard.press('Tab');
  }
  expect.fail(`Tab does not reach ${target}`);
}

/** Reaches a button or a link by Tab, and presses it by Enter. */
export async function pressByKeyboard(page: Page, target: Locator): Promise<void> {
  await tabTo(page, target);
  await page.keyboard.press('Enter');
}
