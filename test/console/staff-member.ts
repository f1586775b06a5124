// Members of staff, browsers in which one has signed in, and matters that wait for them.
import { createPool } from '@svc/core/db/index.ts';
import { createStaff } from '@svc/core/identity/index.ts';
import { loadRootKey, type StaffRole } from '@svc/core/kernel/index.ts';
import { findOrg, type Org } from '@svc/core/orgs/index.ts';
import { putStaffItem } from '@svc/core/topups/index.ts';
import { moveTopup } from '@svc/core/topups/store.ts';
import { Secret, TOTP } from 'otpauth';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { makeTopup } from '../registry/topup-rows.ts';
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

/** A payment of `full` in review, one that came twice, and a day on which ledger and calls differ. */
export async function writeMatters(stack: Stack): Promise<void> {
  const pool = createPool(stack.database_url, { max: 1, application: 'svc-test' });
  try {
    const context = staffContext(pool);
    const org = (await findOrg(pool, stack.full.org_id)) as Org;
    const { topup_id } = await makeTopup(context, { org } as never);
    const at = context.now();
    await moveTopup(pool, { id: topup_id, status: 'review', payment_ref: 'pi_review', at });
    const paid = { paid_minor: 2_400, paid_currency: 'USD', expected_minor: 2_500, expected_currency: 'USD' };
    const day = { org_id: org.id, slug: org.slug, day: '2026-11-20', variance_micro: 12 };
    await putStaffItem(pool, { kind: 'amount_mismatch', subject: topup_id, details: paid, at });
    await putStaffItem(pool, {
      kind: 'second_payment',
      subject: 'rail-b pi_2',
      details: { org_id: org.id },
      at,
    });
    await putStaffItem(pool, {
      kind: 'reconciliation_variance',
      subject: `${org.id} 2026-11-20`,
      details: day,
      at,
    });
  } finally {
    await pool.end();
  }
}
