// Members of staff, browsers in which one has signed in, and matters that wait for them.

import { createPool } from '@svc/core/db/index.ts';
import { createStaff } from '@svc/core/identity/index.ts';
import { DEMO_SUPPLIER, taxTerms } from '@svc/core/invoices/index.ts';
import {
  type Context,
  type Id,
  loadRootKey,
  newId,
  newRequestId,
  type Services,
  type StaffRole,
  silentLog,
} from '@svc/core/kernel/index.ts';
import { listKeys } from '@svc/core/keys/index.ts';
import { sendMail } from '@svc/core/mail/index.ts';
import { createContext } from '@svc/core/operations/index.ts';
import { type Billing, findBilling, findOrg, type Org } from '@svc/core/orgs/index.ts';
import { putOnPlan } from '@svc/core/plans/index.ts';
import { makeBatch } from '@svc/core/redeem/index.ts';
import { requestLimits } from '@svc/core/support/limit-request.ts';
import { closeDispute, insertDispute, noteLoss, putStaffItem } from '@svc/core/topups/index.ts';
import { insertTopup, moveTopup } from '@svc/core/topups/store.ts';
import { claimLook, noteStepFailure, replaceOpen, startWorkflow } from '@svc/core/workflow-starts/index.ts';
import { Secret, TOTP } from 'otpauth';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { makeTopup } from '../../registry/topup-rows.ts';
import { staffContext } from '../../support/provision.ts';
import { fillSignIn, openPage } from '../browser.ts';
import type { Person, Stack } from '../stack.ts';

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

/** A top-up of 25 dollars for which 26 were paid, in review and without a document. */
async function writeOverpaid(context: Context, org: Org): Promise<void> {
  const id = newId('topup');
  const at = context.now();
  const price = { currency: 'USD', amount_minor: 2_500, fx_rate: '1.00000000', credits_micro: 25_000_000 };
  const billing = (await findBilling(context.db, org.id)) as Billing;
  await insertTopup(context.db, {
    ...{ ...price, id, org_id: org.id, book_id: org.live_book_id, gateway: 'rail-b' },
    ...{ tax_minor: 0, total_minor: 2_500, fx_day: '2026-11-20', source: 'checkout', created_at: at },
    tax: taxTerms({
      ...{ supplier: DEMO_SUPPLIER, billing, amount_minor: 2_500, gst_rate_bps: 1_800 },
      inr_rate: '88.70000000',
    }),
    ...{ mandate_id: null, attempt_no: null },
    expires_at: new Date(at.getTime() + 3_600_000),
  });
  await moveTopup(context.db, { id, status: 'review', payment_ref: 'pi_over', at });
  const paid = { payment_ref: 'pi_over', paid_minor: 2_600, paid_currency: 'USD', method: 'card' };
  await putStaffItem(context.db, { kind: 'amount_mismatch', subject: id, details: paid, at });
}

/** A dispute that is open, and one that was lost after ten dollars of its credits were spent. */
async function writeDisputes(context: Context, org: Org, topup_id: Id<'topup'>): Promise<void> {
  const at = context.now();
  const about = {
    ...{
      org_id: org.id,
      topup_id,
      book_id: org.live_book_id,
      gateway: 'rail-b' as const,
      payment_ref: 'pi_disputed',
    },
    ...{ phase: 'chargeback', currency: 'USD', cgst_minor: 0, sgst_minor: 0, igst_minor: 0, excess_minor: 0 },
    ...{ respond_by: new Date(at.getTime() + 6 * 86_400_000), opened_at: at },
  } as const;
  const open = { amount_minor: 2_000, price_minor: 2_000, credits_micro: 20_000_000 };
  const lost = { amount_minor: 2_500, price_minor: 2_500, credits_micro: 25_000_000 };
  const ids = [newId('dispute'), newId('dispute')] as const;
  const refs = { id: ids[0], gateway_ref: 'dp_open', reason: 'goods_not_received' };
  await insertDispute(context.db, { ...about, ...open, ...refs });
  const ended = { ...about, ...lost, id: ids[1], gateway_ref: 'dp_lost', reason: 'fraudulent' };
  await insertDispute(context.db, ended);
  await closeDispute(context.db, { ...ended, status: 'lost', at });
  await noteLoss(context.db, { id: ids[1], written_off_micro: 10_000_000, at });
}

