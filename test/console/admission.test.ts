// Sign-up by invitation in a real browser: staff make a code, a person comes in with it, and another one waits.
import { expect, test, vi } from 'vitest';
import { withClient } from '../support/books.ts';
import { launchChromium } from '../support/chromium.ts';
import { expectAccessible, expectNoSidewaysScroll, fillSignIn, openPage, picture } from './browser.ts';
import { startStack } from './stack.ts';
import { makeMember, memberState } from './staff/member.ts';

vi.setConfig({ testTimeout: 90_000 });

const stack = await startStack({ SVC_SIGNUP: 'invite' });
const browser = await launchChromium();
const TOKEN = `svc-ver-${'B'.repeat(43)}`;
const person = { email: 'ravi@new.example', password: 'seven quiet rivers' };

test('who has an invite code makes an account and an organization; who has none waits until staff invite', async () => {
  const desk = await makeMember(stack, 'desk@svc.example', ['support']);
  const staff = await openPage(
    browser,
    { width: 360, scheme: 'dark' },
    await memberState(browser, stack, desk),
  );
  await staff.page.goto(`${stack.staff_url}/access`);
  await staff.page.getByText('No code yet').waitFor();
  await staff.page.getByRole('button', { name: 'Make a code…' }).click();
  const making = staff.page.getByRole('dialog');
  await making.getByRole('button', { name: 'Make the code' }).click();
  await making.getByText('Say whom or what it is for.').waitFor();
  await making.getByLabel('For', { exact: true }).fill('conference in Pune');
  await making.getByRole('button', { name: 'Make the code' }).click();
  const code = (await making.getByText(/^INV-/).textContent()) ?? '';
  await picture(staff.page, 'admission-code');
  await expectAccessible(staff.page, 'code');
  await making.getByRole('button', { name: 'I have it, close' }).click();
  await staff.page.getByText('conference in Pune').waitFor();

  const guest = await openPage(browser, { width: 360, scheme: 'light' });
  await guest.page.goto(`${stack.console_url}/sign-in`);
  await guest.page.getByRole('link', { name: 'I have an invite code' }).click();
  await guest.page.getByLabel('Your name').fill('Ravi');
  await guest.page.getByLabel('E-mail').fill(person.email);
  await guest.page.getByLabel('Password', { exact: true }).fill(person.password);
  await guest.page.getByLabel(/I accept the terms/).check();
  await guest.page.getByLabel('Invite code').fill('INV-0000-0000-0000-0000');
  await guest.page.getByRole('button', { name: 'Make the account' }).click();
  await guest.page.getByText('There is no such invite code.').waitFor();
  await picture(guest.page, 'admission-register');
  await expectAccessible(guest.page, 'register');
  await expectNoSidewaysScroll(guest.page, 'register');
  await guest.page.getByLabel('Invite code').fill(code.toLowerCase());
  await guest.page.getByRole('button', { name: 'Make the account' }).click();
  await guest.page.getByText(`A mail is on its way to ${person.email}.`).waitFor();
  const sql = (text: string, values: unknown[]) =>
    withClient(stack.database_url, (client) => client.query(text, values));
  await sql(`update registration set hash = sha256(convert_to($1, 'UTF8'))`, [TOKEN]);
  await guest.page.goto(`${stack.console_url}/verify-email#${TOKEN}`);
  await guest.page.getByLabel('Password').fill(person.password);
  await guest.page.getByRole('button', { name: 'Confirm the address' }).click();
  await guest.page.getByRole('link', { name: 'Sign in' }).click();
  await fillSignIn(guest.page, person);
  // The code of the account counts; it is not asked for again.
  await guest.page.getByRole('button', { name: 'Make an organisation' }).waitFor();

  await sql('update person set invite_code_id = null where email = $1', [person.email]);
  await guest.page.reload();
  await guest.page.getByRole('button', { name: 'I have an invite code' }).waitFor();
  await picture(guest.page, 'admission-uninvited');
  await guest.page.getByRole('button', { name: 'Join the waitlist' }).click();
  const waiting = guest.page.getByRole('dialog');
  await waiting.getByLabel('Company').fill('Rivers');
  await waiting.getByLabel('What for').fill('Answers in nine languages.');
  await picture(guest.page, 'admission-waitlist');
  await expectAccessible(guest.page, 'waitlist');
  await waiting.getByRole('button', { name: 'Join the waitlist' }).click();
  await guest.page.getByText('You are on the waitlist').waitFor();
  await expectNoSidewaysScroll(guest.page, 'waitlist');

  await staff.page.reload();
  await staff.page.getByRole('heading', { name: 'Ravi, Rivers' }).waitFor();
  await picture(staff.page, 'admission-staff');
  await expectAccessible(staff.page, 'staff access');
  await expectNoSidewaysScroll(staff.page, 'staff access');
  await staff.page.getByRole('button', { name: `Invite ${person.email}` }).click();
  await staff.page.getByRole('dialog').getByLabel('Reason').fill('next fifty');
  await staff.page.getByRole('dialog').getByRole('button', { name: 'Invite' }).click();
  await staff.page.getByText('Nobody waits').waitFor();
  await staff.page.getByRole('button', { name: /^Revoke/ }).click();
  await staff.page.getByRole('dialog').getByLabel('Reason').fill('posted in public');
  await staff.page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click();
  await staff.page.getByText('revoked', { exact: true }).waitFor();

  await guest.page.reload();
  await guest.page.getByRole('button', { name: 'Make an organisation' }).click();
  const form = guest.page.getByRole('dialog');
  await form.getByLabel('Name', { exact: true }).fill('Quiet Rivers');
  expect(await form.getByLabel('Short name').inputValue()).toBe('quiet-rivers');
  await form.getByLabel('Billing country').fill('IN');
  await form.getByRole('button', { name: 'Make the organisation' }).click();
  await guest.page.waitForURL(/\/quiet-rivers\/live\/home/);
  expect([...staff.faults, ...guest.faults]).toEqual([expect.stringContaining('403 (Forbidden)')]);
});
