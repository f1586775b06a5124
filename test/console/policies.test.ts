// The page of policies and its editor in a real browser.
import type { Page } from 'playwright-core';
import { beforeAll, expect, test, vi } from 'vitest';
import { withClient } from '../support/books.ts';
import { expectAccessible, expectNoSidewaysScroll, openPage, picture, startConsole } from './browser.ts';
import { MODEL } from './stack.ts';

vi.setConfig({ testTimeout: 120_000 });

const { stack, browser, owner } = await startConsole();
beforeAll(async () => {
  // Made while the built-in policy moves a call on from the endpoint that is down.
  const called = await fetch(`${stack.gateway_url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${stack.full.live_key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: MODEL, messages: [{ role: 'user', content: 'Hello' }] }),
  });
  expect(called.status).toBe(200);
});

const editorOf = (page: Page) => page.getByRole('textbox', { name: 'Text of agents' });
const versionsOf = (page: Page) => page.getByRole('list', { name: 'Versions' });

/** Describes a call of the model that the stack serves. */
async function tryModel(page: Page): Promise<void> {
  await page.getByLabel('Model').fill(MODEL);
  await page.getByRole('button', { name: 'Try' }).click();
}

async function seenInBothThemes(path: string, name: string, ready: (page: Page) => Promise<unknown>) {
  for (const look of [
    { scheme: 'light', width: 1440 },
    { scheme: 'dark', width: 360 },
  ] as const) {
    const where = `${name}-${look.scheme}-${look.width}`;
    const { page, context, faults } = await openPage(browser, look, owner);
    await page.goto(`${stack.console_url}/${path}`);
    await ready(page);
    await picture(page, where);
    await expectNoSidewaysScroll(page, where);
    await expectAccessible(page, where);
    expect(faults).toEqual([]);
    await context.close();
  }
}

test('a policy is made by keyboard, completed, corrected, kept, tried and activated', async () => {
  const { page, context, faults } = await openPage(browser, {}, owner);
  await page.goto(`${stack.console_url}/meridian/live/home`);
  await page.getByRole('navigation', { name: 'Main' }).waitFor();
  await page.keyboard.press('g');
  await page.keyboard.press('p');
  await page.getByText('No policy yet').waitFor();
  await page.keyboard.press('c');
  const dialog = page.getByRole('dialog', { name: 'New policy' });
  await dialog.getByLabel('Name').fill('EU only');
  await page.keyboard.press('Enter');
  await dialog.getByText('at most 63 characters', { exact: false }).waitFor();
  await dialog.getByLabel('Name').fill('agents');
  await page.keyboard.press('Enter');
  await page.waitForURL('**/policies/agents');

  await editorOf(page).click();
  await page.keyboard.press('Control+End');
  // Keys of shortcuts are letters of the text here, also in the shadow root that the editor stands in.
  await page.keyboard.type('  fallb', { delay: 20 });
  await page.getByRole('option', { name: 'fallbacks' }).click();
  await page.keyboard.type('g k');
  const findings = page.getByRole('list', { name: 'Findings' });
  await findings.getByText('defaults.fallbacks').waitFor();
  await page.getByText('1 fault. F8 goes to the next.').waitFor();
  expect(await page.getByRole('button', { name: 'Keep as version 2' }).isDisabled()).toBe(true);
  await picture(page, 'policy-fault');
  await expectAccessible(page, 'a text with a fault');
  for (let i = 0; i < 3; i++) await page.keyboard.press('Backspace');
  await page.keyboard.type('fal');
  await page.getByRole('option', { name: 'false' }).click();
  await page.getByText('The text stands.').waitFor();
  const tried = page.getByRole('region', { name: 'What would be tried' });
  await tryModel(page);
  await tried.getByText('acme').waitFor();
  await page.getByRole('button', { name: 'Keep as version 2' }).click();
  await versionsOf(page).getByText('Version 2').waitFor();
  expect(await editorOf(page).innerText()).toContain('fallbacks: false');

  await page.getByRole('button', { name: 'Activate version 2' }).click();
  await page
    .getByText('The next call is routed by version 2 of agents, instead of the built-in one.')
    .waitFor();
  await page.getByRole('dialog').getByRole('button', { name: 'Activate' }).click();
  await page.getByText('applied on 1 gateway').waitFor();
  expect(faults).toEqual([]);
  await context.close();
});

test('a text differs from the active one by its first choice, and a rollback goes to what was active before', async () => {
  const { page, context, faults } = await openPage(browser, {}, owner);
  // The address that a Kubernetes object shows names no organisation.
  await page.goto(`${stack.console_url}/policies/agents`);
  await page.waitForURL('**/meridian/live/policies/agents');
  await editorOf(page).click();
  await page.keyboard.press('Control+A');
  await page.keyboard.type('defaults: {providers: {order: [beta');
  await tryModel(page);
  await page.getByText('differs from active: beta instead of acme').waitFor();
  const difference = page.getByRole('region', { name: 'Difference' });
  // The row of the call is written a moment after its answer. 1.00 and 2.50 USD a million are its prices.
  await expect
    .poll(async () => {
      await difference.getByRole('button', { name: 'Compare' }).click();
      return difference.getByRole('status').innerText();
    })
    .toMatch(/^1 of 1 call goes elsewhere: \+\$0\.0000\d\d\./);
  await page.getByRole('region', { name: 'Calls that go elsewhere' }).getByText('beta').waitFor();
  await expectAccessible(page, 'a difference');
  await picture(page, 'policy-differs');
  await page.getByRole('button', { name: 'Keep as version 3' }).click();
  await page.getByRole('button', { name: 'Activate version 3' }).click();
  await page.getByText('instead of version 2 of agents.').waitFor();
  await page.getByRole('dialog').getByRole('button', { name: 'Activate' }).click();
  const scopes = page.getByRole('region', { name: 'Where it is active' });
  await scopes.getByText('version 3').waitFor();
  await scopes.getByRole('button', { name: 'Roll back Organisation' }).click();
  await scopes.getByText('version 2').waitFor();
  await page.goto(`${stack.console_url}/meridian/live/policies`);
  const row = page.getByRole('row', { name: /agents/ });
  expect(await row.innerText()).toContain('newest is 3');
  expect(faults).toEqual([]);
  await context.close();
});

test('the pages are accessible and keep to their width, also where a Kubernetes object manages the policy', async () => {
  const ready = async (page: Page) => {
    await editorOf(page).waitFor();
    await page.getByText('applied on 1 gateway').waitFor();
    await tryModel(page);
    await page.getByRole('region', { name: 'What would be tried' }).waitFor();
  };
  await seenInBothThemes('meridian/live/policies', 'policies', (page) =>
    page.getByRole('link', { name: 'agents' }).waitFor(),
  );
  await seenInBothThemes('meridian/live/policies/agents', 'policy', ready);
  await withClient(stack.database_url, (client) =>
    client.query(`update policy set managed_by = 'k8s/uid/team-a/agents' where name = 'agents'`),
  );
  await seenInBothThemes('meridian/live/policies/agents', 'policy-managed', (page) =>
    page.getByText('kubectl edit routingpolicy agents --namespace team-a').waitFor(),
  );
  const { page, context } = await openPage(browser, {}, owner);
  await page.goto(`${stack.console_url}/meridian/live/policies/agents`);
  await editorOf(page).click();
  await page.keyboard.type('nothing');
  expect(await editorOf(page).innerText()).not.toContain('nothing');
  expect(await page.getByRole('button', { name: /Keep|Activate|Roll back|Deactivate|Delete/ }).count()).toBe(
    0,
  );
  await withClient(stack.database_url, (client) => client.query('update policy set managed_by = null'));
  await context.close();
});

test('a policy that is active is not deleted; deactivated it is, with all its versions', async () => {
  const { page, context, faults } = await openPage(browser, {}, owner);
  await page.goto(`${stack.console_url}/meridian/live/policies/agents`);
  await page.getByRole('button', { name: 'Delete' }).click();
  await page.getByText('It is active. Deactivate it everywhere first.').waitFor();
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: /^Deactivate/ }).click();
  await page.getByText('Nowhere: no call is routed by it.').waitFor();
  await page.getByRole('button', { name: 'Delete' }).click();
  await page.getByRole('button', { name: 'Delete the policy' }).click();
  await page.getByText('No policy yet').waitFor();
  await page.goto(`${stack.console_url}/meridian/live/policies/agents`);
  await page.getByText('No policy agents here').waitFor();
  expect(faults).toEqual([]);
  await context.close();
});

test('a canary that fails is rolled back, and whoever looks sees it without asking again', async () => {
  const send = (path: string, body: object) =>
    fetch(`${stack.gateway_url}${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${stack.full.live_key}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
  const dry = await send('/v1/policies/trial/dry-run', { model: MODEL, yaml: 'sort: price' });
  const { plan } = (await dry.json()) as { plan: readonly { endpoint_id: string; provider: string }[] };
  const down = plan.find(({ provider }) => provider === 'acme')?.endpoint_id;
  const yaml = `defaults: {canary: {endpoint: ${down}, percent: 15}}`;
  expect((await send('/v1/policies', { name: 'trial', yaml })).status).toBe(201);
  expect((await send('/v1/policies/trial/activate', { version: 1 })).status).toBe(200);

  const { page, context, faults } = await openPage(browser, {}, owner);
  await page.goto(`${stack.console_url}/meridian/live/policies/trial`);
  const card = page.getByRole('list', { name: 'Canaries' });
  await card.getByText('pending').waitFor();
  await card.getByText('15% of the calls').waitFor();
  // As the writer of rows sums calls up.
  await withClient(stack.database_url, (client) =>
    client.query('insert into canary_sample values ($1, $2, 1, $3, 30, 12, 170, 0)', [
      ...[stack.full.org_id, 'trial', down],
    ]),
  );
  await card.getByText('rolled back').waitFor();
  await card.getByText('12 of 30 calls failed at the canary, 0 of 170 elsewhere').waitFor();
  await card.getByText('0% of the calls').waitFor();
  expect(faults).toEqual([]);
  await context.close();
  await seenInBothThemes('meridian/live/policies/trial', 'policy-canary', (page) =>
    page.getByRole('list', { name: 'Canaries' }).getByText('rolled back').waitFor(),
  );
});

test('the arms of an experiment stand side by side, and whoever looks sees whether they differ', async () => {
  const send = (path: string, body: object) =>
    fetch(`${stack.gateway_url}${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${stack.full.live_key}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
  const arms = `[{name: control, percent: 50}, {name: candidate, percent: 50, model: '${MODEL}'}]`;
  const yaml = `defaults: {experiment: {name: cheaper, arms: ${arms}}}`;
  expect((await send('/v1/policies', { name: 'arms', yaml })).status).toBe(201);
  expect((await send('/v1/policies/arms/activate', { version: 1 })).status).toBe(200);

  const { page, context, faults } = await openPage(browser, {}, owner);
  await page.goto(`${stack.console_url}/meridian/live/policies/arms`);
  const card = page.getByRole('list', { name: 'Experiments' });
  await card.getByText('0 of 200 calls of either arm').waitFor();
  // As the writer of rows leaves calls: a tenth of the candidate's fail, and they cost less.
  await withClient(stack.database_url, (client) =>
    client.query(
      `insert into experiment_sample
       select $1, 'live', 'arms', 1, 'cheaper', case when i < 5000 then 'control' else 'candidate' end, i,
              date_trunc('hour', now()), 200, i >= 5000 and i % 10 = 0, case when i < 5000 then 1000 else 400 end, 10
         from generate_series(0, 9999) as i`,
      [stack.full.org_id],
    ),
  );
  await card.getByText('worse', { exact: true }).waitFor();
  await card.getByText('candidate: +10%', { exact: false }).waitFor();
  await page.getByLabel('Compare').selectOption('Cost of a call');
  await card.getByText('better', { exact: true }).waitFor();
  await card.getByText('candidate: −$0.000600', { exact: false }).waitFor();
  expect(faults).toEqual([]);
  await context.close();
  await seenInBothThemes('meridian/live/policies/arms', 'policy-experiment', (page) =>
    page.getByRole('list', { name: 'Experiments' }).getByText('worse', { exact: true }).waitFor(),
  );
});

test('what copies for a shadow cost stands beside the calls, and whoever looks sees it grow', async () => {
  const send = (path: string, body: object) =>
    fetch(`${stack.gateway_url}${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${stack.full.live_key}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
  const dry = await send('/v1/policies/x/dry-run', { model: MODEL, yaml: 'sort: price' });
  const { plan } = (await dry.json()) as { plan: { endpoint_id: string }[] };
  const endpoint = plan[0]?.endpoint_id;
  const yaml = `defaults: {shadow: {endpoint: ${endpoint}, percent: 2.5, max_per_day: 500}}`;
  expect((await send('/v1/policies', { name: 'copies', yaml })).status).toBe(201);
  expect((await send('/v1/policies/copies/activate', { version: 1 })).status).toBe(200);

  const { page, context, faults } = await openPage(browser, {}, owner);
  await page.goto(`${stack.console_url}/meridian/live/policies/copies`);
  const card = page.getByRole('list', { name: 'Shadows' });
  await card.getByText('2.5% of the calls, at most 500 a day').waitFor();
  await card.getByText('no copy yet').waitFor();
  // As the writer of rows leaves copies: each costs half of its call, and a tenth ends for another reason.
  await withClient(stack.database_url, (client) =>
    client.query(
      `insert into shadow_sample
       select $1, 'live', 'copies', 1, $2, 'ep_other', 'org', date_trunc('hour', now()), false, i % 10 = 0, 1000, 500, 400, 300
         from generate_series(1, 100) as i`,
      [stack.full.org_id, endpoint],
    ),
  );
  await card.getByText('cost −50%', { exact: false }).waitFor();
  await card.getByText('first token 300 ms instead of 400 ms').waitFor();
  await card.getByText('10 of 100 copies ended for another reason; 0 failed').waitFor();
  expect(faults).toEqual([]);
  await context.close();
  await seenInBothThemes('meridian/live/policies/copies', 'policy-shadow', (page) =>
    page.getByRole('list', { name: 'Shadows' }).getByText('cost −50%', { exact: false }).waitFor(),
  );
});

test('a call and the copy that a shadow got of it name each other, and lead to each other', async () => {
  const { live_key, sandbox_key } = stack.full;
  const ask = (path: string, key: string, body?: object) =>
    fetch(`${stack.gateway_url}${path}`, {
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }),
    });
  const dry = await ask('/v1/policies/x/dry-run', sandbox_key, { model: MODEL, yaml: 'sort: price' });
  const { plan } = (await dry.json()) as { plan: { endpoint_id: string }[] };
  const yaml = `defaults: {shadow: {endpoint: ${plan[1]?.endpoint_id}, percent: 100}}`;
  expect((await ask('/v1/policies', live_key, { name: 'all-copied', yaml })).status).toBe(201);
  expect((await ask('/v1/policies/all-copied/activate', live_key, { version: 1 })).status).toBe(200);
  // Calls are copied as soon as the gateway has heard of the policy, and a copy is seen when its row is written.
  const copies = new Map<string, string>();
  const anyCopy = async () => {
    const messages = [{ role: 'user', content: 'Hi' }];
    const call = await ask('/v1/chat/completions', sandbox_key, { model: MODEL, messages });
    expect(call.status).toBe(200);
    copies.set(call.headers.get('x-request-id') ?? '', '');
    for (const id of copies.keys()) {
      const row = await ask(`/v1/requests/${id}`, sandbox_key);
      const { shadows } = row.ok ? ((await row.json()) as { shadows: string[] }) : { shadows: [] };
      if (shadows[0] !== undefined) return copies.set(id, shadows[0]);
    }
    return null;
  };
  await expect.poll(anyCopy, { timeout: 30_000, interval: 300 }).not.toBeNull();
  const [id, copy] = [...copies].find(([, of]) => of !== '') as [string, string];

  const { page, context, faults } = await openPage(browser, {}, owner);
  await page.goto(`${stack.console_url}/meridian/sandbox/requests/${id}`);
  await page.getByText('had this call copied to another endpoint').waitFor();
  await page.getByRole('link', { name: copy }).focus();
  await page.keyboard.press('Enter');
  await page.waitForURL(`**/requests/${copy}`);
  await page.getByText('This is a copy of the call').waitFor();
  await page.getByRole('link', { name: id }).click();
  await page.waitForURL(`**/requests/${id}`);
  await page.getByText('had this call copied to another endpoint').waitFor();
  expect(faults).toEqual([]);
  await context.close();
  await seenInBothThemes(`meridian/sandbox/requests/${id}`, 'request-copied', (page) =>
    page.getByRole('link', { name: copy }).waitFor(),
  );
  await seenInBothThemes(`meridian/sandbox/requests/${copy}`, 'request-copy', (page) =>
    page.getByRole('link', { name: id }).waitFor(),
  );
});