/** A request of `org` for more than its plan has. */
async function writeLimitRequest(context: Context, pool: Parameters<typeof staffContext>[0], org: Org) {
  await putOnPlan(context, org.id, {
    plan_id: 'payg',
    applies: 'now',
    free_months: 0,
    reason: 'by agreement',
  });
  const [key] = await listKeys(context.db, {
    ...{ org_id: org.id, environment: 'live', project_id: null, status: 'active', now: context.now() },
    ...{ after: null, limit: 1 },
  });
  if (key === undefined) throw new Error(`${org.slug} has no key`);
  const asking = createContext({
    ...{ request_id: newRequestId(), pool, log: silentLog, services: {} as Services },
    caller: {
      ...{ kind: 'key', org_id: org.id, project_id: key.project_id, key_id: key.id as Id<'key'> },
      ...{ environment: 'live', scopes: ['manage:keys'], expires_at: null },
    },
  });
  await asking.transaction((context) =>
    requestLimits(context, {
      key_id: key.id,
      requested: { rpm: 900, tpm: null, concurrency: 60 },
      reason: 'The sale begins on Friday, with ten times the calls.',
    }),
  );
}

/** Workflows as a worker saw them: one whose step fails, one that waits for a time, and one that nobody has started yet. */
export async function writeWorkflows({ db, now }: Context): Promise<void> {
  const at = now();
  const ago = (minutes: number) => new Date(at.getTime() - minutes * 60_000);
  await claimLook(db, { at, before: ago(1) });
  const workflows = [
    { workflow_id: 'refund-rfd_01KACZ3V8S6T5R4Q3P2N1M0K9J', type: 'refund', started_at: ago(90) },
    { workflow_id: 'topup-tup_01KACZ3V8S6T5R4Q3P2N1M0K9J', type: 'topUp', started_at: ago(5) },
  ];
  await replaceOpen(db, { workflows, complete: true, at });
  await noteStepFailure(db, {
    ...{ workflow_id: 'refund-rfd_01KACZ3V8S6T5R4Q3P2N1M0K9J', step: 'askRail', attempt: 7 },
    ...{ failure: 'RailUnavailable: 503', at },
  });
  await startWorkflow(db, { workflow_id: 'erasure-dsr_1', type: 'erasure', args: {}, at });
}

/** Two payments of `full` in review, two disputes, one that came twice, a day on which ledger and calls differ, a mail, codes. */
export async function writeMatters(stack: Stack): Promise<void> {
  const pool = createPool(stack.database_url, { max: 1, application: 'svc-test' });
  try {
    const context = staffContext(pool);
    const org = (await findOrg(pool, stack.full.org_id)) as Org;
    const { topup_id } = await makeTopup(context, { org } as never);
    const at = context.now();
    await moveTopup(pool, { id: topup_id, status: 'review', payment_ref: 'pi_review', at });
    const expected = { expected_minor: 2_500, expected_currency: 'USD' };
    const paid = {
      payment_ref: 'pi_review',
      paid_minor: 2_400,
      paid_currency: 'USD',
      method: null,
      ...expected,
    };
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
    await writeOverpaid(context, org);
    await writeDisputes(context, org, topup_id);
    await writeLimitRequest(context, pool, org);
    await writeWorkflows(context);
    const shown = { org: org.name, slug: org.slug, available: '$3.10', threshold: '$5.00' };
    await sendMail(context, {
      ...{ template: 'low_balance', to: [stack.owner.email], org_id: org.id, reference: 'evt_low' },
      data: shown,
    });
    await makeBatch(context, loadRootKey(`${stack.data_dir}/keyring.json`), {
      ...{ name: 'devcon-2026', amount_micro_usd: 5_000_000, codes: 500, credit_days: 90, country: 'IN' },
      ...{ valid_until: new Date(at.getTime() + 30 * 86_400_000), new_org_only: true },
    });
  } finally {
    await pool.end();
  }
}
