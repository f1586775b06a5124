// Members of staff, and browsers in which one has signed in.
import { createPool } from '@svc/core/db/index.ts';
import { createStaff } from '@svc/core/identity/index.ts';
import { loadRootKey, type StaffRole } from '@svc/core/kernel/index.ts';
import { Secret, TOTP } from 'otpauth';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { staffContext } from '../support/provision.ts';
import { fillSignIn, openPage } from './browser.ts';
import type { Person, Stack } from './stack.ts';

export interface Member extends Person {
  /** A code that was not used before. */
  code(): string;
}

const STEP_MS = 30_000;

/** Makes a member of staff with `roles`, as `svcctl staff create` does. */
export async function makeMember(stack: Stack, email: string, roles: readonly StaffRole[]): Promise<Member> {
  const pool = createPool(stack.database_url, { max: 1, application: 'svc-test' });
  try {
    const root_key = loadRootKey(`${stack.data_dir}/keyring.json`);
    const made = await createStaff(staffContext(pool), root_key, { email, roles });
    const totp = new TOTP({ secret: Secret.fromBase32(made.totp_secret) });
    let ahead = 0;
    return {
      email,
      password: made.password,
      // A code works once; the one of the next step is taken early.
      code: () => totp.generate({ timestamp: Date.now() + STEP_MS * ahead++ }),
    };
  } finally {
    await pool.end();
  }
}

/** Answers the second step of a sign-in. */
export async function fillCode(page: Page, code: string): Promise<void> {
  await page.getByLabel('Code').fill(code);
  await page.getByRole('button', { name: 'Continue' }).click();
}

/** The state of a browser in which `member` has signed in. */
export async function memberState(
  browser: Browser,
  stack: Stack,
  member: Member,
): Promise<Awaited<ReturnType<BrowserContext['storageState']>>> {
  const { page, context } = await openPage(browser);
  await page.goto(`${stack.staff_url}/sign-in`);
  await fillSignIn(page, member);
  await fillCode(page, member.code());
  await page.getByRole('navigation', { name: 'Main' }).waitFor();
  const state = await context.storageState();
  await context.close();
  return state;
}
